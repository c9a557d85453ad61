// A list of strings in one buffer: what trees, forests and dependencies keep their words and labels in.
// Values of syntax are self-contained (no shared symbol table), so that they can be passed between threads,
// pickled and dropped one by one; whatever needs numbers for words interns a sentence's strings once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

class Strings {
 public:
  void append(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  friend bool operator==(const Strings&, const Strings&) = default;

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace treeglot
