#include "lm/ngram_train.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/error.h"
#include "base/thread_pool.h"
#include "lm/kneser_ney.h"
#include "lm/ngram_counts.h"
#include "lm/spilled_estimate.h"

namespace treeglot {

namespace {

constexpr std::int64_t kLeastMemory = 1 << 16;
constexpr std::size_t kLeastBlock = 256;  // words

// Bytes of memory for a word of the text when all of its n-grams are different. Counting takes the text, what is sorted
// (20), and an entry in the table of each order. Estimating an order takes at most 60.
std::uint64_t bytes_per_word(unsigned order) { return std::max<std::uint64_t>(20 + 16 * (order - 1), 60); }
constexpr std::uint64_t kBytesPerSortedWord = 24;  // when only sorting is left to do with it
constexpr std::uint64_t kBytesPerType = 64;

std::vector<std::uint64_t> kept_sizes(const NgramCounts& counts) {
  const auto kept = [](const std::vector<bool>& pruned, std::size_t size) {
    return size - static_cast<std::size_t>(std::count(pruned.begin(), pruned.end(), true));
  };
  std::vector<std::uint64_t> sizes{kept(counts.pruned_unigrams, counts.unigrams.size())};
  for (const OrderCounts& order : counts.orders) sizes.push_back(kept(order.pruned, order.size()));
  return sizes;
}

// What a batch of one order is made from.
struct OrderSource {
  unsigned order;
  std::span<const Symbol> words;                // the text
  const std::vector<std::uint32_t>* positions;  // none for unigrams
  const std::vector<bool>* pruned;
  const std::vector<float>* probability;
  const std::vector<ContextWeight>* weights;  // by n-gram, as context of the order above; none in the highest order

