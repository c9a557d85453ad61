// Zeroed memory in a file without a name. The system moves it to the disk where memory is short.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace treeglot {

class ScratchPages {
 public:
  ScratchPages() = default;
  // The file is in `folder`, and is deleted with this object. Its disk space is reserved. Throws std::system_error.
  ScratchPages(std::size_t size, const std::string& folder);
  ~ScratchPages();
  ScratchPages(ScratchPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ScratchPages& operator=(ScratchPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::span<std::byte> writable() { return {data_, size_}; }
  void release() const;  // takes the pages from the process; what was written stays

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace treeglot
