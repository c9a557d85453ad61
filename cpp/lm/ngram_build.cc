#include "lm/ngram_build.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/held_pages.h"
#include "base/strings.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

struct Quantisation {
  std::vector<float> centres;  // ascending
  float error = 0;             // no value is farther from its centre than this
};

// The centre that is nearest to `value`, as its index.
std::size_t nearest(std::span<const float> centres, float value) {
  const auto above =
      static_cast<std::size_t>(std::lower_bound(centres.begin(), centres.end(), value) - centres.begin());
  if (above == 0) return 0;
  if (above == centres.size()) return above - 1;
  return value - centres[above - 1] <= centres[above] - value ? above - 1 : above;
}

// The centres of intervals of width 2 · error that cover the sorted values from the left on; stops above `count`.
std::vector<float> cover(std::span<const float> sorted, float error, std::size_t count) {
  std::vector<float> centres;
  for (auto first = sorted.begin(); first != sorted.end() && centres.size() <= count;) {
    const auto end = std::upper_bound(first, sorted.end(), *first + 2 * error);
    centres.push_back(0.5f * (*first + end[-1]));
    first = end;
  }
  return centres;
}

// At most `count` centres of sorted values such that the largest error is as small as possible. The range is cut into
// parts of one width, and parts without values cost nothing. Half a step of a uniform scale bounds the error: range /
// (2 · count).
Quantisation quantise(std::vector<float> values, std::size_t count) {
  Quantisation out;
  if (values.size() <= count) {
    out.centres = std::move(values);
    return out;
  }
  float low = 0, high = (values.back() - values.front()) / static_cast<float>(count);
  for (int i = 0; i < 30; ++i) {  // each halves the interval; a float has no more bits to tell
    const float middle = 0.5f * (low + high);
    (cover(values, middle, count).size() <= count ? high : low) = middle;
  }
  out.centres = cover(values, high, count);
  for (const float value : values)
    out.error = std::max(out.error, std::abs(value - out.centres[nearest(out.centres, value)]));
  return out;
}

// How full tables are: fast ones trade memory for short searches, small ones do not.
constexpr double kFastLoad = 0.65;
constexpr double kSmallLoad = 0.8;

std::size_t buckets_at(double load, std::uint64_t count, unsigned places) {
  return static_cast<std::size_t>(static_cast<double>(count) / (load * places)) + 1;
}

NgramKey key_of_all(std::span<const WordId> words) {
  NgramKey key = key_of(words.back());
  for (std::size_t i = words.size() - 1; i > 0; --i) key = extend_key(key, words[i - 1]);
  return key;
}

// A place for a key that is not there: after it the caller writes the value.
template <class Bucket>
std::pair<Bucket*, unsigned> place(std::span<Bucket> buckets, NgramKey key) {
  constexpr unsigned kLast = Bucket::kPlaces - 1;
  std::size_t at = BucketTable<Bucket>(buckets).home(key);
  for (; buckets[at].keys[kLast] != 0; at = at + 1 == buckets.size() ? 0 : at + 1) buckets[at].keys[0] |= 1;
  unsigned i = 0;
  while (buckets[at].keys[i] != 0) ++i;
  buckets[at].keys[i] = key;
  return {&buckets[at], i};
}

void copy_value(const FastBucket& from, unsigned i, FastBucket& to, unsigned j) { to.values[j] = from.values[i]; }
void copy_value(const FastLastBucket& from, unsigned i, FastLastBucket& to, unsigned j) { to.probs[j] = from.probs[i]; }

// Calls use(bucket, place) for all n-grams of a table. Now and then it releases the pages of the table, and calls
// after(). Keys are in the order of their buckets, in tables of any size.
template <class Bucket, class Use, class After>
void for_each(const GrowingTable<Bucket>& table, Use&& use, After&& after) {
  constexpr std::size_t kPiece = kHeldBytes / sizeof(Bucket);
  const std::span<const Bucket> buckets = table.buckets();
  for (std::size_t begin = 0; begin < buckets.size(); begin += kPiece) {
    for (const Bucket& bucket : buckets.subspan(begin, std::min(kPiece, buckets.size() - begin))) {
      for (unsigned i = 0; i < Bucket::kPlaces && bucket.keys[i] != 0; ++i) use(bucket, i);
    }
    table.release();
    after();
  }
}

