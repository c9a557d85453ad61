#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace treeglot {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".part";

std::string prefix_of(const fs::path& target) { return "." + target.filename().string() + "."; }

bool is_drawn(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_aside_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix) || name.size() < prefix.size() + kSuffix.size())
    return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSuffix.size());
  // Six characters here, eight where Python draws them; a dot would belong to a longer NAME.
  return (name.size() == 6 || name.size() == 8) && is_drawn(name);
}

}  // namespace

bool is_aside(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot < 2 || !is_drawn(name.substr(dot + 1))) return false;
  const std::size_t size = name.size() - dot - 1;
  return size == 6 || size == 8 || size == 12;  // keys of an experiment's steps have twelve
}

Aside new_aside(const std::string& target) {
  remove_leftovers(target);
  const fs::path place = target;
  while (true) {
    std::string path = (place.parent_path() / (prefix_of(place) + "XXXXXX")).string().append(kSuffix);
    const int descriptor = mkostemps(path.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
    if (descriptor < 0) throw FileError(target, errno);
    // Another writer may have seen the file before it was locked, taken it for a leftover and removed it: then another
    // one is made. Where there are no locks (some network file systems) nobody can remove it either.
    const bool refused = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status;
    if (!refused && fstat(descriptor, &status) == 0 && status.st_nlink > 0) return {descriptor, std::move(path)};
    close(descriptor);
  }
}

void remove_leftovers(const std::string& target) {
  const fs::path place = target;
  const std::string prefix = prefix_of(place);
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    const fs::path path = at->path();
    if (!is_aside_of(path.filename().string(), prefix)) continue;
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;  // not ours to remove, or gone
    std::error_code ignored;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
    close(descriptor);
  }
}

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
