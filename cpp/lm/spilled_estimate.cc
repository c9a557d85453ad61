#include "lm/spilled_estimate.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/error.h"
#include "base/hash_index.h"
#include "lm/kneser_ney.h"
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
    counts_.total += count;
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

namespace {

constexpr std::size_t kMostParts = 64;                          // each is an open file
constexpr std::uint64_t kCacheBytes = std::uint64_t{12} << 20;  // larger parts than the cache holds are slower

// The sums over contexts are looked up at random, so they must be in memory. The contexts of an order are cut into
// parts that fit, and each n-gram goes to the part of its context. The n-grams with one last word come in the order of
// their contexts, so the parts need no sorting. Reading them side by side brings the n-grams back into order.
class Parts {
 public:
  Parts(const SpilledCounts& counts, unsigned order, std::uint64_t memory) : length_(order - 1) {
    const std::uint64_t contexts = counts.size(length_);
    if (length_ == 1) {  // words: their sums take no more than the vocabulary does
      firsts_ = {0, contexts};
      return;
    }
    const std::uint64_t bytes =
        length_ * sizeof(Symbol) + 2 * sizeof(std::uint32_t) + sizeof(ContextSums<std::uint64_t>);
    const std::uint64_t size =
        std::max({std::min(memory / 2, kCacheBytes) / bytes, contexts / kMostParts + 1, std::uint64_t{64}});
    std::vector<std::uint32_t> key(length_);
    for (std::uint64_t first = 0; first < contexts; first += size) {
      firsts_.push_back(first);
      counts.file(length_).read(first * (length_ + 2), key.data(), length_);
      keys_.insert(keys_.end(), key.begin(), key.end());
    }
    firsts_.push_back(contexts);
  }

  std::size_t count() const { return firsts_.size() - 1; }
  std::uint64_t first(std::size_t part) const { return firsts_[part]; }
  std::uint64_t size(std::size_t part) const { return firsts_[part + 1] - firsts_[part]; }
  const std::uint32_t* key(std::size_t part) const { return keys_.data() + part * length_; }

  // The part of the next n-gram, when they are gone through in order.
  class Cursor {
   public:
    explicit Cursor(const Parts& parts) : parts_(&parts) {}
    std::size_t next(const std::uint32_t* record) {
      if (record[0] != word_) {
        word_ = record[0];
        part_ = 0;
      }
      const std::uint32_t* context = record + 1;
      while (part_ + 1 < parts_->count()) {
        const std::uint32_t* key = parts_->key(part_ + 1);
        if (std::lexicographical_compare(context, context + parts_->length_, key, key + parts_->length_)) break;
        ++part_;
      }
      return part_;
    }

   private:
    const Parts* parts_;
    std::uint32_t word_ = kUnknownWord;  // ends no n-gram
    std::size_t part_ = 0;
  };

 private:
  unsigned length_;                    // of a context
  std::vector<std::uint64_t> firsts_;  // number of the first context of each part, and behind the last
  std::vector<std::uint32_t> keys_;    // the first context of each part
};

// From a context to its number in a part.
class ContextIndex {
 public:
  ContextIndex(const SpilledCounts& counts, unsigned length, std::uint64_t first, std::uint64_t size)
      : length_(length) {
    if (length == 1) return;
    keys_.reserve(size * length);
    const std::size_t width = length + 2;
    ScratchReader reader(counts.file(length), first * width, (first + size) * width, width, 1 << 16);
    for (std::uint32_t i = 0; i < size; ++i, reader.advance()) {
      keys_.insert(keys_.end(), reader.get(), reader.get() + length);
      index_.intern(hash(reader.get()), i, [](std::uint32_t) { return false; });
    }
  }

  std::uint32_t find(const std::uint32_t* context) const {
    if (length_ == 1) return *context;
    return index_.find(hash(context), [&](std::uint32_t known) {
      return std::equal(context, context + length_, keys_.data() + std::size_t{known} * length_);
    });
  }

 private:
  std::uint64_t hash(const std::uint32_t* context) const {
    return hash_bytes({reinterpret_cast<const char*>(context), length_ * sizeof *context});
  }