// The different ones of many values.
class DistinctValues {
 public:
  void add(float value) {
    values_.push_back(value);
    if (values_.size() >= most_) sort();
  }
  std::vector<float> take() && {
    sort();
    return std::move(values_);
  }

 private:
  void sort() {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    most_ = std::max(most_, 2 * values_.size());
  }

  std::vector<float> values_;
  std::size_t most_ = 1 << 20;
};

std::string spelled(std::span<const WordId> words, const Symbols& symbols) {
  std::string out;
  for (const WordId word : words) {
    if (!out.empty()) out += ' ';
    out += symbols.text(word);
  }
  return quoted(out);
}

// Finds a place by fingerprint; none when another n-gram of the same fingerprint would be found first.
template <class Bucket>
std::optional<std::pair<Bucket*, unsigned>> place_small(std::span<Bucket> buckets, NgramKey key) {
  const auto low = low_fingerprint(key);
  const auto high = high_fingerprint<Bucket>(key);
  for (std::size_t at = BucketTable<Bucket>(buckets).home(key);; at = at + 1 == buckets.size() ? 0 : at + 1) {
    Bucket& bucket = buckets[at];
    for (unsigned i = 0; i < bucket.used; ++i) {
      if (bucket.low[i] == low && (bucket.high[i] & Bucket::kHighMask) == high) return {};
    }
    if (bucket.used < Bucket::kPlaces) {
      const unsigned i = bucket.used++;
      bucket.low[i] = low;
      bucket.high[i] = high;
      return {{&bucket, i}};
    }
    bucket.overflows = 1;
  }
}

}  // namespace

template <class Bucket>
std::size_t GrowingTable<Bucket>::buckets_for(std::uint64_t count) {
  return buckets_at(kFastLoad, count, Bucket::kPlaces);
}

template <class Bucket>
GrowingTable<Bucket>::GrowingTable(std::uint64_t expected, std::string folder) : folder_(std::move(folder)) {
  buckets_ = make(buckets_for(expected), pages_, scratch_);
}

template <class Bucket>
std::span<Bucket> GrowingTable<Bucket>::make(std::size_t buckets, Pages& pages, ScratchPages& scratch) const {
  const std::size_t size = buckets * sizeof(Bucket);
  if (folder_.empty()) {
    pages = Pages::fresh(size);
    return {reinterpret_cast<Bucket*>(pages.writable().data()), buckets};
  }
  scratch = ScratchPages(size, folder_);
  return {reinterpret_cast<Bucket*>(scratch.writable().data()), buckets};
}

template <class Bucket>
auto GrowingTable<Bucket>::find(NgramKey key) -> std::optional<Place> {
  key = stored_key(key);
  for (std::size_t at = BucketTable<Bucket>(buckets_).home(key);; at = at + 1 == buckets_.size() ? 0 : at + 1) {
    Bucket& bucket = buckets_[at];
    for (unsigned i = 0; i < Bucket::kPlaces; ++i) {
      if ((bucket.keys[i] & kKeyBits) == key) return Place{&bucket, i};
    }
    if (!bucket.continues()) return {};
  }
}

template <class Bucket>
auto GrowingTable<Bucket>::insert(NgramKey key) -> Place {
  if (buckets_for(size_ + 1) > buckets_.size()) resize(buckets_for(2 * size_ + 64));
  ++size_;
  const auto [bucket, index] = place(buckets_, stored_key(key));
  return {bucket, index};
}

template <class Bucket>
void GrowingTable<Bucket>::resize(std::size_t buckets) {
  if (buckets == buckets_.size()) return;
  Pages pages;
  ScratchPages scratch;
  const std::span<Bucket> to = make(buckets, pages, scratch);
  const auto copy = [&](const Bucket& from, unsigned i) {
    const auto [bucket, j] = place(to, from.keys[i] & kKeyBits);
    copy_value(from, i, *bucket, j);
  };
  for_each(*this, copy, [&] { scratch.release(); });
  pages_ = std::move(pages);
  scratch_ = std::move(scratch);
  buckets_ = to;
}

template class GrowingTable<FastBucket>;
template class GrowingTable<FastLastBucket>;

std::uint64_t NgramBuilder::table_bytes(std::span<const std::uint64_t> expected) {
  std::uint64_t bytes = 0;
  for (std::size_t n = 2; n < expected.size(); ++n)
    bytes += GrowingTable<FastBucket>::buckets_for(expected[n - 1]) * sizeof(FastBucket);
  if (expected.size() > 1) bytes += GrowingTable<FastLastBucket>::buckets_for(expected.back()) * sizeof(FastLastBucket);
  return bytes;
}

