// Aligned sentence pairs with suffix arrays over both sides: what rules are looked up in when a sentence arrives.
//
// Sentences stand one after the other, each followed by kEnd. Suffixes are sorted by their first words alone, as many
// as a lookup asks for; equal ones stand in the order of the text. The initial phrases of each pair are stored with
// what their rules count, as extraction counts them. So a lookup never looks at a whole sentence pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/sections.h"
#include "base/symbols.h"
#include "rules/bitext.h"
#include "rules/hiero.h"
#include "rules/lexical.h"
#include "rules/table.h"

namespace treeglot {

inline constexpr std::size_t kMostVariables = 3;  // of a rule on demand

// An initial phrase. Where its source side begins is told by its place in the list of phrases.
struct IndexedPhrase {
  static constexpr std::uint8_t kFlat = 1, kGappy = 2, kHole = 4;  // as in CountedPhrase

  std::uint32_t target = 0;  // the place of its first target word in the text
  std::uint32_t units = 0;
  std::uint16_t target_length = 0;
  std::uint8_t source_length = 0;
  std::uint8_t flags = 0;

  std::uint32_t target_end() const { return target + target_length; }
  bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
};

// One side of the pairs.
class IndexedText {
 public:
  static constexpr Symbol kEnd = 0xffffffffu;
  static constexpr std::uint32_t kPadding = 256;  // of kEnd after the last sentence: no lookup reads beyond it

  // Suffixes that begin with the same words.
  struct Range {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t size() const { return end - begin; }
  };

  IndexedText() = default;
  IndexedText(const Sections& sections, const std::string& name);
  static void add(Sections& sections, const std::string& name, const Bitext& bitext, bool source, std::uint32_t depth);

  std::span<const Symbol> tokens() const { return tokens_; }
  std::size_t words() const { return words_.size(); }  // different ones
  std::string_view word(Symbol number) const { return words_.text(number); }
  std::span<const std::uint32_t> pairs() const { return pairs_; }  // where each begins; one more than there are
  std::size_t pair_of(std::uint32_t place) const;
  std::uint32_t place(std::uint32_t suffix) const { return suffixes_[suffix]; }

  Range of_word(Symbol word) const { return {first_[word], first_[word + 1]}; }
  // Those of `range` whose word at `depth` is `word`.
  Range narrow(Range range, std::uint32_t depth, Symbol word) const;

  bool sound(std::size_t pairs) const;  // every number that leads somewhere

 private:
  MappedSymbols words_;
  std::span<const Symbol> tokens_;
  std::span<const std::uint32_t> pairs_, suffixes_, first_;
};

class PairIndex {
 public:
  // Refuses nonterminals side by side, more than kMostVariables of them, phrases of more than 255 words, and pairs with
  // more than 65535 target words.
  static PairIndex build(const Bitext& bitext, const HieroOptions& options);
  static PairIndex open(const std::string& path, bool verify = true);
  void write(const std::string& path) const { sections_->write(path); }
  std::uint64_t file_size() const { return sections_->size(); }

  struct Options {  // of extraction, as far as a lookup asks for them
    std::uint32_t max_phrase, max_symbols, max_nonterminals, source_depth, target_depth;
    friend bool operator==(const Options&, const Options&) = default;
  };
  const Options& options() const { return options_; }

  std::size_t pairs() const { return source_.pairs().size() - 1; }
  const IndexedText& source() const { return source_; }
  const IndexedText& target() const { return target_; }

  // Links, as places of target words, of the source words in [begin, end).
  std::uint32_t links(std::uint32_t begin, std::uint32_t end) const { return first_link_[end] - first_link_[begin]; }
  std::span<const std::uint32_t> links_of(std::uint32_t place) const {
    return links_.subspan(first_link_[place], links(place, place + 1));
  }
  bool weighted() const { return !weights_.empty(); }  // otherwise all links weigh 1
  std::span<const float> weights_of(std::uint32_t place) const {
    return weights_.subspan(first_link_[place], links(place, place + 1));
  }

  // The phrases of all source sides, and the first that begins at a place.
  std::span<const IndexedPhrase> phrases() const { return phrases_; }
  std::uint32_t first_phrase(std::uint32_t place) const { return first_phrase_[place]; }

  // How often two words are linked; kNull of LexicalTable stands for a word without links.
  std::uint64_t link_count(Symbol source, Symbol target) const;
  std::uint64_t source_links(Symbol source) const { return source_totals_[row(source, source_.words())]; }
  std::uint64_t target_links(Symbol target) const { return target_totals_[row(target, target_.words())]; }

  // Appends the pairs, as words, to a builder.
  void append_to(BitextBuilder& builder) const;

 private:
  struct LexicalCount {
    Symbol target;
    std::uint32_t count;
  };
  static constexpr std::string_view kKind = "index";
  static constexpr std::uint32_t kVersion = 1;

  explicit PairIndex(std::shared_ptr<const Sections> sections);
  static void add_phrases(Sections& sections, const Bitext& bitext, const HieroOptions& options);
  static void add_links(Sections& sections, const Bitext& bitext);
  static void add_lexical(Sections& sections, const Bitext& bitext);
  void check() const;
  bool sound_phrases() const;
  bool sound_lexical() const;
  static std::size_t row(Symbol word, std::size_t words) { return word == LexicalTable::kNull ? words : word; }

  std::shared_ptr<const Sections> sections_;
  Options options_ = {};
  IndexedText source_, target_;
  std::span<const std::uint32_t> first_link_, links_, first_phrase_, first_lexical_;
  std::span<const float> weights_;
  std::span<const IndexedPhrase> phrases_;
  std::span<const LexicalCount> lexical_;                         // by source word, NULL last; then by target word
  std::span<const std::uint64_t> source_totals_, target_totals_;  // by word, NULL last
};

}  // namespace treeglot
