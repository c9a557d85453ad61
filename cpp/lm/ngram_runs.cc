#include "lm/ngram_runs.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "base/error.h"
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

// Calls `give(record)` for each n-gram of a block in order: its words, last one first, and its count.
template <class Give>
void each_ngram(std::span<const Symbol> words, std::size_t vocabulary, unsigned order, const Give& give) {
  SuffixSorter sorter(words, vocabulary);
  for (unsigned k = 2; k <= order; ++k) sorter.deepen(nullptr, k == order);
  std::vector<std::uint32_t> record(order + 2), last(order + 2);
  std::uint64_t count = 0;
  const auto finish = [&] {
    if (count == 0) return;
    last[order] = static_cast<std::uint32_t>(count);
    last[order + 1] = static_cast<std::uint32_t>(count >> 32);
    give(std::span<const std::uint32_t>(last));
  };
  for (const SuffixSorter::Entry& entry : sorter.entries()) {
    if (words[entry.position] == kSentenceBegin) continue;
    turned_round(words, entry.position, std::span(record).first(order));
    if (count > 0 && std::equal(record.begin(), record.begin() + order, last.begin())) {
      ++count;
    } else {
      finish();
      last.swap(record);
      count = 1;
    }
  }
  finish();
}

// Refuses what is not sentences from <s> to </s>. The number behind the highest of their words.
std::size_t check_block(std::span<const Symbol> words) {
  bool inside = false;
  Symbol highest = kSentenceEnd;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool begins = words[i] == kSentenceBegin;
    if (words[i] == kUnknownWord || begins == inside) {
      throw std::invalid_argument("word " + std::to_string(i) + " of a block is number " + std::to_string(words[i]) +
                                  "; expected sentences from <s> to </s>");
    }
    inside = words[i] != kSentenceEnd;
    highest = std::max(highest, words[i]);
  }
  if (inside) throw std::invalid_argument("a block ends within a sentence; expected whole sentences");
  return std::size_t{highest} + 1;
}

bool is_record(std::span<const std::uint32_t> record, std::size_t vocabulary) {
  const std::size_t order = record.size() - 2;
  bool begun = false;  // the sentence
  for (std::size_t k = 0; k < order; ++k) {
    const std::uint32_t word = record[k];
    if (word >= vocabulary || word == kUnknownWord || (begun && word != kSentenceBegin)) return false;
    if (k > 0 && word == kSentenceEnd) return false;
    begun = word == kSentenceBegin;
  }
  return record[0] != kSentenceBegin && get64(record.data() + order) > 0;
}

}  // namespace

void sort_block(std::span<const Symbol> words, unsigned order, const RunWriter& write) {
  const std::size_t vocabulary = check_block(words);
  std::vector<std::uint32_t> buffer;
  each_ngram(words, vocabulary, order, [&](std::span<const std::uint32_t> record) {
    buffer.insert(buffer.end(), record.begin(), record.end());
    if (buffer.size() >= kLargestBuffer / sizeof(std::uint32_t)) {
      write(buffer);
      buffer.clear();
    }
  });
  if (!buffer.empty()) write(buffer);
}

NgramRuns::NgramRuns(unsigned order, std::uint64_t memory, const std::string& folder)
    : order_(order), memory_(memory), file_(folder) {}

void NgramRuns::add(std::span<const Symbol> words, std::size_t vocabulary) {
  ScratchWriter writer(file_, kLargestBuffer);
  const std::uint64_t begin = writer.at();
  each_ngram(words, vocabulary, order_,
             [&](std::span<const std::uint32_t> record) { writer.put(record.data(), record.size()); });
  writer.flush();
  runs_.push_back({begin, file_.size()});
}

void NgramRuns::add_file(const std::string& path, std::size_t vocabulary) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::system_error(errno, std::generic_category(), path);
  ScratchWriter writer(file_, kLargestBuffer);
  const std::uint64_t begin = writer.at();
  std::vector<std::uint32_t> record(width()), last;
  for (std::uint64_t number = 1;; ++number) {
    stream.read(reinterpret_cast<char*>(record.data()), static_cast<std::streamsize>(record.size() * sizeof record[0]));
    if (stream.gcount() == 0) break;
    const auto words = [&](const std::vector<std::uint32_t>& of) { return std::span(of).first(order_); };
    const bool whole = static_cast<std::size_t>(stream.gcount()) == record.size() * sizeof record[0];
    if (!whole || !is_record(record, vocabulary) ||
        (!last.empty() && !std::ranges::lexicographical_compare(words(last), words(record)))) {
      throw FormatError(path, 0,
                        "record " + std::to_string(number) + " is damaged; expected a sorted run of " +
                            std::to_string(order_) + "-grams");
    }
    writer.put(record.data(), record.size());
    last = record;
  }
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
