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
  // A view: the sections must outlive it. If they are verified on use, strings are when they are asked for. Then a
  // string may be there twice, or its text may not be found. With `at_once`, all strings are verified here.
  MappedStrings(const Sections& sections, const std::string& name, bool at_once = false)
      : name_(name),
        ends_(sections.unverified<End>(name + ".ends")),
        bytes_(sections.unverified<char>(name + ".bytes")),
        slots_(sections.unverified<Slot>(name + ".slots")) {
    if (sections.on_use() && !at_once) {
      on_use_ = &sections;
      sections.touch(ends_.last(ends_.empty() ? 0 : 1));
    } else {
      sections.touch(ends_);
      sections.touch(bytes_);
      sections.touch(slots_);
    }
    if ((ends_.empty() ? 0 : ends_.back()) != bytes_.size()) fail_ends(sections);
    if (slots_.size() <= ends_.size())
      sections.fail("is damaged: " + name + ".slots has " + std::to_string(slots_.size()) + " places for " +
                    std::to_string(ends_.size()) + " strings");
    if (sections.untrusted() && on_use_ == nullptr) check(sections);
  }

  std::size_t size() const { return ends_.size(); }
  std::string_view text(Symbol number) const {
    if (const Sections* const sections = unverified()) use(*sections, number);
    return own(number);
  }
  Symbol find(std::string_view text) const {  // its number, or Symbols::kNone
    const Sections* const sections = unverified();
    std::size_t most = sections == nullptr ? slots_.size() : std::min(kMostSlots, slots_.size());
    const Symbol found = find(text, sections, most);
    if (most == 0 && sections != nullptr) fail_slots(*sections);
    return found;
  }

 private:
  // The sections that verify the strings on use, until the whole file is known to be sound.
  const Sections* unverified() const { return on_use_ == nullptr || on_use_->sound() ? nullptr : on_use_; }
  std::string_view own(Symbol number) const {
    const End begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[number] - begin)};
  }
  // The same within so many slots, which are taken off `most`.
  Symbol find(std::string_view text, const Sections* sections, std::size_t& most) const {
    const std::uint64_t hash = hash_bytes(text);
    std::size_t at = Layout::home(hash, slots_.size());
    for (; most > 0; --most) {
      if (sections != nullptr) sections->touch(slots_.subspan(at, 1));
      const Slot slot = slots_[at];
      const Symbol number = Layout::number(slot);
      if (number >= ends_.size()) break;  // none
      if (Layout::may_be(slot, hash) && is(number, text, sections)) return number;
      if (++at == slots_.size()) at = 0;
    }
    return Symbols::kNone;
  }

  // Whether this is the text of a string. Most have another length, so their bytes need not be verified.
  bool is(Symbol number, std::string_view text, const Sections* sections) const {
    if (sections != nullptr) {
      use_ends(*sections, number);
      if (own(number).size() != text.size()) return false;
      sections->touch(std::span<const char>(own(number)));
    }
    return own(number) == text;
  }

  // Checks that every string is UTF-8, occurs once, and is found within the few slots that hashing takes on average.
  void check(const Sections& sections) const {
    if (!std::ranges::is_sorted(ends_)) fail_ends(sections);
    std::size_t most = kMostSlots + 64 * size();
    for (Symbol number = 0; number < size(); ++number) {
      if (number % kStringsAtOnce == 0) stop_here(sections.stop());
      if (!is_utf8(own(number))) fail_bytes(sections);
      if (find(own(number), nullptr, most) != number) fail_slots(sections);
    }
  }
  // Verifies where one string begins and ends.
  void use_ends(const Sections& sections, Symbol number) const {
    const std::size_t before = number == 0 ? 0 : 1;
    const std::span<const End> ends = ends_.subspan(number - before, before + 1);
    sections.touch(ends);
    const End begin = number == 0 ? 0 : ends.front(), end = ends.back();
    if (begin > end || end > bytes_.size()) fail_ends(sections);
  }
  // Verifies one string.
  void use(const Sections& sections, Symbol number) const {
    use_ends(sections, number);
    sections.touch(std::span<const char>(own(number)));
    if (!is_utf8(own(number))) fail_bytes(sections);
  }
  [[noreturn]] void fail_ends(const Sections& sections) const {
    sections.fail("is damaged: " + name_ + ".ends does not fit " + name_ + ".bytes");
  }
  [[noreturn]] void fail_bytes(const Sections& sections) const {
    sections.fail("is damaged: " + name_ + ".bytes is not UTF-8");
  }
  [[noreturn]] void fail_slots(const Sections& sections) const {
    sections.fail("is damaged: " + name_ + ".slots does not fit the strings");
  }

  static constexpr std::size_t kMostSlots = 4096;         // far more than the search for a string takes
  static constexpr std::size_t kStringsAtOnce = 1 << 12;  // that a check verifies before it may stop
  std::string name_;
  const Sections* on_use_ = nullptr;  // of a file that was not verified when it opened
  std::span<const End> ends_;
  std::span<const char> bytes_;
  std::span<const Slot> slots_;
};

}  // namespace treeglot
