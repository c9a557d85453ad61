#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/aside.h"
#include "base/error.h"

namespace treeglot {

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

Pages Pages::map(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw FileError(path, errno);
  struct stat status;
  if (fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
    const int error = S_ISDIR(status.st_mode) ? EISDIR : errno;
    close(descriptor);
    throw FileError(path, error);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    close(descriptor);
    return {};
  }
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const int error = errno;
  close(descriptor);
  if (data == MAP_FAILED) throw FileError(path, error);
  return Pages(static_cast<std::byte*>(data), size);
}

Pages Pages::fresh(std::size_t size) {
  if (size == 0) return {};
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(data, size, MADV_HUGEPAGE);  // a wish: where it is not granted, nothing is lost
#endif
  return Pages(static_cast<std::byte*>(data), size);
}

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  std::error_code problem;
  std::filesystem::path target = path_;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(target, problem)); ++links) {
    if (links == 40) throw FileError(path_, ELOOP);  // what systems allow
    target = target.parent_path() / std::filesystem::read_symlink(target, problem);
    if (problem) throw FileError(path_, problem.value());
  }
  const std::filesystem::file_status status = std::filesystem::status(target, problem);
  if (std::filesystem::is_directory(status)) throw FileError(path_, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
    return;
  }
  target_ = target.string();
  try {
    Aside aside = new_aside(target_);
    descriptor_ = aside.descriptor;
    aside_ = std::move(aside.path);
  } catch (const FileError& error) {
    throw FileError(path_, error.number());  // the user knows this name
  }
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor_, 0666 & ~mask) != 0) fail();
}

NewFile::~NewFile() {
  if (!aside_.empty()) unlink(aside_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t kAtOnce = 1 << 30;  // systems take no more than 2 GB in one call
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void NewFile::finish() {
  if (!aside_.empty()) {
    if (fsync(descriptor_) != 0) fail();
    // Renamed while it is open, and so locked: it must not be taken for a leftover.
    if (std::rename(aside_.c_str(), target_.c_str()) != 0) fail();
    aside_.clear();
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) fail();
}

void NewFile::fail() const { throw FileError(path_, errno); }

}  // namespace treeglot
