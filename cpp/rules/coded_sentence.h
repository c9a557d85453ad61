// What extractors copy the words of rules from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/symbols.h"
#include "rules/code.h"

namespace treeglot {

// One side of a sentence, its words already as codes.
class CodedSentence {
 public:
  void assign(std::span<const Symbol> words) {
    bytes_.clear();
    ends_.assign(1, 0);
    for (const Symbol word : words) {
      code::append(bytes_, word + code::kFirstWord);
      ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }
  }
  std::string_view words(Span span) const {
    return std::string_view(bytes_).substr(ends_[span.begin], ends_[span.end] - ends_[span.begin]);
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace treeglot
