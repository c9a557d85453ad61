#include "rules/rule_sorter.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"

namespace treeglot {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kFirstBlock = 1 << 8, kBlock = 1 << 18;         // words
constexpr unsigned kBucketBits = 9;                                   // of the numbers of a bucket's first symbols
constexpr std::size_t kLeastBuffer = 1 << 10, kMostBuffer = 1 << 18;  // words read of a run at a time

std::uint64_t two_symbols(std::span<const Symbol> source, std::size_t first) {
  const auto symbol = [&](std::size_t i) { return std::uint64_t{i < source.size() ? source[i] : 0}; };
  return symbol(first) << 32 | symbol(first + 1);
}

}  // namespace

bool RuleSorter::Group::is_of(std::span<const Symbol> other) const { return std::ranges::equal(source, other); }

bool RuleSorter::Group::operator<(const Group& other) const {
  return std::ranges::lexicographical_compare(source, other.source);
}

RuleSorter::RuleSorter(std::size_t memory, std::string folder) : memory_(memory), folder_(std::move(folder)) {}

// Rows come with the same first symbol one after the other.
RuleSorter::Bucket& RuleSorter::bucket_of(Symbol first) {
  const Symbol key = first >> kBucketBits;
  if (last_ == nullptr || key != last_key_) {
    last_ = &buckets_[key];
    last_key_ = key;
  }
  return *last_;
}

std::uint32_t* RuleSorter::room(Bucket& bucket, std::size_t words) {
  std::vector<std::vector<std::uint32_t>>& blocks = bucket.blocks;
  if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < words) {
    const std::size_t usual = blocks.empty() ? kFirstBlock : std::min(kBlock, 2 * blocks.back().capacity());
    blocks.emplace_back().reserve(std::max(usual, words));
    block_bytes_ += blocks.back().capacity() * sizeof(std::uint32_t);
  }
  std::vector<std::uint32_t>& block = blocks.back();
  block.resize(block.size() + words);
  return block.data() + block.size() - words;
}

void RuleSorter::add(std::span<const Symbol> source, std::span<const std::uint32_t> record) {
  if (source.empty()) return;
  Bucket* bucket = &bucket_of(source.front());
  if (!bucket->places.empty() && bucket->places.back().block + 1 == bucket->blocks.size()) {
    std::vector<std::uint32_t>& block = bucket->blocks.back();
    std::uint32_t* const words = block.data() + bucket->places.back().at;
    if (Group(words).is_of(source) && block.capacity() - block.size() >= record.size()) {
      block.insert(block.end(), record.begin(), record.end());
      words[0] += record.empty() ? 0 : 1;
      words[1] += static_cast<std::uint32_t>(record.size());
      return;
    }
  }
  if (memory_ > 0 && bytes() > memory_) {
    spill();
    bucket = &bucket_of(source.front());
  }
  std::uint32_t* at = room(*bucket, kHead + source.size() + record.size());
  const auto begin = static_cast<std::uint32_t>(at - bucket->blocks.back().data());
  std::vector<Place>& places = bucket->places;
  if (places.size() == places.capacity()) places.reserve(places.size() + places.size() / 4 + 64);  // in small steps
  places.push_back(
      {two_symbols(source, 0), two_symbols(source, 2), static_cast<std::uint32_t>(bucket->blocks.size() - 1), begin});
  ++groups_;
  *at++ = record.empty() ? 0 : 1;
  *at++ = static_cast<std::uint32_t>(record.size());
  *at++ = static_cast<std::uint32_t>(source.size());
  at = std::ranges::copy(source, at).out;
  std::ranges::copy(record, at);
}

void RuleSorter::Bucket::sort() {
  std::ranges::sort(places, [&](const Place& a, const Place& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    const Group one(at(a)), other(at(b));
    if (one < other) return true;
    if (other < one) return false;
    return std::pair(a.block, a.at) < std::pair(b.block, b.at);  // the order in which they came
  });
}

void RuleSorter::spill() {
  if (!file_) file_.emplace(folder_);
  ScratchWriter writer(*file_, kMostBuffer * sizeof(std::uint32_t));
  const std::uint64_t begin = file_->size();
  for (auto& [key, bucket] : buckets_) {
    bucket.sort();
    for (const Place& place : bucket.places) writer.put(bucket.at(place), Group(bucket.at(place)).words());
  }
  writer.flush();
  runs_.push_back({0, begin, file_->size()});
  buckets_.clear();
  last_ = nullptr;
  block_bytes_ = groups_ = 0;
}

