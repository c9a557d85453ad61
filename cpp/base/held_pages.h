// How much of a mapped file a check holds in memory. A check reads each byte once, so it can let go of what is behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace treeglot {

inline constexpr std::size_t kHeldBytes = std::size_t{16} << 20;  // files up to this size stay in memory as a whole

// Takes the pages of these bytes from the process. They must be of a mapped file, which is read again where it is
// touched: fresh pages would lose their content.
void release_pages(std::span<const std::byte> mapped);

// Calls check(piece) for pieces of the values of a mapped file until one is not sound. Releases each piece after it.
template <class T, class Check>
bool sound_in_pieces(std::span<const T> values, const Check& check) {
  constexpr std::size_t kPiece = kHeldBytes / sizeof(T);
  if (values.size() <= kPiece) return check(values);
  for (; !values.empty(); values = values.subspan(std::min(kPiece, values.size()))) {
    const std::span<const T> piece = values.first(std::min(kPiece, values.size()));
    if (!check(piece)) return false;
    release_pages(std::as_bytes(piece));
  }
  return true;
}

}  // namespace treeglot