NgramBuilder::NgramBuilder(std::span<const std::uint64_t> expected, const std::string& folder, std::uint64_t memory) {
  if (expected.empty() || expected.size() > kMaxNgramOrder)
    throw std::invalid_argument("an n-gram model has order 1 to " + std::to_string(kMaxNgramOrder) + ", not " +
                                std::to_string(expected.size()));
  facts_.order = static_cast<std::uint32_t>(expected.size());
  words_.intern("<unk>");
  unigrams_.push_back({kUnknownLog10, -0.0f});
  for (std::size_t n = 2; n < expected.size(); ++n) middle_.emplace_back(expected[n - 1], folder);
  if (expected.size() > 1) last_ = GrowingTable<FastLastBucket>(expected.back(), folder);
  listed_.resize(expected.size() - 1);
  if (!folder.empty()) {
    held_.emplace(memory);
    for (Listed& listed : listed_) listed.file.emplace(folder);
  }
  waiting_.reserve(kWaiting);
}

std::optional<WordId> NgramBuilder::find(std::string_view word) const {
  if (!unknown_.empty() && word == unknown_) return 0;
  const Symbol found = words_.find(word);
  if (found == Symbols::kNone || found == 0) return {};
  return found;
}

void NgramBuilder::add_unigram(std::string_view word, float log10, float backoff, std::size_t line) {
  const bool is_unknown = word == "<unk>" || (word == "<UNK>" && unknown_.empty());
  if (find(word) || (is_unknown && !unknown_.empty()))
    throw NgramError(line, "the 1-gram " + quoted(word) + " is here a second time");
  const NgramValue value{-std::abs(log10), backoff == 0 ? -0.0f : backoff};
  if (is_unknown) {
    unknown_ = word;
    unigrams_[0] = value;
  } else {
    words_.intern(word);
    unigrams_.push_back(value);
  }
  ++facts_.counts[0];
}

// The value of an n-gram below the highest order, or null.
NgramValue* NgramBuilder::lookup(std::size_t order, NgramKey key, WordId newest) {
  if (order == 1) return &unigrams_[newest];
  const auto found = middle_[order - 2].find(key);
  return found ? &found->bucket->values[found->index] : nullptr;
}

NgramValue* NgramBuilder::lookup(std::span<const WordId> words) {
  return lookup(words.size(), key_of_all(words), words.back());
}

void NgramBuilder::add(std::span<const WordId> words, float log10, float backoff, std::size_t line) {
  const std::size_t n = words.size();
  if (n == 2) rests().add(words[0], words[1], -std::abs(log10));
  Waiting& ngram = waiting_.emplace_back();
  ngram.line = line;
  ngram.order = static_cast<std::uint32_t>(n);
  ngram.value = {-std::abs(log10), backoff == 0 ? -0.0f : backoff};
  ngram.suffix = key_of_all(words.last(n - 1));
  ngram.key = extend_key(ngram.suffix, words.front());
  ngram.context = key_of_all(words.first(n - 1));
  std::copy(words.begin(), words.end(), ngram.words.begin());
  n == order() ? last_.prefetch(ngram.key) : middle_[n - 2].prefetch(ngram.key);
  if (n > 2) {
    middle_[n - 3].prefetch(ngram.suffix);
    middle_[n - 3].prefetch(ngram.context);
  }
  if (waiting_.size() == kWaiting) enter_all();
}

RestCosts& NgramBuilder::rests() {
  // A model without <s> or </s> is refused in the end.
  if (!rests_) rests_.emplace(unigrams_, find("<s>").value_or(0), find("</s>").value_or(0));
  return *rests_;
}

void NgramBuilder::enter_all() {
  for (const Waiting& ngram : waiting_) enter(ngram);
  waiting_.clear();
}

// Notes the words of an n-gram for exports, which need them.
void NgramBuilder::list(std::span<const WordId> words) {
  constexpr std::size_t kBuffer = 1 << 20, kWord = sizeof(std::uint32_t);
  Listed& listed = listed_[words.size() - 2];
  listed.words.append(words);
  const std::span<const std::uint8_t> bytes = listed.words.bytes();
  if (!listed.file || bytes.size() < kBuffer) return;
  const std::size_t whole = bytes.size() / kWord;
  listed.file->append(reinterpret_cast<const std::uint32_t*>(bytes.data()), whole);
  listed.words.drop(whole * kWord);
}

