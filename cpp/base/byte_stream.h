// Bytes that are appended piece by piece and then read in order, in memory or in blocks of a scratch file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/held_pages.h"
#include "base/scratch.h"

namespace treeglot {

// Any number of streams can share a file. Without one, all bytes stay in memory.
class ByteStream {
 public:
  static constexpr std::size_t kBlock = 1 << 16;  // bytes

  explicit ByteStream(ScratchFile* file = nullptr) : file_(file) {}

  void append(std::span<const std::byte> bytes) {
    if (tail_.size() + bytes.size() < kBlock) {
      tail_.insert(tail_.end(), bytes.begin(), bytes.end());
    } else {
      append_across(bytes);
    }
  }
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
  }
  // Adds bytes of a mapped file in place of a copy; the file must live as long as the stream. No bytes were appended.
  void refer(std::span<const std::byte> mapped) {
    if (size() > referred_size_) throw std::logic_error("a stream refers to bytes behind its own");
    referred_.push_back(mapped);
    referred_size_ += mapped.size();
  }
  std::uint64_t size() const { return referred_size_ + blocks() * kBlock + tail_.size(); }

  // Calls take(bytes) for the pieces in order; each has a whole number of values of 1, 2, 4 or 8 bytes. With `last`,
  // the room of each piece is free after the call, and the stream is empty in the end.
  template <class Take>
  void read(bool last, const Take& take) {
    std::vector<std::byte> block;
    for (std::span<const std::byte> left : referred_) {
      while (!left.empty()) {
        const std::span<const std::byte> piece = left.first(std::min(kHeldBytes, left.size()));
        take(piece);
        release_pages(piece);
        left = left.subspan(piece.size());
      }
    }
    for (std::size_t i = 0; i < blocks(); ++i) {
      load(i, last, block);
      take(std::span<const std::byte>(block));
      if (!last && file_ == nullptr) std::swap(block, in_memory_[i]);
    }
    take(std::span<const std::byte>(tail_));
    if (last) *this = ByteStream(file_);
  }
  // The same for values of a type.
  template <class T, class Take>
  void read_values(bool last, const Take& take) {
    read(last, [&](std::span<const std::byte> bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T value;
        std::copy_n(bytes.data() + at, sizeof(T), reinterpret_cast<std::byte*>(&value));
        take(value);
      }
    });
  }

 private:
  std::size_t blocks() const { return file_ == nullptr ? in_memory_.size() : on_disk_.size(); }
  void append_across(std::span<const std::byte> bytes);
  void load(std::size_t number, bool last, std::vector<std::byte>& block);

  ScratchFile* file_;
  std::vector<std::span<const std::byte>> referred_;
  std::uint64_t referred_size_ = 0;
  std::vector<std::vector<std::byte>> in_memory_;
  std::vector<std::uint64_t> on_disk_;  // where blocks begin
  std::vector<std::byte> tail_;         // the last block, which is not full
};

}  // namespace treeglot
