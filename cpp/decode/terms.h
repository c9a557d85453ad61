// What a user asks of the translation of one sentence: spans with given translations, and phrases that must not appear.
// Markup, glossaries and text that must stay as it is all come down to these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash_index.h"
#include "base/span.h"
#include "base/symbols.h"

namespace treeglot {

// Translations that are given for a span of source words.
struct Mark {
  Span span;
  std::vector<std::string> translations;  // tokens separated by blanks
  bool required = true;     // no rule may use its words; otherwise the translations compete with those of rules
  float bonus = 0;          // what a translation that is not required adds to the score
  std::int32_t entry = -1;  // the caller's number for it
};

struct Terms {
  std::vector<Mark> marks;             // sorted, without overlap
  std::vector<std::string> forbidden;  // phrases of the target language, tokens separated by blanks
};

// Finds phrases in sentences.
class PhraseFinder {
 public:
  struct Found {
    Span span;
    std::uint32_t phrase;
  };

  void add(std::span<const std::string> words, std::uint32_t phrase);  // one without words is never found
  // Finds all phrases in the words. Those that begin first come first, and shorter ones before longer ones.
  std::vector<Found> find(std::span<const std::string> words) const;

 private:
  struct Node {
    std::uint32_t parent;
    Symbol word;
    std::vector<std::uint32_t> phrases;  // that end here
  };
  std::uint32_t child(std::uint32_t node, Symbol word) const;  // or HashIndex::kNone

  Symbols words_;
  std::vector<Node> nodes_ = {{HashIndex::kNone, Symbols::kNone, {}}};
  HashIndex index_;
};

}  // namespace treeglot