// Releases the pages of tables in files when too many are in memory.
void NgramBuilder::hold_less() {
  if (!held_ || !held_->too_many()) return;
  for (const auto& table : middle_) table.release();
  last_.release();
}

void NgramBuilder::enter(const Waiting& ngram) {
  hold_less();
  const std::size_t n = ngram.order;
  const std::span<const WordId> words(ngram.words.data(), n);
  const bool known = n == order() ? last_.find(ngram.key).has_value() : middle_[n - 2].find(ngram.key).has_value();
  if (known)
    throw NgramError(ngram.line,
                     "the " + std::to_string(n) + "-gram " + spelled(words, words_) + " is here a second time");
  if (n == order()) {
    const auto [bucket, i] = last_.insert(ngram.key);
    bucket->probs[i] = ngram.value.prob;
  } else {
    const auto [bucket, i] = middle_[n - 2].insert(ngram.key);
    bucket->values[i] = ngram.value;
  }
  ++facts_.counts[n - 1];
  list(words);
  NgramValue* suffix = lookup(n - 1, ngram.suffix, words.back());
  if (suffix == nullptr) {
    add_blanks(words);
    suffix = lookup(n - 1, ngram.suffix, words.back());
  }
  suffix->mark_left();
  // A backoff is charged by a state that holds the whole n-gram. The parts of a text must agree on how long its state
  // is, so what ends in this one is kept as a context too.
  if (NgramValue::extends_right(ngram.value.backoff) && n < order()) {
    for (std::size_t length = n - 1; !NgramValue::extends_right(suffix->backoff);) {
      suffix->mark_right();  // those that it ends in are marked already if it was
      if (--length == 0) break;
      suffix = lookup(words.last(length));
    }
  }
  if (NgramValue* const context = lookup(n - 1, ngram.context, words[n - 2])) {
    context->mark_right();
  } else {
    pending_.push_back({ngram.line, {words.begin(), words.end()}});
  }
}

// Puts in what an n-gram ends in, from the longest that is there on.
void NgramBuilder::add_blanks(std::span<const WordId> words) {
  std::size_t length = words.size() - 1;
  NgramValue* found = nullptr;
  while (found == nullptr) found = lookup(words.last(--length));
  found->mark_left();
  float log10 = found->log10();
  while (++length < words.size()) {
    const auto blank = words.last(length);
    if (NgramValue* const context = lookup(blank.first(length - 1))) {
      context->mark_right();
      log10 += context->backoff;
    } else {
      pending_.push_back({0, {blank.begin(), blank.end()}});
    }
    const auto [bucket, i] = middle_[length - 2].insert(key_of_all(blank));
    bucket->values[i] = {std::abs(log10), -0.0f};  // it extends left
    ++facts_.blanks[length - 1];
    list(blank);
  }
}

void NgramBuilder::end_order() {
  enter_all();
  // A context that came as a blank after what it is the context of is a context all the same.
  for (const Pending& pending : std::exchange(pending_, {})) {
    const auto context = std::span(pending.words).first(pending.words.size() - 1);
    if (NgramValue* const found = lookup(context)) {
      found->mark_right();
    } else if (pending.line != 0) {
      throw NgramError(pending.line, "the " + std::to_string(pending.words.size()) + "-gram " +
                                         spelled(pending.words, words_) + " begins with " + spelled(context, words_) +
                                         ", which is no " + std::to_string(context.size()) + "-gram");
    }
  }
}

NgramBuilder::Begun NgramBuilder::begin_sections(NgramLayout layout, const WordClasses* classes) {
  for (const char* const marker : {"<s>", "</s>"}) {
    if (!find(marker)) throw std::invalid_argument(std::string("has no 1-gram ") + marker);
  }
  facts_.layout = layout;
  facts_.begin_sentence = *find("<s>");
  facts_.end_sentence = *find("</s>");
  facts_.unknown_added = unknown_.empty() ? 1 : 0;
  Sections sections(NgramModel::kKind, NgramModel::kVersion);
  const std::span<NgramFacts> facts = sections.add<NgramFacts>("model", 1);
  Strings words;
  for (WordId word = 0; word < words_.size(); ++word) words.append(words_.text(word));
  Vocabulary::add_sections(words, sections);
  std::copy(unigrams_.begin(), unigrams_.end(), sections.add<NgramValue>("unigrams", unigrams_.size()).begin());
  if (order() > 1) std::ranges::copy(rests().finish(), sections.add<float>("rests", unigrams_.size()).begin());
  if (classes != nullptr) add_classes(*classes, sections);
  return {std::move(sections), facts};
}

