#include "lm/vocabulary.h"

#include <algorithm>

#include "base/symbols.h"

namespace treeglot {

// The high bits of a hash choose the slot, the low ones are the tag.
std::size_t Vocabulary::home(std::uint64_t hash, std::size_t slots) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>((static_cast<Wide>(hash) * slots) >> 64);
}

void Vocabulary::add_sections(const Strings& words, Sections& sections) {
  const std::span<char> bytes = sections.add<char>("words.bytes", words.bytes().size());
  std::copy(words.bytes().begin(), words.bytes().end(), bytes.begin());
  const std::span<std::uint32_t> ends = sections.add<std::uint32_t>("words.ends", words.size());
  std::copy(words.ends().begin(), words.ends().end(), ends.begin());
  const std::span<Slot> slots = sections.add<Slot>("words.slots", words.size() + words.size() / 3 + 1);
  std::fill(slots.begin(), slots.end(), Slot{0, kEmpty});
  for (std::uint32_t id = 0; id < words.size(); ++id) {
    const std::uint64_t hash = hash_bytes(words[id]);
    std::size_t at = home(hash, slots.size());
    while (slots[at].id != kEmpty) at = at + 1 == slots.size() ? 0 : at + 1;
    slots[at] = {static_cast<std::uint32_t>(hash), id};
  }
}

Vocabulary::Vocabulary(const Sections& sections)
    : bytes_(sections.array<char>("words.bytes")),
      ends_(sections.array<std::uint32_t>("words.ends")),
      slots_(sections.array<Slot>("words.slots")) {
  if (ends_.empty() || ends_.back() != bytes_.size() || !std::is_sorted(ends_.begin(), ends_.end()))
    sections.fail("is damaged: its words do not end where they should");
  if (slots_.size() <= ends_.size())
    sections.fail("is damaged: its table of words has " + std::to_string(slots_.size()) + " places");
}

std::uint32_t Vocabulary::find(std::string_view word) const {
  const std::uint64_t hash = hash_bytes(word);
  const auto tag = static_cast<std::uint32_t>(hash);
  std::size_t at = home(hash, slots_.size());
  for (std::size_t tried = 0; tried < slots_.size(); ++tried) {
    const Slot slot = slots_[at];
    if (slot.id >= ends_.size()) break;  // empty
    if (slot.tag == tag && this->word(slot.id) == word) return slot.id;
    if (++at == slots_.size()) at = 0;
  }
  return kUnknown;
}

}  // namespace treeglot
