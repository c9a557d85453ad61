// A neural joint model (Devlin et al. 2014): the probability of a target word. Given are the words before it and a
// window of source words around its affiliated source word. This is its file and its scores. All scores are natural
// logs.
//
// With one hidden layer, the network computes
//
//   hidden = tanh(sum over window and parse of E_s[source] W_k + mean of E_s[source] W +
//                 sum over history of table_k[word] + bias)
//
//   log p = output[word] . hidden + output_bias[word] + share[word]
//
// Training makes the output self-normalised: the scores of all words need no sum. The source part is the same for all
// target words with one affiliated word: prepare() computes it once per source position. The target part is a sum of
// table rows, in which embeddings and weights are multiplied already.
//
// A model over heads has another history: the head of a word, its side and siblings. It predicts the words of a
// dependency tree, and no ends of sentences.
//
// A model without history is a lexical translation model: the probability of a source word's translation, given the
// source words around it. The translation is the text of all target words that are linked with the source word, with
// blanks between them, or <none>. Each source word has one, so it is its own affiliated word.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sections.h"
#include "base/strings.h"
#include "lm/vocabulary.h"
#include "neural/parse_context.h"
#include "neural/vector_math.h"

namespace treeglot {

constexpr std::uint32_t kHeadContext = 4;  // the history of a model over heads

// The section "model" of the file.
struct JointFacts {
  std::uint32_t history = 3;            // target words before the predicted one; 0: a lexical translation model
  std::uint32_t before = 5, after = 5;  // source words before and after the affiliated one
  std::uint16_t has_source = 1;         // 0: no source words at all, a plain language model
  std::uint16_t heads = 0;              // 1: the history is the head and siblings of a word (head_context.h)
  std::uint32_t embedding = 0;          // of source words: a multiple of 16
  std::uint32_t hidden = 0;             // units of the first hidden layer: a multiple of 16
  std::uint32_t second = 0;             // units of the second hidden layer: a multiple of 16; 0: there is none
  std::uint32_t source_fallbacks = 0, target_fallbacks = 0;
  std::uint16_t sentence = 0;  // 1: the mean of all source words is an input
  std::uint16_t parse = 0;     // what is seen of the affiliated word's parse: the number of a ParseKind

  bool lexical() const { return history == 0; }
  bool ends() const { return history != 0 && heads == 0; }  // whether the end of a sentence is predicted
  ParseKind parse_kind() const { return static_cast<ParseKind>(parse); }
  std::uint32_t window() const { return has_source != 0 ? before + 1 + after : 0; }
  // The number of inputs for an affiliated word: the words around it, then the symbols of the parse.
  std::uint32_t affiliated() const { return window() + (parse != 0 ? kParseInputs : 0); }
  std::uint32_t sources() const { return affiliated() + sentence; }     // all inputs from the source
  std::uint32_t last() const { return second != 0 ? second : hidden; }  // units that the output sees
  friend bool operator==(const JointFacts&, const JointFacts&) = default;
};

// The words of one side. First the special words, then fallbacks, then words. A missing word has the number of a
// fallback. The fallbacks are tried in order: "<#>" for words with an ASCII digit, "<*ing>" for the longest known
// ending of one to three characters, and <unk>.
class JointVocabulary {
 public:
  static constexpr std::uint32_t kUnknown = 0, kBegin = 1, kEnd = 2, kNone = 3, kSpecial = 4;
  static constexpr std::string_view kSpecialWords[] = {"<unk>", "<s>", "</s>", "<none>"};
  static constexpr std::string_view kDigits = "<#>";
  static constexpr std::size_t kLongestEnding = 3;

  JointVocabulary() = default;
  JointVocabulary(const Sections& sections, const std::string& name, std::uint32_t fallbacks);

  std::uint32_t find(std::string_view word) const;  // of any text: never a special word other than <unk>
  std::uint32_t find_translation(std::string_view text) const { return text.empty() ? kNone : find(text); }
  std::uint32_t find_context(std::string_view text) const;  // of a ParseContext, or a word
  std::string_view word(std::uint32_t id) const { return words_.word(id); }
  std::size_t size() const { return words_.size(); }
  std::uint32_t first_word() const { return first_word_; }  // all numbers before it are special words and fallbacks

