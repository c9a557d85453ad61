#include "decode/consensus.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "base/hash_index.h"
#include "base/symbols.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kMostOrder = 16;

std::vector<Symbol> words_of(std::string_view text, Symbols& symbols) {
  std::vector<Symbol> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(symbols.intern(text.substr(begin, end - begin)));
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

// The probabilities of a list's texts: softmax of their scores.
std::vector<double> probabilities(std::span<const ScoredText> list, double scale) {
  std::vector<double> out;
  for (const ScoredText& one : list) {
    if (!std::isfinite(scale * one.score)) {
      throw std::invalid_argument("a score of " + std::to_string(one.score) + " and a scale of " +
                                  std::to_string(scale) + "; expected finite numbers");
    }
    out.push_back(scale * one.score);
  }
  if (out.empty()) return out;
  const double best = *std::ranges::max_element(out);
  double sum = 0;
  for (double& value : out) sum += value = std::exp(value - best);
  for (double& value : out) value /= sum;
  return out;
}

// The texts of a sentence, each once, and their n-grams: an n-gram is its prefix's number and its last word.
class Texts {
 public:
  explicit Texts(std::uint32_t order) : order_(order) {}

  std::uint32_t add(const std::string& text) {
    const Symbol number = numbers_.intern(text);
    if (number == ngrams_.size()) ngrams_.push_back(number_ngrams(words_of(text, words_)));
    return number;
  }
  std::size_t size() const { return ngrams_.size(); }
  std::string text(std::uint32_t number) const { return std::string(numbers_.text(number)); }
  std::size_t ngrams() const { return known_.size(); }
  // By order, the numbers of a text's n-grams, one that it has twice twice.
  std::span<const std::vector<std::uint32_t>> ngrams(std::size_t text) const { return ngrams_[text]; }

 private:
  struct Ngram {
    std::uint32_t prefix;
    Symbol word;
    friend bool operator==(const Ngram&, const Ngram&) = default;
  };

  std::vector<std::vector<std::uint32_t>> number_ngrams(std::span<const Symbol> words) {
    std::vector<std::vector<std::uint32_t>> out(order_);
    for (std::size_t begin = 0; begin < words.size(); ++begin) {
      std::uint32_t at = HashIndex::kNone;
      for (std::size_t n = 0; n < order_ && begin + n < words.size(); ++n) {
        at = intern({at, words[begin + n]});
        out[n].push_back(at);
      }
    }
    return out;
  }
  std::uint32_t intern(const Ngram& ngram) {
    const auto next = static_cast<std::uint32_t>(known_.size());
    const std::uint64_t hash = hash_number(std::uint64_t{ngram.prefix} << 32 | ngram.word);
    const std::uint32_t found =
        index_.intern(hash, next, [&](std::uint32_t number) { return known_[number] == ngram; });
    if (found == next) known_.push_back(ngram);
    return found;
  }

  std::uint32_t order_;
  Symbols numbers_, words_;
  std::vector<std::vector<std::vector<std::uint32_t>>> ngrams_;  // by text, then order
  std::vector<Ngram> known_;
  HashIndex index_;
};

// By n-gram: the probability of the texts that have it, given that of each text.
std::vector<double> ngram_probabilities(const Texts& texts, std::span<const double> own) {
  std::vector<double> out(texts.ngrams());
  std::vector<std::size_t> last(texts.ngrams(), own.size());  // the text that an n-gram was counted for
  for (std::size_t text = 0; text < own.size(); ++text) {
    for (const auto& same_order : texts.ngrams(text)) {
      for (const std::uint32_t ngram : same_order) {
        if (last[ngram] != text) out[ngram] += own[text];
        last[ngram] = text;
      }
    }
  }
  return out;
}

}  // namespace

Agreement agreement(std::span<const std::vector<ScoredText>> lists, const ConsensusOptions& options) {
  if (options.order < 1 || options.order > kMostOrder) {
    throw std::invalid_argument("an order of " + std::to_string(options.order) + "; expected 1 to 16");
  }
  Texts texts(options.order);
  std::vector<std::vector<double>> own(lists.size());  // by list and text: its probability
  for (std::size_t l = 0; l < lists.size(); ++l) {
    const std::vector<double> each = probabilities(lists[l], options.scale);
    for (std::size_t i = 0; i < lists[l].size(); ++i) {
      const std::uint32_t text = texts.add(lists[l][i].text);
      own[l].resize(std::max<std::size_t>(own[l].size(), text + 1));
      own[l][text] += each[i];
    }
  }
  Agreement out;
  const std::size_t width = Agreement::width(lists.size(), options.order);
  out.values.assign(texts.size() * width, 0.0);
  for (std::uint32_t text = 0; text < texts.size(); ++text) {
    out.texts.push_back(texts.text(text));
    out.values[text * width] = static_cast<double>(texts.ngrams(text)[0].size());
  }
  for (std::size_t l = 0; l < lists.size(); ++l) {
    own[l].resize(texts.size());
    const std::vector<double> probability = ngram_probabilities(texts, own[l]);
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const auto row = std::span(out.values).subspan(text * width + 1 + l * (1 + options.order), 1 + options.order);
      row[0] = own[l][text];
      for (std::size_t n = 0; n < options.order; ++n) {
        for (const std::uint32_t ngram : texts.ngrams(text)[n]) row[1 + n] += probability[ngram];
      }
    }
  }
  return out;
}

}  // namespace treeglot
