// Aligned sentence pairs to train a joint model with, and the words that the model knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "neural/joint_model.h"
#include "neural/parse_context.h"
#include "syntax/alignment.h"

namespace treeglot {

// With `lexical`, the corpus of a lexical translation model. The "target words" of a pair are then the translations of
// its source words. Each is affiliated with its source word. The text of a missing translation is empty.
//
// With `heads`, the corpus of a model over heads: a pair has the dependency tree of its target words.
class JointCorpus : public Exclusive {
 public:
  explicit JointCorpus(bool lexical = false, bool heads = false) : lexical_(lexical), heads_(heads) {}

  // Adds a pair. One with an empty side is counted and left out. So is one without the tree that a model over heads
  // needs. A context without words is that of a failed parse.
  // Throws std::invalid_argument for links outside of the pair, for parses of other lengths, and for a second kind of
  // parses.
  void add(std::span<const std::string_view> source, std::span<const std::string_view> target, const Alignment& links,
           const ParseContext& parse = {}, const Dependency* tree = nullptr);

  std::size_t pairs() const { return source_begin_.size() - 1; }
  std::size_t empty() const { return empty_; }        // pairs left out
  std::size_t unlinked() const { return unlinked_; }  // pairs without links
  bool lexical() const { return lexical_; }
  std::size_t treeless() const { return treeless_; }  // pairs without a tree, left out
  bool heads() const { return heads_; }
  bool ends() const { return !lexical_ && !heads_; }  // whether the ends of sentences are predicted
  std::size_t examples() const { return target_.size() + (ends() ? pairs() : 0); }
  const Symbols& source_words() const { return source_words_; }
  const Symbols& target_words() const { return target_words_; }
  std::span<const Symbol> source(std::size_t pair) const { return slice(source_, source_begin_, pair); }
  std::span<const Symbol> target(std::size_t pair) const { return slice(target_, target_begin_, pair); }
  // The affiliated source word of each target word. It is the number of source words + 1 for a word without one.
  std::span<const std::uint32_t> affiliated(std::size_t pair) const { return slice(affiliated_, target_begin_, pair); }
  // What the parse says of each source word, kParseInputs symbols of source_words(); kNone for empty texts. Nothing if
  // no pair has a parse.
  std::span<const Symbol> parse(std::size_t pair) const {
    if (parse_kind_ == ParseKind::none) return {};
    return std::span(parse_).subspan(source_begin_[pair] * kParseInputs, source(pair).size() * kParseInputs);
  }
  ParseKind parse_kind() const { return parse_kind_; }
  // Of a model over heads: for each target word, what head_context() takes of it. Symbols of target_words(), or kNone;
  // the side is 0 or 1.
  std::span<const Symbol> arcs(std::size_t pair) const {
    return std::span(arcs_).subspan(target_begin_[pair] * kHeadContext, target(pair).size() * kHeadContext);
  }
  std::uint64_t checksum() const;  // of all that is learnt from

 private:
  static std::span<const std::uint32_t> slice(const std::vector<std::uint32_t>& values,
                                              const std::vector<std::uint64_t>& begin, std::size_t pair) {
    return std::span(values).subspan(begin[pair], begin[pair + 1] - begin[pair]);
  }

  void append_parse(const ParseContext& parse);
  void append_arcs(const Dependency& tree);

  bool lexical_, heads_;
  ParseKind parse_kind_ = ParseKind::none;
  Symbols source_words_, target_words_;  // source words, and the labels of parses
  std::vector<Symbol> source_, target_, parse_, arcs_;
  std::vector<std::uint32_t> affiliated_;
  std::vector<std::uint64_t> source_begin_ = {0}, target_begin_ = {0};
  std::size_t empty_ = 0, unlinked_ = 0, treeless_ = 0;
};

// The translation of each source word: the target words that are linked with it, in their order, with blanks between.
std::vector<std::string> translations(std::size_t source_words, std::span<const std::string_view> target,
                                      std::span<const Link> links);

// The words of one side: special words, fallbacks, words, the more frequent first.
struct JointWords {
  Strings texts;
  std::uint32_t fallbacks = 0;
  std::vector<float> share;            // log of the part that a word has in its fallback; 0 for words
  std::vector<std::uint32_t> numbers;  // of the corpus's symbols
  std::vector<std::uint64_t> counts;   // of the numbers in the corpus
};

// Words that occur less than `least` times have fallbacks; a fallback stands for at least `least_fallback` tokens. All
// labels of parses are among the source words.
JointWords choose_words(const JointCorpus& corpus, bool target, std::uint64_t least, std::uint64_t least_fallback);

// The examples of a corpus: what each target word, and the end of each sentence, is predicted from. Corpora of lexical
// models and of heads have no ends.
struct JointExamples {
  // The inputs of an example: source words of the window, symbols of the parse, then the history, newest first.
  std::size_t width = 0;
  std::vector<std::uint32_t> contexts;  // [examples][width]
  std::vector<std::uint32_t> words;     // [examples]
  std::vector<std::uint32_t> pairs;     // [examples]
  std::vector<std::uint32_t> sources;   // the source words of all pairs; empty if no mean of them is seen
  std::vector<std::uint64_t> begins;    // where those of each pair begin, and the end

  std::span<const std::uint32_t> source(std::size_t example) const {
    const std::size_t begin = begins[pairs[example]];
    return std::span(sources).subspan(begin, begins[pairs[example] + 1] - begin);
  }
  std::size_t size() const { return words.size(); }
};
JointExamples make_examples(const JointCorpus& corpus, const JointFacts& facts,
                            std::span<const std::uint32_t> source_numbers,
                            std::span<const std::uint32_t> target_numbers);

}  // namespace treeglot
