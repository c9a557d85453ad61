// Strings in a container and their numbers, on mapped memory: where each ends, their bytes, and a hash table. The table
// has open addressing and linear probing. Language models and rule tables share this; each keeps the layout of its
// files, which `Layout` tells:
//
//   End, Slot                     what the sections NAME.ends and NAME.slots hold; NAME.bytes holds the texts
//   kBytesFirst                   whether the bytes come before the ends
//   slots(strings)                how many slots so many strings have, more than one each
//   home(hash, slots)             the slot where the search for a text with this hash begins
//   slot(hash, number)            what stands for a string; with Symbols::kNone, for none
//   number(slot)                  of its string
//   may_be(slot, hash)            false if the string of the slot has another hash for sure
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/sections.h"
#include "base/symbols.h"
#include "base/utf8.h"

namespace treeglot {

template <class Layout>
class MappedStrings {
 public:
  using End = typename Layout::End;
  using Slot = typename Layout::Slot;

  // Adds the sections for `strings` texts that are all different; text(number) gives them.
  template <class Text>
  static void add(Sections& sections, const std::string& name, std::size_t strings, const Text& text) {
    std::size_t length = 0;
    for (Symbol number = 0; number < strings; ++number) length += text(number).size();
    std::span<End> ends;
    if (!Layout::kBytesFirst) ends = sections.add<End>(name + ".ends", strings);
    const auto bytes = sections.add<char>(name + ".bytes", length);
    if (Layout::kBytesFirst) ends = sections.add<End>(name + ".ends", strings);
    const auto slots = sections.add<Slot>(name + ".slots", Layout::slots(strings));
    std::ranges::fill(slots, Layout::slot(0, Symbols::kNone));
    std::size_t end = 0;
    for (Symbol number = 0; number < strings; ++number) {
      const std::string_view string = text(number);
      std::ranges::copy(string, bytes.begin() + static_cast<std::ptrdiff_t>(end));
      ends[number] = static_cast<End>(end += string.size());
      const std::uint64_t hash = hash_bytes(string);
      std::size_t at = Layout::home(hash, slots.size());
      while (Layout::number(slots[at]) != Symbols::kNone) at = at + 1 == slots.size() ? 0 : at + 1;
      slots[at] = Layout::slot(hash, number);
    }
  }

  MappedStrings() = default;
  // A view: the sections must outlive it.
  MappedStrings(const Sections& sections, const std::string& name)
      : ends_(sections.array<End>(name + ".ends")),
        bytes_(sections.array<char>(name + ".bytes")),
        slots_(sections.array<Slot>(name + ".slots")) {
    if ((ends_.empty() ? 0 : ends_.back()) != bytes_.size())
      sections.fail("is damaged: " + name + ".ends does not fit " + name + ".bytes");
    if (slots_.size() <= ends_.size())
      sections.fail("is damaged: " + name + ".slots has " + std::to_string(slots_.size()) + " places for " +
                    std::to_string(ends_.size()) + " strings");
    if (sections.untrusted()) check(sections, name);
  }

  std::size_t size() const { return ends_.size(); }
  std::string_view text(Symbol number) const {
    const End begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[number] - begin)};
  }
  Symbol find(std::string_view text) const {  // its number, or Symbols::kNone
    std::size_t most = slots_.size();
    return find(text, most);
  }

 private:
  // The same within so many slots, which are taken off `most`.
  Symbol find(std::string_view text, std::size_t& most) const {
    const std::uint64_t hash = hash_bytes(text);
    std::size_t at = Layout::home(hash, slots_.size());
    for (; most > 0; --most) {
      const Slot slot = slots_[at];
      const Symbol number = Layout::number(slot);
      if (number >= ends_.size()) break;  // none
      if (Layout::may_be(slot, hash) && this->text(number) == text) return number;
      if (++at == slots_.size()) at = 0;
    }
    return Symbols::kNone;
  }

  // Every string is UTF-8, there once, and found within the few slots that hashing takes on average.
  void check(const Sections& sections, const std::string& name) const {
    if (!std::ranges::is_sorted(ends_)) sections.fail("is damaged: " + name + ".ends does not fit " + name + ".bytes");
    std::size_t most = 4096 + 64 * size();
    for (Symbol number = 0; number < size(); ++number) {
      if (!is_utf8(text(number))) sections.fail("is damaged: " + name + ".bytes is not UTF-8");
      if (find(text(number), most) != number) sections.fail("is damaged: " + name + ".slots does not fit the strings");
    }
  }

  std::span<const End> ends_;
  std::span<const char> bytes_;
  std::span<const Slot> slots_;
};

}  // namespace treeglot
