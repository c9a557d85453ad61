// Counts the words of a corpus and their translation probabilities, pair by pair, for the parts of a corpus to share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/hash_index.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "rules/lexical.h"
#include "syntax/alignment.h"

namespace treeglot {

// The same words and probabilities as a bitext of all pairs has.
struct CorpusVocabulary {
  Strings source_words, target_words;  // by number
  LexicalTable lexical;
};

// Keeps counts, but not the pairs.
class VocabularyBuilder : public Exclusive {
 public:
  void append(std::span<const std::string_view> source, std::span<const std::string_view> target,
              const Alignment& alignment, const PairShare& share = {});
  CorpusVocabulary finish();  // the builder is empty afterwards

 private:
  struct Words {
    Symbols symbols;
    std::vector<std::uint64_t> counts;

    void number(std::span<const std::string_view> words, std::vector<Symbol>& out);
  };

  Words source_, target_;
  std::vector<LinkCount> links_;
  HashIndex index_;  // of links_
  std::vector<Symbol> source_numbers_, target_numbers_;
};

}  // namespace treeglot
