// The n-grams of one order in a hash table of cache lines. Both layouts answer with one line read, rarely two.
//
// A key is made from the newest word to the oldest. So the keys of all suffixes of an n-gram are on the way to its own.
// Extending an n-gram to the left is one step. A bucket is one line; one that is full continues in the next. `Middle`
// tables hold the orders below the highest, `Last` tables the highest, which has no backoffs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/symbols.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace treeglot {

using WordId = std::uint32_t;
using NgramKey = std::uint64_t;

__extension__ using Wide = unsigned __int128;

inline NgramKey key_of(WordId word) { return (word + std::uint64_t{1}) * 0x9e3779b97f4a7c15u; }

// The key of an n-gram with `older` put before it.
inline NgramKey extend_key(NgramKey key, WordId older) {
  const Wide product =
      static_cast<Wide>(key ^ ((older + std::uint64_t{1}) * 0xd6e8feb86659fd93u)) * 0xa0761d6478bd642fu;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A log10 probability, never above 0, and a log10 backoff with two facts in their sign bits. The facts keep states
// short: a context beyond which nothing changes is cut.
//
//   a set sign of `prob`: no longer n-gram ends in this one;
//   a backoff of −0.0: the backoff is 0 and no n-gram begins with this one.
struct NgramValue {
  float prob;
  float backoff;

  float log10() const { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(prob) | 0x80000000u); }
  bool extends_left() const { return (std::bit_cast<std::uint32_t>(prob) & 0x80000000u) == 0; }
  void mark_left() { prob = std::bit_cast<float>(std::bit_cast<std::uint32_t>(prob) & 0x7fffffffu); }
  void mark_right() {
    if (!extends_right(backoff)) backoff = 0.0f;
  }
  static bool extends_right(float backoff) { return std::bit_cast<std::uint32_t>(backoff) != 0x80000000u; }
};

// No log10 value of a model is farther from 0: the sums of a search stay finite. ARPA files have −99 for 0.
constexpr float kMostLog10 = 1e9f;

// 1 for values beyond it and those that are no numbers, 0 for others: to add up over arrays, without jumps.
inline std::uint32_t too_large(float log10) {
  return (std::bit_cast<std::uint32_t>(log10) & 0x7fffffffu) > std::bit_cast<std::uint32_t>(kMostLog10) ? 1u : 0u;
}
inline bool unsound_value(const NgramValue& value) { return (too_large(value.prob) | too_large(value.backoff)) != 0; }

// Keys count without their last bit, which tables of the fast layout use for themselves.
constexpr NgramKey kKeyBits = ~NgramKey{1};

// Buckets over [0, 2^64) in equal parts: the high bits of a key choose, so low bits are free to be fingerprints.
template <class Bucket>
class BucketTable {
  static constexpr std::size_t kLongestRun = 4096;  // far more than hashing makes, at any load and size

 public:
  BucketTable() = default;
  explicit BucketTable(std::span<const Bucket> buckets) : buckets_(buckets.data()), size_(buckets.size()) {}

  // Whether searches end soon and within the buckets, and no value is too large.
  bool sound() const {
    std::size_t run = 0, longest = 0;
    std::uint32_t bad = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      run = buckets_[i].continues() ? run + 1 : 0;
      longest = std::max(longest, run);
      bad |= buckets_[i].unsound();
    }
    return bad == 0 && longest <= kLongestRun;
  }

  // The same of the buckets where a key is searched. use(bucket) verifies the bytes of one before it is read.
  template <class Use>
  bool sound_for(NgramKey key, const Use& use) const {
    std::size_t at = home(key);
    for (std::size_t run = 0; run <= std::min(kLongestRun, size_); ++run) {
      use(buckets_[at]);
      if (buckets_[at].unsound() != 0) return false;
      if (!buckets_[at].continues()) return true;
      at = after(at);
    }
    return false;
  }

  std::size_t home(NgramKey key) const { return place_of(key & kKeyBits, size_); }
  std::size_t after(std::size_t bucket) const { return bucket + 1 == size_ ? 0 : bucket + 1; }
  bool continues(std::size_t bucket) const { return buckets_[bucket].continues(); }
  std::size_t size() const { return size_; }
  void prefetch(NgramKey key) const { prefetch_bucket(home(key)); }
  void prefetch_bucket(std::size_t bucket) const { __builtin_prefetch(buckets_ + bucket); }

 protected:
  const Bucket* buckets_ = nullptr;
  std::size_t size_ = 0;
};

