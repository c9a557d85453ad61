#include "base/held_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>

namespace treeglot {

void release_pages(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(mapped.data()) % page;  // bytes of the first page before them
  // A wish: where it is not granted, the process holds more than it needs.
  madvise(const_cast<std::byte*>(mapped.data() - first), mapped.size() + first, MADV_DONTNEED);
}

namespace {

// Bytes of mapped files in the memory of this process; 0 where the system does not say.
std::size_t resident_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), &std::fclose);
  unsigned long all = 0, resident = 0, shared = 0;
  if (file == nullptr || std::fscanf(file.get(), "%lu %lu %lu", &all, &resident, &shared) != 3) return 0;
  return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

HeldFiles::HeldFiles(std::size_t most) : most_(most), before_(resident_bytes()) {}

bool HeldFiles::too_many() {
  constexpr std::size_t kCalls = 64;  // asking takes as long as they do
  return ++calls_ % kCalls == 0 && resident_bytes() > before_ + most_;
}

}  // namespace treeglot
