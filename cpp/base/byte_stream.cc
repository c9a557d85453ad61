#include "base/byte_stream.h"

namespace treeglot {
namespace {

constexpr std::size_t kWords = ByteStream::kBlock / sizeof(std::uint32_t);

}  // namespace

void ByteStream::append_across(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kBlock - tail_.size()));
    tail_.insert(tail_.end(), piece.begin(), piece.end());
    bytes = bytes.subspan(piece.size());
    if (tail_.size() < kBlock) return;
    if (file_ == nullptr) {
      in_memory_.push_back(std::move(tail_));
      tail_ = {};
      tail_.reserve(kBlock);
    } else {
      on_disk_.push_back(file_->size());
      file_->append(reinterpret_cast<const std::uint32_t*>(tail_.data()), kWords);
      tail_.clear();
    }
  }
}

void ByteStream::load(std::size_t number, bool last, std::vector<std::byte>& block) {
  if (file_ == nullptr) {
    block = std::move(in_memory_[number]);
    return;
  }
  block.resize(kBlock);
  file_->read(on_disk_[number], reinterpret_cast<std::uint32_t*>(block.data()), kWords);
  if (last) file_->forget(on_disk_[number], on_disk_[number] + kWords);
}

}  // namespace treeglot
