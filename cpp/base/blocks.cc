#include "base/blocks.h"

#include <algorithm>
#include <cstring>

namespace treeglot {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kSum = sizeof(std::uint64_t);

constexpr std::uint64_t aligned(std::uint64_t size) { return (size + kLine - 1) / kLine * kLine; }
constexpr std::uint64_t blocks_of(std::uint64_t size) { return (size + kBlock - 1) / kBlock; }

// A bijection of the lane for every word and of the word for every lane. The shift brings the high bits, which a
// product never moves down, back into play.
std::uint64_t step(std::uint64_t lane, std::uint64_t word) {
  lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
  return lane ^ (lane >> 32);
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  Checksum sum(seed);
  sum.add(bytes);
  return sum.sum();
}

std::span<const std::byte> block_of(std::span<const std::byte> bytes, std::size_t block) {
  return bytes.subspan(block * kBlock, std::min(kBlock, bytes.size() - block * kBlock));
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t number;
  std::memcpy(&number, bytes.data() + index * kSum, kSum);
  return number;
}

// The checksum of the last list, with 0 in its place.
std::uint64_t end_checksum(std::span<const std::byte> end) {
  Checksum sum(end.size());
  std::byte first[kLine];
  std::memcpy(first, end.data(), kLine);
  std::memset(first, 0, kSum);
  sum.add(first);
  sum.add(end.subspan(kLine));
  return sum.sum();
}

}  // namespace

Checksum::Checksum(std::uint64_t seed) : seed_(seed) {
  for (std::size_t i = 0; i < kLanes; ++i) lanes_[i] = (seed + i + 1) * 0xd6e8feb86659fd93u;
}

void Checksum::add(std::span<const std::byte> bytes) {
  static_assert(kLanes * sizeof(std::uint64_t) == kLine);
  std::uint64_t lanes[kLanes], words[kLanes];
  std::copy(lanes_, lanes_ + kLanes, lanes);
  const std::byte* const end = bytes.data() + bytes.size();
  for (const std::byte* at = bytes.data(); at != end; at += kLine) {
    std::memcpy(words, at, kLine);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = step(lanes[i], words[i]);
  }
  std::copy(lanes, lanes + kLanes, lanes_);
}

std::uint64_t Checksum::sum() const {
  std::uint64_t sum = seed_;
  for (const std::uint64_t lane : lanes_) sum = step(sum, lane);
  return step(sum, 0);
}

std::uint64_t sums_size(std::uint64_t content) {
  const std::uint64_t first = aligned(blocks_of(content) * kSum);
  return first + aligned((1 + blocks_of(first)) * kSum);
}

void BlockSums::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kBlock - in_block_));
    sum_.add(piece);
    in_block_ += piece.size();
    bytes = bytes.subspan(piece.size());
    if (in_block_ < kBlock) continue;
    sums_.push_back(sum_.sum());
    sum_ = Checksum(sums_.size());
    in_block_ = 0;
  }
}

std::vector<std::byte> BlockSums::finish() {
  if (in_block_ > 0) sums_.push_back(sum_.sum());
  const std::size_t first = aligned(sums_.size() * kSum);
  std::vector<std::byte> out(first + aligned((1 + blocks_of(first)) * kSum));
  if (!sums_.empty()) std::memcpy(out.data(), sums_.data(), sums_.size() * kSum);
  const auto put = [&](std::size_t at, std::uint64_t sum) { std::memcpy(out.data() + at, &sum, kSum); };
  const std::span<const std::byte> bytes = out;
  for (std::size_t block = 0; block < blocks_of(first); ++block)
    put(first + (1 + block) * kSum, checksum(block_of(bytes.first(first), block), block));
  put(first, end_checksum(bytes.subspan(first)));
  return out;
}

Blocks::Blocks(std::span<const std::byte> content, std::span<const std::byte> sums)
    : content_(content), count_(blocks_of(content.size())) {
  sums_ = sums.first(aligned(count_ * kSum));
  end_ = sums.subspan(sums_.size());
  bits_ = Pages::fresh(((count_ + blocks_of(sums_.size())) / 64 + 1) * sizeof(std::uint64_t));
  known_ = bits_.writable();
}

std::span<const std::byte> Blocks::block(std::size_t number) const { return block_of(content_, number); }

bool Blocks::end_is_sound() const { return number_at(end_, 0) == end_checksum(end_); }

bool Blocks::verify_block(std::size_t block) {
  const std::size_t of_sums = block * kSum / kBlock;
  const auto know = [&](std::size_t number) {
    word(number).fetch_or(std::uint64_t{1} << (number % 64), std::memory_order_release);
  };
  if (!is_known(count_ + of_sums)) {
    if (checksum(block_of(sums_, of_sums), of_sums) != number_at(end_, 1 + of_sums)) return false;
    know(count_ + of_sums);
  }
  if (checksum(this->block(block), block) != number_at(sums_, block)) return false;
  know(block);
  return true;
}

}  // namespace treeglot