Sections NgramBuilder::finish(NgramLayout layout, const WordClasses* classes) {
  auto [sections, facts] = begin_sections(layout, classes);
  if (order() > 1) layout == NgramLayout::fast ? add_fast(sections) : add_small(sections);
  facts[0] = facts_;
  return std::move(sections);
}

void NgramBuilder::write(const std::string& path, NgramLayout layout, const WordClasses* classes) {
  auto [first, facts] = begin_sections(layout, classes);
  std::vector<StreamedSection> streamed;
  if (order() > 1) streamed = layout == NgramLayout::fast ? stream_fast() : stream_small(first);
  facts[0] = facts_;
  write_sections(path, NgramModel::kKind, NgramModel::kVersion, first, streamed);
}

void NgramBuilder::add_classes(const WordClasses& classes, Sections& sections) const {
  Strings words;
  words.append(kSpecialWords[kUnknownWord]);
  for (std::size_t i = 0; i < classes.size(); ++i) words.append(classes.word(i));
  Vocabulary::add_sections(words, sections, "classed");
  const std::span<WordId> ids = sections.add<WordId>("classes", words.size());
  for (std::size_t i = 0; i < classes.size(); ++i) ids[i + 1] = find(std::to_string(classes.of(i))).value_or(0);
}

namespace {

std::string table_name(std::size_t order) { return "table." + std::to_string(order); }

// A section of buckets in memory, or in pages that are released as they are written.
template <class Bucket, class Release>
StreamedSection stream(std::size_t order, std::span<const Bucket> buckets, const Release& release) {
  const std::span<const std::byte> all = std::as_bytes(buckets);
  const auto produce = [all, release](const StreamedSection::Give& give) {
    for (std::span<const std::byte> left = all; !left.empty();) {
      const std::span<const std::byte> piece = left.first(std::min(kHeldBytes, left.size()));
      give(piece);
      release();
      left = left.subspan(piece.size());
    }
  };
  return {table_name(order), all.size(), produce};
}

// The centres of values, and how far a value is from its centre at most. The codes are their numbers.
std::vector<float> codes_of(DistinctValues values, std::size_t count, float* codes, float& error) {
  Quantisation q = quantise(std::move(values).take(), count);
  std::copy(q.centres.begin(), q.centres.end(), codes);
  error = q.error;
  return std::move(q.centres);
}

template <class Bucket>
std::size_t small_buckets(std::uint64_t count) {
  return buckets_at(kSmallLoad, count, Bucket::kPlaces);
}

// Both fill a table of the small layout. after() is called when many values were read or written.
template <class After>
void make_small(const GrowingTable<FastBucket>& table, std::size_t n, std::span<SmallBucket> to, Codebook& codebook,
                NgramFacts& facts, const After& after) {
  constexpr std::size_t kBackoffs = 254;  // the first two codes are 0, without and with extension
  DistinctValues probabilities, others;
  const auto note = [&](const FastBucket& b, unsigned i) {
    probabilities.add(b.values[i].log10());
    if (b.values[i].backoff != 0) others.add(b.values[i].backoff);
  };
  for_each(table, note, after);
  const auto probs = codes_of(std::move(probabilities), 256, codebook.prob, facts.prob_error[n - 1]);
  codebook.backoff[0] = -0.0f;
  codebook.backoff[1] = 0.0f;
  const auto backoffs = codes_of(std::move(others), kBackoffs, codebook.backoff + 2, facts.backoff_error[n - 1]);
  const auto put = [&](const FastBucket& from, unsigned i) {
    const NgramValue value = from.values[i];
    const auto found = place_small(to, from.keys[i]);
    if (!found) {
      ++facts.shadowed[n - 1];
      return;
    }
    const auto [bucket, j] = *found;
    if (value.extends_left()) bucket->high[j] |= 0x80;
    bucket->probs[j] = static_cast<std::uint8_t>(nearest(probs, value.log10()));
    bucket->backoffs[j] = value.backoff != 0 ? static_cast<std::uint8_t>(2 + nearest(backoffs, value.backoff))
                          : NgramValue::extends_right(value.backoff) ? 1
                                                                     : 0;
  };
  for_each(table, put, after);
}

template <class After>
void make_small(const GrowingTable<FastLastBucket>& table, std::size_t n, std::span<SmallLastBucket> to,
                Codebook& codebook, NgramFacts& facts, const After& after) {
  DistinctValues values;
  for_each(table, [&](const FastLastBucket& b, unsigned i) { values.add(b.probs[i]); }, after);
  const auto probs = codes_of(std::move(values), 256, codebook.prob, facts.prob_error[n - 1]);
  const auto put = [&](const FastLastBucket& from, unsigned i) {
    if (const auto found = place_small(to, from.keys[i])) {
      found->first->probs[found->second] = static_cast<std::uint8_t>(nearest(probs, from.probs[i]));
    } else {
      ++facts.shadowed[n - 1];
    }
  };
  for_each(table, put, after);
}

}  // namespace