// The whole search for a key. A table has look(bucket, key, value), which says whether the key is in one bucket. If it
// is not, look may write anything to the value. It is inlined even in the bindings, which are compiled for size: the
// linker could keep their copy for the search.
template <class Table>
[[gnu::always_inline]] inline bool find(const Table& table, NgramKey key, NgramValue& value) {
  const std::size_t home = table.home(key);
  for (std::size_t at = home;;) {
    if (table.look(at, key, value)) return true;
    if (!table.continues(at)) return false;
    at = table.after(at);
    if (at == home) return false;  // only in a table that was not verified
  }
}

// ---------------------------------------------------------------- fast: long keys, exact values

// No key is 0, which is an empty place. The last bit of a bucket's first key says that the bucket continues: one that
// is just full is not searched beyond.
inline NgramKey stored_key(NgramKey key) { return key < 2 ? 2 : key & kKeyBits; }

struct alignas(64) FastBucket {
  static constexpr unsigned kPlaces = 4;
  NgramKey keys[kPlaces];
  NgramValue values[kPlaces];

  NgramValue value(unsigned place) const { return values[place]; }
  std::uint32_t unsound() const {  // 0: sound
    std::uint32_t bad = 0;
    for (const NgramValue& value : values) bad |= too_large(value.prob) | too_large(value.backoff);
    return bad;
  }
  bool continues() const { return (keys[0] & 1) != 0; }
};

struct alignas(64) FastLastBucket {
  static constexpr unsigned kPlaces = 5;
  NgramKey keys[kPlaces];
  float probs[kPlaces];
  std::uint32_t zero;

  NgramValue value(unsigned place) const { return {probs[place], -0.0f}; }
  std::uint32_t unsound() const {
    std::uint32_t bad = 0;
    for (const float prob : probs) bad |= too_large(prob);
    return bad;
  }
  bool continues() const { return (keys[0] & 1) != 0; }
};

template <class Bucket>
class FastTable : public BucketTable<Bucket> {
  static_assert(sizeof(Bucket) == 64);

 public:
  using BucketTable<Bucket>::BucketTable;
  bool look(std::size_t at, NgramKey key, NgramValue& value) const {
    key = stored_key(key);
    const Bucket& bucket = this->buckets_[at];
    // Which place a key has is as good as random: it is summed up, not branched on.
    unsigned place = 0;
    for (unsigned i = 1; i < Bucket::kPlaces; ++i) place += bucket.keys[i] == key ? i : 0;
    value = bucket.value(place);
    return (bucket.keys[place] & kKeyBits) == key;
  }
  // A bit of 64 for a key, and those of the keys in a bucket.
  static std::uint64_t mark(NgramKey key) { return std::uint64_t{1} << ((stored_key(key) >> 1) & 63); }
  std::uint64_t marks(std::size_t at) const {
    std::uint64_t all = 0;
    for (const NgramKey key : this->buckets_[at].keys) all |= key != 0 ? mark(key & kKeyBits) : 0;
    return all;
  }
};

// ---------------------------------------------------------------- small: fingerprints, 8-bit values

// Values by code. Code 0 of a backoff is −0.0 and code 1 is 0.0; the others stand for what is near them.
struct Codebook {
  float prob[256];
  float backoff[256];
};

struct alignas(64) SmallBucket {
  static constexpr unsigned kPlaces = 12;
  static constexpr std::uint8_t kHighMask = 0x7f;  // 23 bits of fingerprint; the other one: it extends left
  std::uint16_t low[kPlaces];
  std::uint8_t high[kPlaces];
  std::uint8_t probs[kPlaces];
  std::uint8_t backoffs[kPlaces];
  std::uint8_t used;
  std::uint8_t overflows;
  std::uint8_t zero[2];

