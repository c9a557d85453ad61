// Hash tables with open addressing: a power of two of slots, the next free one in case of a collision.
#pragma once

#include <cstddef>
#include <vector>

namespace treeglot {

// Doubles the slots and puts those in use where their hashes say.
template <class Slot, class Used, class Hash>
void double_slots(std::vector<Slot>& slots, Used used, Hash hash) {
  std::vector<Slot> old(slots.empty() ? 1024 : slots.size() * 2);
  old.swap(slots);
  const std::size_t mask = slots.size() - 1;
  for (const Slot& slot : old) {
    if (!used(slot)) continue;
    std::size_t i = hash(slot) & mask;
    while (used(slots[i])) i = (i + 1) & mask;
    slots[i] = slot;
  }
}

}  // namespace treeglot
