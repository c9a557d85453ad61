#include "lm/ngram_runs.h"

#include <algorithm>

#include "lm/special_words.h"
#include "lm/suffix_sorter.h"

namespace treeglot {
namespace {

constexpr std::size_t kLeastBuffer = 1 << 12, kLargestBuffer = 1 << 22;  // bytes read from one run at a time

// The words that end at `position`, last one first; <s> from the beginning of the sentence on.
void turned_round(std::span<const Symbol> words, std::uint32_t position, std::span<std::uint32_t> record) {
  for (std::uint32_t& word : record) {
    word = words[position];
    if (word != kSentenceBegin) --position;
  }
}

}  // namespace

NgramRuns::NgramRuns(unsigned order, std::uint64_t memory, const std::string& folder)
    : order_(order), memory_(memory), file_(folder) {}

void NgramRuns::add(std::span<const Symbol> words, std::size_t vocabulary) {
  SuffixSorter sorter(words, vocabulary);
  for (unsigned k = 2; k <= order_; ++k) sorter.deepen(nullptr, k == order_);
  ScratchWriter writer(file_, kLargestBuffer);
  const std::uint64_t begin = writer.at();
  std::vector<std::uint32_t> record(order_), last(order_);
  std::uint64_t count = 0;
  const auto write = [&] {
    if (count == 0) return;
    writer.put(last.data(), order_);
    writer.put64(count);
  };
  for (const SuffixSorter::Entry& entry : sorter.entries()) {
    if (words[entry.position] == kSentenceBegin) continue;
    turned_round(words, entry.position, record);
    if (count > 0 && record == last) {
      ++count;
    } else {
      write();
      last.swap(record);
      count = 1;
    }
  }
  write();
  writer.flush();
  runs_.push_back({begin, file_.size()});
}

std::unique_ptr<NgramRuns::Stream> NgramRuns::merge() const {
  const std::uint64_t buffer = std::clamp<std::uint64_t>(memory_ / 4 / runs_.size(), kLeastBuffer, kLargestBuffer);
  std::vector<ScratchReader> readers;
  readers.reserve(runs_.size());
  for (const Run& run : runs_) readers.emplace_back(file_, run.begin, run.end, width(), buffer);
  return std::make_unique<Stream>(std::move(readers), order_);
}

NgramRuns::Stream::Stream(std::vector<ScratchReader> runs, unsigned order)
    : runs_(std::move(runs)), order_(order), current_(order + 2) {
  for (std::uint32_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run].get() != nullptr) heap_.push_back(run);
  }
  for (std::size_t at = heap_.size() / 2; at-- > 0;) sift_down(at);
  advance();
}

bool NgramRuns::Stream::before(std::size_t a, std::size_t b) const {
  const std::uint32_t* left = runs_[heap_[a]].get();
  const std::uint32_t* right = runs_[heap_[b]].get();
  return std::lexicographical_compare(left, left + order_, right, right + order_);
}

void NgramRuns::Stream::sift_down(std::size_t at) {
  while (true) {
    std::size_t least = at;
    for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
      if (child < heap_.size() && before(child, least)) least = child;
    }
    if (least == at) return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

void NgramRuns::Stream::advance() {
  std::uint64_t count = 0;
  while (!heap_.empty()) {
    const std::uint32_t* record = runs_[heap_.front()].get();
    if (count == 0) {
      std::copy_n(record, order_, current_.begin());
    } else if (!std::equal(record, record + order_, current_.begin())) {
      break;
    }
    count += get64(record + order_);
    runs_[heap_.front()].advance();
    if (runs_[heap_.front()].get() == nullptr) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    sift_down(0);
  }
  ended_ = count == 0;
  current_[order_] = static_cast<std::uint32_t>(count);
  current_[order_ + 1] = static_cast<std::uint32_t>(count >> 32);
}

}  // namespace treeglot
