// How much of a mapped file a check holds in memory. A check reads each byte once, so it can let go of what is behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/verification.h"

namespace treeglot {

inline constexpr std::size_t kHeldBytes = std::size_t{16} << 20;  // files up to this size stay in memory as a whole

// Releases the pages of these bytes from the process. They must belong to a mapped file, which keeps its content and is
// read again when it is touched. Fresh pages would lose their content.
void release_pages(std::span<const std::byte> mapped);

// Says when the process holds much more of mapped files in memory than at first.
class HeldFiles {
 public:
  explicit HeldFiles(std::size_t most);
  bool too_many();  // false where the system does not say; asks it now and then

 private:
  std::size_t most_, before_, calls_ = 0;
};

// Calls check(piece) for pieces of the values of a mapped file until one is not sound. Releases each piece after it. A
// check in the background, which has a `stop`, releases nothing: searches use the same pages at the same time.
template <class T, class Check>
bool sound_in_pieces(std::span<const T> values, const Stop* stop, const Check& check) {
  constexpr std::size_t kPiece = kHeldBytes / sizeof(T);
  if (values.size() <= kPiece) return check(values);
  for (; !values.empty(); values = values.subspan(std::min(kPiece, values.size()))) {
    stop_here(stop);
    const std::span<const T> piece = values.first(std::min(kPiece, values.size()));
    if (!check(piece)) return false;
    if (stop == nullptr) release_pages(std::as_bytes(piece));
  }
  return true;
}

}  // namespace treeglot
