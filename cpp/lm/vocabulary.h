// The words of a compiled model: word → number and back, on mapped memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/sections.h"
#include "base/strings.h"

namespace treeglot {

class Vocabulary {
 public:
  static constexpr std::uint32_t kUnknown = 0;

  // Adds the sections "words.bytes", "words.ends" and "words.slots" for words that are all different.
  static void add_sections(const Strings& words, Sections& sections);

  Vocabulary() = default;
  explicit Vocabulary(const Sections& sections);  // a view: the sections must outlive it

  std::uint32_t find(std::string_view word) const;  // its number, kUnknown when there is none
  std::string_view word(std::uint32_t id) const {
    const std::uint32_t begin = id == 0 ? 0 : ends_[id - 1];
    return {bytes_.data() + begin, ends_[id] - begin};
  }
  std::size_t size() const { return ends_.size(); }

 private:
  struct Slot {
    std::uint32_t tag;  // of the hash, so that a wrong word is hardly ever compared
    std::uint32_t id;   // kEmpty: none
  };
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  static std::size_t home(std::uint64_t hash, std::size_t slots);

  std::span<const char> bytes_;
  std::span<const std::uint32_t> ends_;
  std::span<const Slot> slots_;  // three quarters of them used
};

}  // namespace treeglot