  NgramValue value(unsigned place, const Codebook& codes) const {
    const std::uint32_t sign = (high[place] & 0x80u) << 24;
    const auto prob = std::bit_cast<std::uint32_t>(codes.prob[probs[place]]);
    return {std::bit_cast<float>((prob | 0x80000000u) ^ sign), codes.backoff[backoffs[place]]};
  }
  bool continues() const { return overflows != 0; }
  std::uint32_t unsound() const { return used > kPlaces ? 1u : 0u; }
};

struct alignas(64) SmallLastBucket {
  static constexpr unsigned kPlaces = 15;
  static constexpr std::uint8_t kHighMask = 0xff;  // 24 bits of fingerprint
  std::uint16_t low[kPlaces];
  std::uint8_t high[kPlaces];
  std::uint8_t probs[kPlaces];
  std::uint8_t used;
  std::uint8_t overflows;
  std::uint8_t zero[2];

  NgramValue value(unsigned place, const Codebook& codes) const { return {codes.prob[probs[place]], -0.0f}; }
  bool continues() const { return overflows != 0; }
  std::uint32_t unsound() const { return used > kPlaces ? 1u : 0u; }
};

// Which of the numbers are equal to `number`, as bits; ignore those above kPlaces.
template <unsigned kPlaces>
unsigned equal_lanes(const std::uint16_t (&numbers)[kPlaces], std::uint16_t number) {
  static_assert(kPlaces > 8 && kPlaces <= 16);  // and a bucket has 32 bytes from `numbers` on
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(number));
  const auto* const at = reinterpret_cast<const __m128i*>(numbers);
  const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(at), wanted);
  const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(at + 1), wanted);
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  unsigned equal = 0;
  for (unsigned i = 0; i < kPlaces; ++i) equal |= (numbers[i] == number ? 1u : 0u) << i;
  return equal;
#endif
}

inline std::uint16_t low_fingerprint(NgramKey key) { return static_cast<std::uint16_t>(key >> 1); }
template <class Bucket>
std::uint8_t high_fingerprint(NgramKey key) {
  return static_cast<std::uint8_t>((key >> 17) & Bucket::kHighMask);
}

template <class Bucket>
class SmallTable : public BucketTable<Bucket> {
  static_assert(sizeof(Bucket) == 64);

 public:
  SmallTable() = default;
  SmallTable(std::span<const Bucket> buckets, const Codebook& codes) : BucketTable<Bucket>(buckets), codes_(&codes) {}

  bool look(std::size_t at, NgramKey key, NgramValue& value) const {
    const Bucket& bucket = this->buckets_[at];
    const auto low = low_fingerprint(key);
    const auto high = high_fingerprint<Bucket>(key);
    // Masked: in a file that was not verified the number may be any.
    unsigned candidates = equal_lanes(bucket.low, low) & ((1u << (bucket.used & 31)) - 1);
    // One that differs in the high part alone is one in 2^16: the loop hardly ever turns.
    for (;;) {
      const unsigned place = static_cast<unsigned>(std::countr_zero(candidates | 1u << (Bucket::kPlaces - 1)));
      value = bucket.value(place, *codes_);
      if (candidates == 0) return false;
      if ((bucket.high[place] & Bucket::kHighMask) == high) return true;
      candidates &= candidates - 1;
    }
  }

  static std::uint64_t mark(NgramKey key) { return std::uint64_t{1} << (low_fingerprint(key) & 63); }
  std::uint64_t marks(std::size_t at) const {
    const Bucket& bucket = this->buckets_[at];
    std::uint64_t all = 0;
    for (unsigned i = 0; i < std::min<unsigned>(bucket.used, Bucket::kPlaces); ++i)
      all |= std::uint64_t{1} << (bucket.low[i] & 63);
    return all;
  }

 private:
  const Codebook* codes_ = nullptr;
};

}  // namespace treeglot