void RuleSorter::add_run(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  if (groups_ > 0) spill();  // so that runs have the order of their records
  ScratchFile file = ScratchFile::open(path);
  const std::string between = "between " + std::to_string(begin) + " and " + std::to_string(end);
  if (begin > end) throw std::invalid_argument("a run of rules is " + between + ", which are not in order");
  if (end > file.size())
    throw FormatError(path, 0, "has " + std::to_string(file.size()) + " words; expected a run of rules " + between);
  if (begin == end) return;
  others_.push_back(std::move(file));
  runs_.push_back({others_.size(), begin, end});
}

std::vector<std::uint64_t> RuleSorter::write_run(const std::string& path, std::span<const Symbol> begins) {
  if (!std::ranges::is_sorted(begins)) throw std::invalid_argument("the pieces of a run are not in order");
  NewFile file(path);
  std::vector<std::uint64_t> places = {0};
  std::vector<std::uint32_t> buffer;
  std::uint64_t written = 0;
  const auto flush = [&] {
    file.write(std::as_bytes(std::span<const std::uint32_t>(buffer)));
    written += buffer.size();
    buffer.clear();
  };
  merge([&](std::span<const Symbol> source, std::span<const std::uint32_t> records, std::uint32_t number) {
    while (places.size() <= begins.size() && source.front() >= begins[places.size() - 1])
      places.push_back(written + buffer.size());
    buffer.insert(buffer.end(),
                  {number, static_cast<std::uint32_t>(records.size()), static_cast<std::uint32_t>(source.size())});
    buffer.insert(buffer.end(), source.begin(), source.end());
    buffer.insert(buffer.end(), records.begin(), records.end());
    if (buffer.size() >= kMostBuffer) flush();
  });
  flush();
  places.resize(begins.size() + 2, written);
  file.finish();
  return places;
}

void RuleSorter::clear() { *this = RuleSorter(memory_, std::move(folder_)); }

RuleSorter::RunReader::RunReader(ScratchFile& file, Run run, std::size_t buffer)
    : file_(&file), run_(run), buffer_(std::min<std::uint64_t>(buffer, run.end - run.begin)) {
  fill();
}

void RuleSorter::RunReader::advance() {
  at_ += Group(get()).words();
  if (at_ + kHead > filled_ || at_ + Group(buffer_.data() + at_).words() > filled_) fill();
}

// Moves what is left to the front, and reads on until there is a whole group.
void RuleSorter::RunReader::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.begin() + static_cast<std::ptrdiff_t>(filled_),
            buffer_.begin());
  filled_ -= std::exchange(at_, 0);
  const auto read = [&] {
    const std::uint64_t count = std::min<std::uint64_t>(buffer_.size() - filled_, run_.end - run_.begin);
    file_->read(run_.begin, buffer_.data() + filled_, count);
    file_->forget(run_.begin, run_.begin + count);
    run_.begin += count;
    filled_ += count;
  };
  read();
  if (filled_ == 0) return;
  const std::size_t wanted = filled_ < kHead ? kHead : Group(buffer_.data()).words();
  if (wanted > filled_ && wanted - filled_ > run_.end - run_.begin)
    throw FormatError(
        file_->place(), 0,
        "a run of rules ends within a rule, at word " + std::to_string(run_.end) + "; expected whole rules");
  if (wanted > buffer_.size()) {
    buffer_.resize(wanted);
    read();
  }
}

RuleSorter::Groups::Groups(RuleSorter& sorter) {
  if (sorter.groups_ > 0) sorter.spill();
  const std::size_t share = sorter.memory_ == 0 ? kMostBuffer : sorter.memory_ / kWord / sorter.runs_.size();
  for (const Run& run : sorter.runs_)
    runs_.emplace_back(run.file == 0 ? *sorter.file_ : sorter.others_[run.file - 1], run,
                       std::clamp(share, kLeastBuffer, kMostBuffer));
  for (std::uint32_t run = 0; run < runs_.size(); ++run)
    if (runs_[run].get() != nullptr) heap_.push_back(run);
  for (std::size_t i = heap_.size(); i-- > 0;) sift_down(i);
}

// Of equal source sides, those of earlier runs were added before.
bool RuleSorter::Groups::before(std::size_t a, std::size_t b) const {
  const Group one(runs_[a].get()), other(runs_[b].get());
  return one < other || (!(other < one) && a < b);
}

void RuleSorter::Groups::sift_down(std::size_t at) {
  while (true) {
    std::size_t least = at;
    for (std::size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); ++child)
      if (before(heap_[child], heap_[least])) least = child;
    if (least == at) return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

const std::uint32_t* RuleSorter::Groups::next() {
  if (!moved_) {
    RunReader& run = runs_[heap_.front()];
    run.advance();
    if (run.get() == nullptr) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    sift_down(0);
  }
  moved_ = false;
  return heap_.empty() ? nullptr : runs_[heap_.front()].get();
}

}  // namespace treeglot