void NgramBuilder::add_fast(Sections& sections) {
  const auto add = [&](std::size_t n, auto& table) {
    table.fit();
    sections.adopt(table_name(n), std::move(table).take_pages());
  };
  for (std::size_t i = 0; i < middle_.size(); ++i) add(i + 2, middle_[i]);
  add(order(), last_);
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const std::span<const std::uint8_t> bytes = listed_[i].words.bytes();
    std::copy(bytes.begin(), bytes.end(),
              sections.add<std::uint8_t>(NgramModel::list_name(i + 2), bytes.size()).begin());
  }
}

std::vector<StreamedSection> NgramBuilder::stream_fast() {
  std::vector<StreamedSection> out;
  const auto add = [&](std::size_t n, auto& table) {
    table.fit();
    out.push_back(stream(n, table.buckets(), [&table] { table.release(); }));
  };
  for (std::size_t i = 0; i < middle_.size(); ++i) add(i + 2, middle_[i]);
  add(order(), last_);
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const Listed& listed = listed_[i];
    const auto produce = [&listed](const StreamedSection::Give& give) {
      std::vector<std::uint32_t> buffer(1 << 18);
      for (std::uint64_t at = 0; at < listed.file->size();) {
        const std::size_t count = std::min<std::uint64_t>(buffer.size(), listed.file->size() - at);
        listed.file->read(at, buffer.data(), count);
        give(std::as_bytes(std::span(buffer).first(count)));
        at += count;
      }
      give(std::as_bytes(listed.words.bytes()));
    };
    const std::uint64_t size = listed.file->size() * sizeof(std::uint32_t) + listed.words.bytes().size();
    out.push_back({NgramModel::list_name(i + 2), size, produce});
  }
  return out;
}

void NgramBuilder::add_small(Sections& sections) {
  const std::span<Codebook> codebooks = sections.add<Codebook>("codes", order() - 1);
  const auto nothing = [] {};
  for (std::size_t n = 2; n < order(); ++n) {
    const GrowingTable<FastBucket> table = std::move(middle_[n - 2]);
    const auto to = sections.add<SmallBucket>(table_name(n), small_buckets<SmallBucket>(table.size()));
    make_small(table, n, to, codebooks[n - 2], facts_, nothing);
  }
  const GrowingTable<FastLastBucket> table = std::move(last_);
  const auto to = sections.add<SmallLastBucket>(table_name(order()), small_buckets<SmallLastBucket>(table.size()));
  make_small(table, order(), to, codebooks.back(), facts_, nothing);
}

std::vector<StreamedSection> NgramBuilder::stream_small(Sections& first) {
  const std::span<Codebook> codebooks = first.add<Codebook>("codes", order() - 1);
  std::vector<StreamedSection> out;
  const auto add = [&]<class Bucket>(std::size_t n, auto& given, std::type_identity<Bucket>) {
    const auto table = std::move(given);
    const std::size_t buckets = small_buckets<Bucket>(table.size());
    const auto pages = std::make_shared<ScratchPages>(buckets * sizeof(Bucket), table.folder());
    const std::span<Bucket> to(reinterpret_cast<Bucket*>(pages->writable().data()), buckets);
    const auto release = [pages] { pages->release(); };
    make_small(table, n, to, codebooks[n - 2], facts_, release);
    out.push_back(stream(n, std::span<const Bucket>(to), release));
  };
  for (std::size_t n = 2; n < order(); ++n) add(n, middle_[n - 2], std::type_identity<SmallBucket>());
  add(order(), last_, std::type_identity<SmallLastBucket>());
  return out;
}

}  // namespace treeglot