  NgramBatch batch(std::size_t begin, std::size_t end) const {
    NgramBatch out;
    out.order = order;
    out.words.resize((end - begin) * order);
    out.log10_probability.reserve(end - begin);
    if (weights != nullptr) out.log10_backoff.reserve(end - begin);
    Symbol* to = out.words.data();
    for (std::size_t i = begin; i < end; ++i) {
      constexpr std::size_t kAhead = 24;  // the text is read all over
      if (positions != nullptr && i + kAhead < end) __builtin_prefetch(words.data() + (*positions)[i + kAhead]);
      if (!pruned->empty() && (*pruned)[i]) continue;
      if (positions == nullptr) {
        *to++ = static_cast<Symbol>(i);
      } else {
        const Symbol* from = words.data() + (*positions)[i] + 1 - order;
        for (unsigned k = 0; k < order; ++k) *to++ = *from++;
      }
      out.log10_probability.push_back(log10_of((*probability)[i]));
      if (weights != nullptr) out.log10_backoff.push_back(log10_of((*weights)[i].backoff));
    }
    out.words.resize(static_cast<std::size_t>(to - out.words.data()));
    return out;
  }
};

}  // namespace

void NgramTrainOptions::check() const {
  if (order < 1 || order > kHighestOrder) {
    throw std::invalid_argument("order is " + std::to_string(order) + "; expected 1 to " +
                                std::to_string(kHighestOrder));
  }
  if (prune.size() > static_cast<std::size_t>(order)) {
    throw std::invalid_argument("there are " + std::to_string(prune.size()) +
                                " pruning thresholds for a model of order " + std::to_string(order) +
                                "; expected at most one for each order");
  }
  for (std::size_t i = 0; i < prune.size(); ++i) {
    if (prune[i] < 0) {
      throw std::invalid_argument("a pruning threshold is " + std::to_string(prune[i]) + "; expected 0 or more");
    }
    if (i > 0 && prune[i] < prune[i - 1]) {
      throw std::invalid_argument("the pruning threshold " + std::to_string(prune[i]) + " comes after " +
                                  std::to_string(prune[i - 1]) + "; expected thresholds that do not fall");
    }
  }
  if (memory < kLeastMemory) {
    throw std::invalid_argument("memory is " + std::to_string(memory) + " bytes; expected at least " +
                                std::to_string(kLeastMemory));
  }
  if (threads < 1) throw std::invalid_argument("threads is " + std::to_string(threads) + "; expected at least 1");
  if (fallback) {
    for (std::size_t i = 0; i < fallback->size(); ++i) {
      const float amount = (*fallback)[i];
      if (!(amount > 0.0f && amount <= static_cast<float>(i + 1))) {
        throw std::invalid_argument("the fallback discount for the count " + std::to_string(i + 1) + " is " +
                                    std::to_string(amount) + "; expected more than 0 and at most " +
                                    std::to_string(i + 1));
      }
    }
  }
}

std::vector<std::uint64_t> NgramTrainOptions::thresholds() const {
  std::vector<std::uint64_t> all(prune.begin(), prune.end());
  all.resize(static_cast<std::size_t>(order), prune.empty() ? 0 : all.back());
  return all;
}

NgramTrainer::NgramTrainer(NgramTrainOptions options, std::shared_ptr<const WordClasses> classes)
    : options_((options.check(), std::move(options))),
      order_(static_cast<unsigned>(options_.order)),
      memory_(static_cast<std::uint64_t>(options_.memory)),
      thresholds_(options_.thresholds()),
      classes_(std::move(classes)) {
  for (const std::string_view word : kSpecialWords) vocabulary_.intern(word);
}

void NgramTrainer::end_sentence() {
  words_.push_back(kSentenceEnd);
  sentence_ = words_.size();
  ++report_.sentences;
  const std::uint64_t types = vocabulary_.size() * kBytesPerType;
  const std::uint64_t left = memory_ > types ? memory_ - types : 0;
  const std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t per_word = runs_ ? kBytesPerSortedWord : bytes_per_word(order_);
  const std::uint64_t block = std::clamp<std::uint64_t>(left / per_word, kLeastBlock, most);
  if (words_.size() >= block) spill();
}

NgramRuns& NgramTrainer::runs() {
  if (!runs_) runs_ = std::make_unique<NgramRuns>(order_, memory_, options_.folder);
  return *runs_;
}

void NgramTrainer::spill() {
  runs().add(words_, vocabulary_.size());
  words_.clear();
  sentence_ = 0;
}

NgramTrainReport NgramTrainer::finish(const std::string& name, NgramSink& sink, const Progress& progress) {
  if (report_.tokens == 0) throw FormatError(name, 0, "has no words; expected text");
  if (longest_ + 2 < order_) {
    throw FormatError(name, 0,
                      "has no " + std::to_string(order_) + "-grams: its longest line has " + std::to_string(longest_) +
                          (longest_ == 1 ? " word" : " words") + "; expected a line of at least " +
                          std::to_string(order_ - 2) + ", or a lower order");
  }
  report_.types = vocabulary_.size() - std::size(kSpecialWords);
  if (runs_) {
    finish_spilled(name, sink, progress);
  } else {
    finish_in_memory(name, sink, progress);
  }
  return std::move(report_);
}

void NgramTrainer::set_discounts(const std::string& name, const std::vector<CountsOfCounts>& counts) {
  for (unsigned order = 1; order <= order_; ++order) {
    Discounts discounts = estimate_discounts(counts[order - 1], order, options_.fallback.value_or(kFallbackDiscounts));
    if (!options_.fallback && !discounts.problem.empty()) {
      throw FormatError(name, 0,
                        "the discounts of order " + std::to_string(order) + " cannot be estimated: " +
                            discounts.problem + "; expected a larger or less repetitive text, or fallback discounts");
    }
    report_.discounts.push_back(std::move(discounts));
  }
}

[[noreturn]] static void fail_counts(const std::string& name, const NgramTrainReport& report, std::uint64_t counted) {
  throw FormatError(name, 0,
                    "has " + std::to_string(report.tokens + report.sentences) + " words and ends of lines, but " +
                        std::to_string(counted) + " were counted; expected the runs of all blocks");
}

void NgramTrainer::finish_in_memory(const std::string& name, NgramSink& sink, const Progress& progress) {
  if (waiting() != report_.tokens + 2 * report_.sentences)  // a block was taken, and its run did not come back
    fail_counts(name, report_, waiting() - static_cast<std::uint64_t>(std::ranges::count(words_, kSentenceBegin)));
  progress("sorting", 0, words_.size());
  NgramCounts counts = count_ngrams(words_, vocabulary_.size(), thresholds_);
  progress("sorting", words_.size(), words_.size());
  report_.counted = {counts.unigrams.size()};
  for (const OrderCounts& order : counts.orders) report_.counted.push_back(order.size());
  report_.kept = kept_sizes(counts);
  set_discounts(name, counts.counts_of_counts);

  sink.begin(vocabulary_, report_.kept);
  std::vector<float> probability =
      estimate_unigrams(counts.unigrams, counts.pruned_unigrams, report_.kept[0] - 1, report_.discounts[0]);
  probability[kSentenceBegin] = 1.0f;  // it is given, not predicted
  const std::uint64_t total = std::accumulate(report_.kept.begin(), report_.kept.end(), std::uint64_t{0});
  std::uint64_t done = 0;
  for (unsigned order = 1; order <= order_; ++order) {
    OrderEstimate above;
    if (order < order_) {
      OrderCounts& next = counts.orders[order - 1];
      above = estimate_order(next, report_.discounts[order], probability);
      for (auto* used : {&next.context, &next.lower, &next.count}) *used = std::vector<std::uint32_t>();
    }
    const OrderSource source{order,
                             words_,
                             order == 1 ? nullptr : &counts.positions[order - 2],
                             order == 1 ? &counts.pruned_unigrams : &counts.orders[order - 2].pruned,
                             &probability,
                             order < order_ ? &above.weights : nullptr};
    struct Made {
      NgramBatch batch;
      Rendered rendered;
    };
    sink.begin_order(order);
    ordered_map((probability.size() + kBatch - 1) / kBatch, static_cast<unsigned>(options_.threads),
                [&](std::size_t i) {
                  Made made{source.batch(i * kBatch, std::min((i + 1) * kBatch, probability.size())), {}};
                  made.rendered = sink.render(made.batch);
                  return made;
                },
                [&](std::size_t, Made made) {
                  done += made.batch.size();
                  sink.take(std::move(made.batch), std::move(made.rendered));
                  progress("writing", done, total);
                });
    if (order > 1) counts.positions[order - 2] = std::vector<std::uint32_t>();
    probability = std::move(above.probability);
  }
  sink.end();
}

void NgramTrainer::finish_spilled(const std::string& name, NgramSink& sink, const Progress& progress) {
  if (!words_.empty()) spill();
  words_ = std::vector<Symbol>();
  report_.runs = runs_->size();
  if (report_.runs == 0) fail_counts(name, report_, 0);  // a block was taken, and its run was refused
  progress("merging", 0, report_.runs);
  SpilledCounts counts = [&] {
    const auto stream = runs_->merge();
    return adjust_counts(*stream, vocabulary_.size(), thresholds_, memory_, options_.folder);
  }();
  runs_.reset();
  if (counts.total != report_.tokens + report_.sentences || counts.size(1) != vocabulary_.size())
    fail_counts(name, report_, counts.total);
  progress("merging", report_.runs, report_.runs);
  report_.counted = counts.sizes;
  report_.kept = counts.kept;
  set_discounts(name, counts.counts_of_counts);
  const std::uint64_t total = std::accumulate(report_.kept.begin(), report_.kept.end(), std::uint64_t{0});
  std::uint64_t done = 0;
  estimate_spilled(std::move(counts), report_.discounts, vocabulary_, memory_, options_.folder, sink,
                   [&](std::uint64_t more) { progress("writing", done += more, total); });
}

}  // namespace treeglot