 private:
  Vocabulary words_;
  std::uint32_t first_word_ = 0;
};

// The fallbacks of a word, best first, without <unk>.
std::vector<std::string> joint_fallbacks(std::string_view word);

// What a model is made of. Arrays are row-major; sizes are by the facts and the numbers of words.
struct JointParts {
  JointFacts facts;
  Strings source_words, target_words;        // with special words and fallbacks
  std::span<const float> source_embeddings;  // [source words][embedding]
  std::span<const float> source_weights;     // [sources()][embedding][hidden]; that of the mean last
  std::span<const float> tables;             // [history][target words][hidden]; the newest word's table first
  std::span<const float> bias;               // [hidden]
  std::span<const float> second_weights;     // [second][hidden]
  std::span<const float> second_bias;        // [second]
  std::span<const float> output;             // [target words][last()]
  std::span<const float> output_bias;        // [target words]
  std::span<const float> share;              // [target words]: log of a word's part in its fallback; 0 for words
};

class JointModel {
 public:
  static constexpr std::string_view kKind = "neural-joint";
  static constexpr std::uint32_t kVersion = 2;

  explicit JointModel(Sections sections);        // refuses, with FormatError, sections that do not fit together
  explicit JointModel(const JointParts& parts);  // throws std::invalid_argument for parts that do not fit together
  static JointModel open(const std::string& path, Opening how = Opening::verified);
  void verify() const {  // all of its file now, if it is not
    if (verification_ != nullptr) verification_->complete();
  }
  void used() const {  // by one more sentence; throws what a thread found to be wrong
    if (verification_ == nullptr) return;
    (void)verification_->sound();
    verification_->used();
  }
  void write(const std::string& path) const { sections_->write(path); }

  const JointFacts& facts() const { return *facts_; }
  const JointVocabulary& source() const { return source_; }
  const JointVocabulary& target() const { return target_; }
  std::uint64_t bytes() const { return sections_->size(); }
  std::span<const float> values(std::string_view section) const { return sections_->array<float>(section); }

  // What the source contributes to the hidden layer, bias included, a row per position. The rows of the words come
  // first. Then end_row() is for what is affiliated with the sentence's end, and none_row() for what is affiliated with
  // nothing.
  class Rows {
   public:
    std::size_t words() const { return words_; }
    std::size_t end_row() const { return words_; }
    std::size_t none_row() const { return words_ + 1; }
    const float* operator[](std::size_t row) const { return values_.data() + row * hidden_; }
    std::span<const float> values() const { return values_; }

   private:
    friend class JointModel;
    std::size_t words_ = 0, hidden_ = 0;
    std::vector<float> values_;
  };
  // `parse` has kParseInputs numbers for each word. It may be empty: then nothing is known of the parse.
  Rows prepare(std::span<const std::uint32_t> source, std::span<const std::uint32_t> parse = {}) const;
  std::vector<std::uint32_t> numbers(const ParseContext& context) const;

  // Computes the last hidden layer, last() floats. `history` has facts().history numbers of target words, the newest
  // first; before the first word of the sentence they are JointVocabulary::kBegin. Nothing is checked here.
  void hidden(const float* row, const std::uint32_t* history, float* out) const;
  // The log probability of a word, or of kEnd, given the result of hidden().
  float score(const float* hidden, std::uint32_t word) const;
  void prefetch(std::uint32_t word) const;  // to be called some time before score()
  // The log of the sum over all words of what score() would be without `share`: 0 for a perfectly normalised model.
  double log_sum(const float* hidden) const;

 private:
  // The number of a row's k-th input: a word of the window, or what the parse says.
  std::uint32_t input_of(std::size_t row, std::size_t k, std::span<const std::uint32_t> source,
                         std::span<const std::uint32_t> parse) const;
  void set_up();  // views on the sections; false sizes and numbers are FormatErrors
  // Whether rows of the large sections must be verified before they are read.
  bool verifies() const { return sections_->on_use() && !sections_->sound(); }
  // A row of a large section.
  const float* row_of(std::span<const float> section, std::size_t row, std::size_t columns) const {
    const std::span<const float> values = section.subspan(row * columns, columns);
    if (verifies()) sections_->touch(values);
    return values.data();
  }

  // Rows of a matrix of weights, and the columns where they are not zero. In a mean of networks, the units of each see
  // nothing of the others.
  struct Block {
    std::size_t first_row, rows, first_column, columns;
  };
  static std::vector<Block> blocks_of(std::span<const float> matrices, std::size_t rows, std::size_t columns);

  const neural::VectorMath* math_ = &neural::vector_math();
  std::shared_ptr<const Sections> sections_;
  const JointFacts* facts_ = nullptr;
  JointVocabulary source_, target_;
  std::span<const float> source_embeddings_, source_weights_, tables_, bias_;
  std::span<const float> second_weights_, second_bias_, output_, output_bias_, share_;
  std::vector<Block> source_blocks_, second_blocks_;
  std::shared_ptr<const Verification> verification_;  // of a file that was not verified when it opened
};

}  // namespace treeglot
