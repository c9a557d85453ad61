// A tokeniser learnt from text and its words. A tagger of characters says where words begin and end (Xue 2003; Ng and
// Low 2004). It also knows what characters become in the corpus, such as full-width marks. Words of the corpus and
// ICU's boundaries are features: they tell of words that are rare or were never seen.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sections.h"
#include "text/tagger.h"
#include "text/tokens.h"

namespace treeglot {

struct SegmenterCounts {
  std::uint64_t sentences = 0;
  std::uint64_t unaligned = 0;  // sentences with other characters than their words: nothing is learnt from them
};

class Segmenter {
 public:
  static Segmenter open(const std::string& path);
  // Learns from raw sentences and their words, separated by blanks.
  static Segmenter train(std::span<const BrokenLine> texts, std::span<const std::string> lines,
                         SegmenterCounts& counts);
  void write(const std::string& path) const { sections_.write(path); }

  Tokens segment(const BrokenLine& line) const;

 private:
  explicit Segmenter(Sections sections);

  Sections sections_;
  Tagger tagger_;
  std::span<const std::uint64_t> words_;  // a hash table of their hashes
  std::map<std::uint64_t, char32_t> changes_;
};

}  // namespace treeglot
