// Which source sides of rules can meet a sentence of a test set, by their words alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "rules/render.h"

namespace treeglot {

// A source side is kept if its words stand in a sentence in order, with at least one word for each variable. Where
// sides are `strings`, words side by side in a rule are so in the sentence. Elsewhere words may be between any two of
// them.
class SourceFilter : public Exclusive {
 public:
  explicit SourceFilter(bool strings) : strings_(strings) {}

  void add(std::span<const std::string_view> sentence);
  // For each source side, as text, 1 if it is kept. A side without words is kept.
  std::vector<std::uint8_t> keeps(const Codes& sources);

 private:
  struct Item {
    Symbol word = Symbols::kNone;
    std::uint32_t before = 0;  // words that must be between it and the word before, at least
    bool adjacent = false;     // and no more than that
  };

  bool keep(std::string_view source);
  bool read(std::string_view source);  // into items_; false if a word is in no sentence
  bool matches(std::span<const Symbol> sentence) const;
  std::size_t run_end(std::size_t first) const;  // of the items that stand side by side from `first` on

  bool strings_;
  Symbols words_;
  std::vector<Symbol> tokens_;
  std::vector<std::size_t> ends_ = {0};
  std::vector<std::vector<std::uint32_t>> sentences_;  // that have a word, in order
  std::vector<Item> items_;
  std::uint32_t after_ = 0;  // words that must follow the last item, at least
};

}  // namespace treeglot
