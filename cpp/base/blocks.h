// Checksums of a file's content by blocks of 1 KiB, so that a reader can verify just what it uses.
//
// The content is all that comes before the sums, from the file's first byte on. The sums follow it: one for each block,
// with zeros up to a multiple of 64 bytes. They are content of a second level, in blocks of the same size. The file
// ends with a list that is padded in the same way. It has its own checksum, taken with 0 in its place, and the sums of
// the blocks of the second level. The seed of a block's sum is its number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/mapped_file.h"

namespace treeglot {

// 64 bits over lines of 64 bytes, several GB a second. Every change within 8 bytes changes it for sure.
class Checksum {
 public:
  explicit Checksum(std::uint64_t seed = 0);
  void add(std::span<const std::byte> bytes);  // the next of them, a multiple of 64 bytes
  std::uint64_t sum() const;

 private:
  static constexpr std::size_t kLanes = 8;  // so that the multiplier is never waited for
  std::uint64_t seed_;
  std::uint64_t lanes_[kLanes];
};

// Bytes. A rule is read in ten places, a few bytes in each, so small blocks verify less of what nobody reads. Smaller
// ones would hardly be quicker: finding a sum takes as long as computing it.
inline constexpr std::size_t kBlock = 1024;

// The size of the checksums for a content of so many bytes, which must be a multiple of 64.
std::uint64_t sums_size(std::uint64_t content);

// Computes the checksums of a content that is given in pieces.
class BlockSums {
 public:
  void add(std::span<const std::byte> bytes);  // multiples of 64 bytes
  std::vector<std::byte> finish();             // what follows the content

 private:
  Checksum sum_;
  std::size_t in_block_ = 0;
  std::vector<std::uint64_t> sums_;
};

// The blocks of a mapped content. Threads may share them.
class Blocks {
 public:
  Blocks(std::span<const std::byte> content, std::span<const std::byte> sums);

  // Verifies the blocks that contain these bytes, unless that was done before. Returns the first damaged block, if any.
  std::optional<std::size_t> verify(const void* begin, std::size_t bytes) {
    if (bytes == 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(begin) - content_.data());
    const std::size_t last = (at + bytes - 1) / kBlock;
    for (std::size_t block = at / kBlock; block <= last; ++block)
      if (!is_known(block) && !verify_block(block)) return block;
    return std::nullopt;
  }
  bool end_is_sound() const;  // whether the checksum of the last list fits
  std::span<const std::byte> content() const { return content_; }
  // Whether a check found everything sound: the checksums, and the values that they cover.
  bool sound() const { return sound_.load(std::memory_order_acquire); }
  void set_sound() { sound_.store(true, std::memory_order_release); }
  std::span<const std::byte> block(std::size_t number) const;

 private:
  // Blocks of the content come first, then those of the sums.
  bool is_known(std::size_t block) const {
    return (word(block).load(std::memory_order_acquire) >> (block % 64) & 1) != 0;
  }
  std::atomic_ref<std::uint64_t> word(std::size_t block) const {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(known_.data())[block / 64]);
  }
  bool verify_block(std::size_t block);

  std::span<const std::byte> content_, sums_, end_;
  std::size_t count_;  // blocks of the content
  Pages bits_;         // one for each verified block
  std::span<std::byte> known_;
  std::atomic<bool> sound_ = false;
};

}  // namespace treeglot
