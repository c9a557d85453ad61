#include "base/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace treeglot {

ScratchFile::ScratchFile(const std::string& folder) : folder_(folder) {
  std::string name = folder + "/treeglot-XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("no scratch file can be made");
  unlink(name.c_str());
}

ScratchFile ScratchFile::open(const std::string& path) {
  ScratchFile out;
  out.folder_ = path;
  out.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat found = {};
  if (out.descriptor_ < 0 || fstat(out.descriptor_, &found) != 0) out.fail("cannot be opened");
  out.size_ = static_cast<std::uint64_t>(found.st_size) / sizeof(std::uint32_t);
  return out;
}

ScratchFile::~ScratchFile() { release(); }

void ScratchFile::release() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

void ScratchFile::fail(const char* what) const {
  throw std::system_error(errno, std::generic_category(), folder_ + ": " + what);
}

void ScratchFile::append(const std::uint32_t* words, std::size_t count) {
  const char* at = reinterpret_cast<const char*>(words);
  std::size_t left = count * sizeof *words;
  while (left > 0) {
    const ssize_t written = write(descriptor_, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("a scratch file cannot be written");
    at += written;
    left -= static_cast<std::size_t>(written);
  }
  size_ += count;
}

void ScratchFile::read(std::uint64_t at, std::uint32_t* words, std::size_t count) const {
  char* to = reinterpret_cast<char*>(words);
  std::size_t left = count * sizeof *words;
  auto offset = static_cast<off_t>(at * sizeof *words);
  while (left > 0) {
    const ssize_t got = pread(descriptor_, to, left, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("a scratch file cannot be read");
    to += got;
    offset += got;
    left -= static_cast<std::size_t>(got);
  }
}

void ScratchFile::forget(std::uint64_t begin, std::uint64_t end) {
#ifdef FALLOC_FL_PUNCH_HOLE
  constexpr std::uint64_t kPage = 4096 / sizeof(std::uint32_t);
  const std::uint64_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uint64_t last = end == size_ ? end : end / kPage * kPage;
  if (first >= last) return;
  // Where this fails, the disk is free when the file is gone.
  static_cast<void>(fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(first * sizeof(std::uint32_t)),
                              static_cast<off_t>((last - first) * sizeof(std::uint32_t))));
#else
  static_cast<void>(begin);
  static_cast<void>(end);
#endif
}

ScratchWriter::ScratchWriter(ScratchFile& file, std::size_t buffer_bytes) : file_(&file) {
  buffer_.reserve(std::max<std::size_t>(buffer_bytes / sizeof(std::uint32_t), 64));
}

void ScratchWriter::flush() {
  file_->append(buffer_.data(), buffer_.size());
  buffer_.clear();
}

ScratchReader::ScratchReader(const ScratchFile& file, std::uint64_t begin, std::uint64_t end, std::size_t width,
                             std::size_t buffer_bytes)
    : file_(&file), at_(begin), end_(end), width_(width) {
  const std::uint64_t wanted = std::max<std::size_t>(buffer_bytes / sizeof(std::uint32_t) / width, 1) * width;
  buffer_.resize(std::min<std::uint64_t>(wanted, end - begin));
  fill();
}

void ScratchReader::fill() {
  filled_ = std::min<std::uint64_t>(buffer_.size(), end_ - at_);
  if (filled_ == 0) {
    record_ = nullptr;
    return;
  }
  file_->read(at_, buffer_.data(), filled_);
  at_ += filled_;
  record_ = buffer_.data();
}

}  // namespace treeglot
