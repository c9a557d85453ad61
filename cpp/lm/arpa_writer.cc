#include "lm/arpa_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/error.h"

namespace treeglot {
namespace {

constexpr std::size_t kWide = 16;           // bytes copied at a time: most words are shorter
constexpr std::size_t kLongestNumber = 16;  // "-99.0000000" and to spare

constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// A logarithm in [−99, 99] with seven decimals, the precision of a float of that size. The shortest digits that give
// the float back would cost ten times as much.
char* write_number(char* at, float value) {
  const auto scaled = static_cast<std::uint64_t>(std::abs(double{value}) * 1e7 + 0.5);
  if (scaled == 0) {
    *at = '0';
    return at + 1;
  }
  const auto whole = static_cast<std::uint32_t>(scaled / 10000000);
  const auto decimals = static_cast<std::uint32_t>(scaled % 10000000);
  if (value < 0) *at++ = '-';  // back-off weights can be above 1
  if (whole >= 10) *at++ = static_cast<char>('0' + whole / 10);
  *at++ = static_cast<char>('0' + whole % 10);
  if (decimals == 0) return at;
  *at++ = '.';
  std::memcpy(at, &kPairs[2 * (decimals / 100000)], 2);
  std::memcpy(at + 2, &kPairs[2 * (decimals / 1000 % 100)], 2);
  std::memcpy(at + 4, &kPairs[2 * (decimals / 10 % 100)], 2);
  at[6] = static_cast<char>('0' + decimals % 10);
  return at + 7;
}

}  // namespace

void ArpaWriter::begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) {
  texts_.clear();
  ends_.clear();
  for (Symbol word = 0; word < vocabulary.size(); ++word) {
    const std::string_view text = vocabulary.text(word);
    if (text.empty() || text.find_first_of(" \t\n\v\f\r") != std::string_view::npos) {
      throw std::invalid_argument("the word " + quoted(text) + " cannot be written to an ARPA file; expected no space");
    }
    texts_.append(text);
    ends_.push_back(texts_.size());
    longest_ = std::max(longest_, text.size());
  }
  texts_.append(kWide, '\0');  // a wide copy of the last word stays inside
  std::string header = "\\data\\\n";
  for (std::size_t order = 1; order <= sizes.size(); ++order) {
    header += "ngram " + std::to_string(order) + "=" + std::to_string(sizes[order - 1]) + "\n";
  }
  write_(header);
}

void ArpaWriter::begin_order(unsigned order) { write_("\n\\" + std::to_string(order) + "-grams:\n"); }

Rendered ArpaWriter::render(const NgramBatch& batch) const {
  // What a line may need; only a text with a very long word makes lines for which the first guess is too short.
  const std::size_t bound = batch.order * (longest_ + 1) + kWide + 2 * kLongestNumber;
  std::size_t capacity = batch.size() * (batch.order * 8 + 2 * kLongestNumber) + bound;
  Rendered rendered{std::make_unique_for_overwrite<char[]>(capacity), 0};
  char* at = rendered.bytes.get();
  const Symbol* word = batch.words.data();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto used = static_cast<std::size_t>(at - rendered.bytes.get());
    if (capacity - used < bound) {
      capacity = capacity * 2 + bound;
      auto larger = std::make_unique_for_overwrite<char[]>(capacity);
      std::memcpy(larger.get(), rendered.bytes.get(), used);
      rendered.bytes = std::move(larger);
      at = rendered.bytes.get() + used;
    }
    at = write_number(at, batch.log10_probability[i]);
    *at++ = '\t';
    for (unsigned k = 0; k < batch.order; ++k, ++word) {
      const std::uint64_t begin = *word == 0 ? 0 : ends_[*word - 1];
      const std::uint64_t size = ends_[*word] - begin;
      if (size <= kWide) {
        std::memcpy(at, texts_.data() + begin, kWide);
      } else {
        std::memcpy(at, texts_.data() + begin, size);
      }
      at += size;
      *at++ = ' ';
    }
    --at;
    if (!batch.log10_backoff.empty()) {
      *at++ = '\t';
      at = write_number(at, batch.log10_backoff[i]);
    }
    *at++ = '\n';
  }
  rendered.size = static_cast<std::size_t>(at - rendered.bytes.get());
  return rendered;
}

void ArpaWriter::take(NgramBatch&&, Rendered&& rendered) { write_(rendered.view()); }

void ArpaWriter::end() { write_("\n\\end\\\n"); }

}  // namespace treeglot
