#include "base/held_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace treeglot {

void release_pages(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(mapped.data()) % page;  // bytes of the first page before them
  // A wish: where it is not granted, the process holds more than it needs.
  madvise(const_cast<std::byte*>(mapped.data() - first), mapped.size() + first, MADV_DONTNEED);
}

}  // namespace treeglot
