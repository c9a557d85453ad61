// A list of strings in one buffer: what trees, forests and dependencies keep their words and labels in. Values of
// syntax are self-contained, without a shared symbol table. So they can be passed between threads, pickled and dropped
// one by one. Code that needs numbers for words interns a sentence's strings once.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

class Strings {
 public:
  Strings() = default;
  // From its two arrays, as bytes() and ends() give them; refuses ends that decrease or miss the buffer's end.
  Strings(std::string bytes, std::vector<std::uint32_t> ends) : bytes_(std::move(bytes)), ends_(std::move(ends)) {
    std::uint32_t last = 0;
    for (const std::uint32_t end : ends_) {
      if (end < last) throw std::invalid_argument("the ends of strings never decrease");
      last = end;
    }
    if (last != bytes_.size()) throw std::invalid_argument("the last string must end where the buffer ends");
  }

  void append(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() - bytes_.size())
      throw std::length_error("a list of strings holds fewer than 2^32 bytes");
    bytes_.append(text);
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  void clear() {  // keeps its memory
    bytes_.clear();
    ends_.clear();
  }
  void reserve(std::size_t strings, std::size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }
  std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  const std::string& bytes() const { return bytes_; }
  const std::vector<std::uint32_t>& ends() const { return ends_; }
  friend bool operator==(const Strings&, const Strings&) = default;

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace treeglot
