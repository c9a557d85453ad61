// Data on its way through the disk: files without a name, written once from end to end and read in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace treeglot {

// A file in `folder` that is gone when this is, however the program ends. Its content is 32-bit words; places in it are
// counted in them. Throws std::system_error.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder);
  static ScratchFile open(const std::string& path);  // a file that is there and stays, to be read
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  void append(const std::uint32_t* words, std::size_t count);
  void read(std::uint64_t at, std::uint32_t* words, std::size_t count) const;
  std::uint64_t size() const { return size_; }
  const std::string& place() const { return folder_; }  // its folder, or the path of a file that stays
  // Gives back the disk of the words between two places, where the system can do so. They must not be read again.
  void forget(std::uint64_t begin, std::uint64_t end);
  void release();  // its disk is free again; nothing more can be done with it

 private:
  ScratchFile() = default;
  [[noreturn]] void fail(const char* what) const;

  std::string folder_;  // or the path of a file that stays
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

class ScratchWriter {
 public:
  ScratchWriter(ScratchFile& file, std::size_t buffer_bytes);

  void put(std::uint32_t word) {
    if (buffer_.size() == buffer_.capacity()) flush();
    buffer_.push_back(word);
  }
  void put(const std::uint32_t* words, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) put(words[i]);
  }
  void put64(std::uint64_t value) {
    put(static_cast<std::uint32_t>(value));
    put(static_cast<std::uint32_t>(value >> 32));
  }
  std::uint64_t at() const { return file_->size() + buffer_.size(); }
  void flush();

 private:
  ScratchFile* file_;
  std::vector<std::uint32_t> buffer_;
};

// Records of `width` words between two places of a file.
class ScratchReader {
 public:
  ScratchReader(const ScratchFile& file, std::uint64_t begin, std::uint64_t end, std::size_t width,
                std::size_t buffer_bytes);

  const std::uint32_t* get() const { return record_; }  // null behind the last
  void advance() {
    if (record_ + width_ == buffer_.data() + filled_) {
      fill();
    } else {
      record_ += width_;
    }
  }

 private:
  void fill();

  const ScratchFile* file_;
  std::uint64_t at_, end_;
  std::size_t width_;
  std::vector<std::uint32_t> buffer_;
  std::size_t filled_ = 0;
  const std::uint32_t* record_ = nullptr;
};

inline std::uint64_t get64(const std::uint32_t* words) { return words[0] | std::uint64_t{words[1]} << 32; }

}  // namespace treeglot