  unsigned length_;
  std::vector<std::uint32_t> keys_;
  HashIndex index_;
};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// The terms of one order that are summed over contexts.
struct SpilledTerms {
  Parts parts;
  std::vector<ScratchFile> terms;  // of each part: u and γ of each n-gram
  ScratchFile backoffs;            // γ of each context
};

class Estimator {
 public:
  Estimator(SpilledCounts counts, std::span<const Discounts> discounts, const Symbols& vocabulary, std::uint64_t memory,
            const std::string& folder, NgramSink& sink, const std::function<void(std::uint64_t)>& done)
      : counts_(std::move(counts)),
        discounts_(discounts),
        vocabulary_(vocabulary),
        memory_(memory),
        folder_(folder),
        sink_(sink),
        done_(done),
        highest_(static_cast<unsigned>(discounts.size())) {}

  void run() {
    sink_.begin(vocabulary_, counts_.kept);
    std::optional<SpilledTerms> terms;   // of the order that is given next
    ScratchFile probabilities(folder_);  // of the order below: p and the number of n-grams that extend it
    for (unsigned order = 1; order <= highest_; ++order) {
      std::optional<SpilledTerms> above;
      if (order < highest_) above.emplace(sum_contexts(order + 1));
      const ScratchFile* backoffs = above ? &above->backoffs : nullptr;
      sink_.begin_order(order);
      probabilities = order == 1 ? give_unigrams(backoffs) : give_order(order, *terms, probabilities, backoffs);
      give(order);
      if (order > 1) counts_.orders[order - 2].release();
      terms = std::move(above);
    }
    sink_.end();
  }

 private:
  std::size_t buffer(std::size_t streams) const {
    return std::clamp<std::uint64_t>(memory_ / 8 / streams, 1 << 12, 1 << 20);
  }
  ScratchReader records(unsigned order) const {
    return {counts_.file(order), 0, counts_.file(order).size(), order + 2, buffer(4)};
  }

  SpilledTerms sum_contexts(unsigned order) const {
    SpilledTerms out{Parts(counts_, order, memory_), {}, ScratchFile(folder_)};
    const std::size_t count = out.parts.count();
    std::vector<ScratchFile> split;
    if (count > 1) {
      std::vector<ScratchWriter> writers;
      for (std::size_t part = 0; part < count; ++part) split.emplace_back(folder_);
      for (ScratchFile& file : split) writers.emplace_back(file, buffer(count));
      Parts::Cursor cursor(out.parts);
      for (ScratchReader reader = records(order); reader.get() != nullptr; reader.advance()) {
        writers[cursor.next(reader.get())].put(reader.get(), order + 2);
      }
      for (ScratchWriter& writer : writers) writer.flush();
    }
    ScratchWriter backoffs(out.backoffs, buffer(4));
    for (std::size_t part = 0; part < count; ++part) {
      const ScratchFile& source = count > 1 ? split[part] : counts_.file(order);
      sum_part(order, out.parts, part, source, backoffs, out.terms.emplace_back(folder_));
      if (count > 1) split[part].release();
    }
    backoffs.flush();
    return out;
  }

  void sum_part(unsigned order, const Parts& parts, std::size_t part, const ScratchFile& source,
                ScratchWriter& backoffs, ScratchFile& terms_file) const {
    const Discounts& discounts = discounts_[order - 1];
    const ContextIndex index(counts_, order - 1, parts.first(part), parts.size(part));
    std::vector<ContextSums<std::uint64_t>> sums(parts.size(part));
    ScratchFile found_file(folder_);  // number of the context, count: so that contexts are looked up once
    ScratchWriter found(found_file, buffer(4));
    for (ScratchReader reader(source, 0, source.size(), order + 2, buffer(4)); reader.get() != nullptr;
         reader.advance()) {
      const SpilledCount count = SpilledCount::of(reader.get() + order);
      const std::uint32_t context = index.find(reader.get() + 1);
      if (context >= sums.size()) throw FormatError("sorted runs", 0, "an n-gram has no context; expected all runs");
      sums[context].add(count.count, !count.pruned);
      found.put(context);
      found.put64(count.count);
    }
    found.flush();
    for (const ContextSums<std::uint64_t>& sum : sums) backoffs.put(bits(sum.backoff(discounts)));
    ScratchWriter terms(terms_file, buffer(4));
    for (ScratchReader reader(found_file, 0, found_file.size(), 3, buffer(4)); reader.get() != nullptr;
         reader.advance()) {
      const ContextSums<std::uint64_t>& sum = sums[*reader.get()];
      terms.put(bits(discounted(get64(reader.get() + 1), sum.total, discounts)));
      terms.put(bits(sum.backoff(discounts)));
    }
    terms.flush();
  }

