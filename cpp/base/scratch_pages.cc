#include "base/scratch_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/held_pages.h"

namespace treeglot {

ScratchPages::ScratchPages(std::size_t size, const std::string& folder) : size_(size) {
  if (size == 0) return;
  const auto fail = [&](int error) {
    throw std::system_error(error, std::generic_category(), folder + ": no scratch file can be made");
  };
  std::string name = folder + "/treeglot-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  unlink(name.c_str());
  // Without room on the disk, a page that is written would end the process.
  if (const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size)); error != 0) {
    close(descriptor);
    fail(error);
  }
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int error = errno;
  close(descriptor);
  if (data == MAP_FAILED) fail(error);
  data_ = static_cast<std::byte*>(data);
}

ScratchPages::~ScratchPages() {
  if (data_ != nullptr) munmap(data_, size_);
}

void ScratchPages::release() const { release_pages({data_, size_}); }

}  // namespace treeglot
