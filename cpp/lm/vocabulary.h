// The words of a compiled model: word → number and back, on mapped memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/mapped_strings.h"
#include "base/strings.h"

namespace treeglot {

class Vocabulary {
 public:
  static constexpr std::uint32_t kUnknown = 0;

  // Adds the sections NAME.bytes, NAME.ends and NAME.slots for words that are all different.
  static void add_sections(const Strings& words, Sections& sections, const std::string& name = "words") {
    MappedStrings<Layout>::add(sections, name, words.size(), [&](Symbol word) { return words[word]; });
  }

  Vocabulary() = default;
  // A view: the sections must outlive it.
  explicit Vocabulary(const Sections& sections, const std::string& name = "words") : words_(sections, name) {
    if (words_.size() == 0) sections.fail("is damaged: it has no words");
  }

  std::uint32_t find(std::string_view word) const {  // its number, kUnknown when there is none
    const Symbol found = words_.find(word);
    return found == Symbols::kNone ? kUnknown : found;
  }
  std::string_view word(std::uint32_t id) const { return words_.text(id); }
  std::size_t size() const { return words_.size(); }

 private:
  // Three quarters of the slots are used. Each has bits of its word's hash, so a wrong word is hardly ever compared:
  // models are asked about text word by word.
  struct Layout {
    using End = std::uint32_t;
    struct Slot {
      std::uint32_t tag, id;
    };
    static constexpr bool kBytesFirst = true;
    static std::size_t slots(std::size_t words) { return words + words / 3 + 1; }
    // The high bits of a hash choose the slot, the low ones are the tag.
    static std::size_t home(std::uint64_t hash, std::size_t slots) { return place_of(hash, slots); }
    static Slot slot(std::uint64_t hash, std::uint32_t id) { return {static_cast<std::uint32_t>(hash), id}; }
    static std::uint32_t number(Slot slot) { return slot.id; }
    static bool may_be(Slot slot, std::uint64_t hash) { return slot.tag == static_cast<std::uint32_t>(hash); }
  };

  MappedStrings<Layout> words_;
};

}  // namespace treeglot