  ScratchFile give_unigrams(const ScratchFile* backoffs) {
    const std::vector<std::uint64_t>& counts = counts_.unigrams;
    std::vector<float> probability =
        estimate_unigrams(counts, counts_.pruned_unigrams, counts_.kept[0] - 1, discounts_[0]);
    probability[kSentenceBegin] = 1.0f;
    ScratchFile out(folder_);
    ScratchWriter writer(out, buffer(4));
    std::optional<ScratchReader> backoff;
    if (backoffs != nullptr) backoff.emplace(*backoffs, 0, backoffs->size(), 1, buffer(4));
    for (Symbol word = 0; word < counts.size(); ++word) {
      const bool extended = counts_.extended_unigrams[word];
      writer.put(bits(probability[word]));
      writer.put(extended ? static_cast<std::uint32_t>(counts[word]) : 0);
      const bool pruned = !counts_.pruned_unigrams.empty() && counts_.pruned_unigrams[word];
      add(&word, 1, probability[word], backoff ? number(*backoff->get()) : 1.0f, pruned);
      if (backoff) backoff->advance();
    }
    writer.flush();
    return out;
  }

  ScratchFile give_order(unsigned order, const SpilledTerms& terms, const ScratchFile& lower,
                         const ScratchFile* backoffs) {
    std::vector<ScratchReader> parts;
    for (const ScratchFile& file : terms.terms) parts.emplace_back(file, 0, file.size(), 2, buffer(terms.terms.size()));
    ScratchReader below(lower, 0, lower.size(), 2, buffer(4));
    std::optional<ScratchReader> backoff;
    if (backoffs != nullptr) backoff.emplace(*backoffs, 0, backoffs->size(), 1, buffer(4));
    ScratchFile out(folder_);
    ScratchWriter writer(out, buffer(4));
    Parts::Cursor cursor(terms.parts);
    float lower_probability = 0.0f;
    std::uint32_t left = 0;  // n-grams to come that end in the same words of the order below
    for (ScratchReader reader = records(order); reader.get() != nullptr; reader.advance()) {
      for (; left == 0; below.advance()) {
        lower_probability = number(below.get()[0]);
        left = below.get()[1];
      }
      --left;
      ScratchReader& part = parts[cursor.next(reader.get())];
      const float probability = interpolated(number(part.get()[0]), number(part.get()[1]), lower_probability);
      part.advance();
      const SpilledCount count = SpilledCount::of(reader.get() + order);
      if (backoff) {
        writer.put(bits(probability));
        writer.put(count.extended ? static_cast<std::uint32_t>(count.count) : 0);
      }
      add(reader.get(), order, probability, backoff ? number(*backoff->get()) : 1.0f, count.pruned);
      if (backoff) backoff->advance();
    }
    writer.flush();
    return out;
  }

  // `words` with the last one first.
  void add(const std::uint32_t* words, unsigned order, float probability, float backoff, bool pruned) {
    if (pruned) return;
    batch_.words.insert(batch_.words.end(), std::reverse_iterator(words + order), std::reverse_iterator(words));
    batch_.log10_probability.push_back(log10_of(probability));
    if (order < highest_) batch_.log10_backoff.push_back(log10_of(backoff));
    if (batch_.size() == kBatch) give(order);
  }

  void give(unsigned order) {
    if (batch_.size() == 0) return;
    const std::size_t size = batch_.size();
    batch_.order = order;
    Rendered rendered = sink_.render(batch_);
    sink_.take(std::move(batch_), std::move(rendered));
    batch_ = {};
    done_(size);
  }

  SpilledCounts counts_;
  std::span<const Discounts> discounts_;
  const Symbols& vocabulary_;
  std::uint64_t memory_;
  const std::string& folder_;
  NgramSink& sink_;
  const std::function<void(std::uint64_t)>& done_;
  unsigned highest_;
  NgramBatch batch_;
};

}  // namespace

void estimate_spilled(SpilledCounts counts, std::span<const Discounts> discounts, const Symbols& vocabulary,
                      std::uint64_t memory, const std::string& folder, NgramSink& sink,
                      const std::function<void(std::uint64_t)>& done) {
  Estimator(std::move(counts), discounts, vocabulary, memory, folder, sink, done).run();
}

}  // namespace treeglot
