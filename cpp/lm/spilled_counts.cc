#include "lm/spilled_counts.h"

#include <algorithm>

#include "lm/special_words.h"

namespace treeglot {
namespace {

class Adjuster {
 public:
  Adjuster(std::size_t vocabulary, std::span<const std::uint64_t> thresholds, std::uint64_t memory,
           const std::string& folder)
      : highest_(static_cast<unsigned>(thresholds.size())),
        thresholds_(thresholds),
        last_(highest_),
        plain_(highest_ + 1),
        extensions_(highest_ + 1) {
    counts_.unigrams.resize(vocabulary);
    counts_.extended_unigrams.resize(vocabulary);
    if (thresholds[0] > 0) counts_.pruned_unigrams.resize(vocabulary);
    counts_.sizes.resize(highest_);
    counts_.kept.resize(highest_);
    counts_.counts_of_counts.resize(highest_);
    counts_.sizes[0] = counts_.kept[0] = 2;  // <unk> and <s>, which no n-gram of the stream ends in
    const std::size_t buffer = std::clamp<std::uint64_t>(memory / 8 / highest_, 1 << 14, 1 << 20);
    for (unsigned order = 2; order <= highest_; ++order) counts_.orders.emplace_back(folder);
    for (ScratchFile& file : counts_.orders) writers_.emplace_back(file, buffer);
  }

  // The next n-gram of the highest order, last word first.
  void add(const std::uint32_t* record) {
    const std::uint64_t count = get64(record + highest_);
    const auto* begin_of_sentence = std::find(record, record + highest_, kSentenceBegin);
    const auto length = static_cast<unsigned>(std::min<std::ptrdiff_t>(begin_of_sentence - record + 1, highest_));
    unsigned same = 0;  // words that it shares with the n-gram before it
    while (same < length_ && same < length && record[same] == last_[same]) ++same;

    for (unsigned order = length_; order > same; --order) finish(order, false);
    for (unsigned order = 1; order <= same; ++order) plain_[order] += count;
    ++extensions_[same];
    std::copy_n(record, highest_, last_.begin());
    length_ = length;
    for (unsigned order = same + 1; order <= length; ++order) {
      plain_[order] = count;
      extensions_[order] = order < length ? 1 : 0;
    }
  }

  SpilledCounts end() {
    for (unsigned order = length_; order > 0; --order) finish(order, order < highest_);
    for (ScratchWriter& writer : writers_) writer.flush();
    return std::move(counts_);
  }

 private:
  // The n-gram of that order that ends the last one is complete. `plainly`: see LastCount in ngram_counts.cc.
  void finish(unsigned order, bool plainly) {
    const std::uint64_t plain = plain_[order];
    const bool extended = extensions_[order] > 0;
    const bool special = order == 1 && last_[0] < std::size(kSpecialWords);
    const SpilledCount count{extended ? extensions_[order] : plain, !special && plain <= thresholds_[order - 1],
                             extended};
    counts_.counts_of_counts[order - 1].add(plainly ? plain : count.count);
    ++counts_.sizes[order - 1];
    if (!count.pruned) ++counts_.kept[order - 1];
    if (order == 1) {
      counts_.unigrams[last_[0]] = count.count;
      counts_.extended_unigrams[last_[0]] = extended;
      if (count.pruned) counts_.pruned_unigrams[last_[0]] = true;
    } else {
      writers_[order - 2].put(last_.data(), order);
      writers_[order - 2].put64(count.value());
    }
  }

  unsigned highest_;
  std::span<const std::uint64_t> thresholds_;
  std::vector<std::uint32_t> last_;
  unsigned length_ = 0;                            // of the last n-gram: shorter where a sentence begins in it
  std::vector<std::uint64_t> plain_, extensions_;  // by order, of the n-grams that end the last one
  SpilledCounts counts_;
  std::vector<ScratchWriter> writers_;
};

}  // namespace

SpilledCounts adjust_counts(NgramRuns::Stream& ngrams, std::size_t vocabulary,
                            std::span<const std::uint64_t> thresholds, std::uint64_t memory,
                            const std::string& folder) {
  Adjuster adjuster(vocabulary, thresholds, memory, folder);
  for (; ngrams.get() != nullptr; ngrams.advance()) adjuster.add(ngrams.get());
  return adjuster.end();
}

}  // namespace treeglot
