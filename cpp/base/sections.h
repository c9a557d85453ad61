// The container of all binary files: named, aligned, checksummed ranges of bytes, mapped or in memory.
//
// A file is little endian. It has a header of 64 bytes (Header in sections.cc) and a table of 64 bytes per section. The
// sections follow in the order of the table. Each begins at a multiple of 64 bytes, with zeros up to the next. The
// header's checksum covers header and table. Checksums of all blocks follow the sections (base/blocks.h). So every bit
// of a file has a checksum. `kind` says what the file is and `version` of its sections' layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/blocks.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/verification.h"

namespace treeglot {

// A binary file is damaged. This ends a run, while other errors refuse a sentence.
class DamageError : public FormatError {
  using FormatError::FormatError;
};

class Sections {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Makes an empty container in memory. add() fills it.
  Sections(std::string_view kind, std::uint32_t version);
  Sections(Sections&&) = default;
  Sections& operator=(Sections&&) = default;

  // Maps a file. A file that is cut short, damaged, or of another kind or version is a FormatError. With `verify` false
  // the bytes of the sections are trusted. Opening then takes the same time for any size.
  static Sections open(const std::string& path, std::string_view kind, std::uint32_t version, bool verify = true);

  // Maps a file for a reader that can verify it on use. A small file is not worth a thread: `background` is `verified`
  // then, and the reader calls verify().
  static Sections map(const std::string& path, std::string_view kind, std::uint32_t version, Opening how);
  Opening opening() const { return how_; }
  bool on_use() const { return how_ == Opening::on_use || how_ == Opening::background; }
  void verify() const;  // all of it; a checksum that does not fit is a FormatError
  // A view of the same file, as if it had been opened as `verified`. Its checks stop when `stop` says so; only those in
  // the background have one. The view outlives the sections.
  Sections to_verify(const Stop* stop) const;
  const Stop* stop() const { return stop_; }
  // sound() says whether a check found the whole file sound; set_sound() records it. Copies of to_verify() share this.
  bool sound() const { return blocks_ == nullptr || blocks_->sound(); }
  void set_sound() const {
    if (blocks_ != nullptr) blocks_->set_sound();
  }

  // Whether a file's first bytes are those of a container.
  static bool begins(std::string_view bytes);
  // The kind of a container, from its first kAlignment bytes or more. Empty for other bytes.
  static std::string_view kind_of(std::string_view bytes);

  // Adds a section of zeros, to be written to.
  template <class T>
  std::span<T> add(std::string_view name, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return {reinterpret_cast<T*>(add_bytes(name, count * sizeof(T)).data()), count};
  }

  // A section of pages that were filled before; their size is a multiple of kAlignment.
  void adopt(std::string_view name, Pages pages);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  // The values of a section. A missing section, or one that is no whole number of values, is a FormatError.
  template <class T>
  std::span<const T> array(std::string_view name) const {
    const std::span<const T> all = unverified<T>(name);
    touch(all);
    return all;
  }
  // Like values(), but touch() must verify the values before they are read.
  template <class T>
  std::span<const T> unverified(std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    const std::span<const std::byte> bytes = values(name, sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // Verifies values of a section, if that is needed and was not done before. Damage is a FormatError.
  template <class T>
  void touch(std::span<const T> values) const {
    if (blocks_ == nullptr) return;
    if (const auto bad = blocks_->verify(values.data(), values.size_bytes())) fail_block(*bad);
  }
  std::vector<std::string> names() const;

  const std::string& file() const { return file_; }  // empty when in memory
  [[noreturn]] void fail(const std::string& problem) const;
  std::uint64_t size() const;  // of the file, in bytes
  // Whether values may be anything: checksums do not stop a crafted file. The reader of such a file checks every number
  // that leads somewhere. Files made in memory, or opened without `verify`, are trusted.
  bool untrusted() const { return how_ != Opening::trusted; }

  void write(const std::string& path) const;

 private:
  struct Section {
    std::string name;
    std::span<const std::byte> bytes;
  };

  Sections() = default;
  const Section* find(std::string_view name) const;
  std::span<std::byte> add_bytes(std::string_view name, std::size_t size);
  std::span<const std::byte> values(std::string_view name, std::size_t value_size) const;
  void read_table(std::string_view kind, std::uint32_t version);
  [[noreturn]] void fail_block(std::size_t block) const;

  std::string file_, kind_;
  std::uint32_t version_ = 0;
  Opening how_ = Opening::trusted;
  const Stop* stop_ = nullptr;
  std::vector<std::shared_ptr<Pages>> pages_;  // the mapped file, or one per section
  std::vector<Section> sections_;
  std::shared_ptr<Blocks> blocks_;  // of a file that is not trusted
};

}  // namespace treeglot
