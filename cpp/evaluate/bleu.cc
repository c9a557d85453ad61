#include "evaluate/bleu.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "evaluate/ngrams.h"
#include "evaluate/text.h"

namespace treeglot {
namespace {

class BleuReferences final : public References {
 public:
  BleuReferences(ReferenceLines lines, const BleuOptions& options)
      : order_(options.order), length_(options.length), references_(lines.size()) {
    check_references(lines);
    for (std::size_t sentence = 0; sentence < lines[0].size(); ++sentence) {
      const Ngrams::Node root = ngrams_.add_root();
      for (const std::vector<std::string>& reference : lines) {
        const std::vector<Symbol> words = intern_words(symbols_, reference[sentence]);
        ngrams_.add(root, words, order_);
        lengths_.push_back(words.size());
      }
      roots_.push_back(root);
    }
  }

  std::size_t sentences() const override { return roots_.size(); }
  std::size_t width() const override { return 2 + 2 * order_; }

  void statistics(std::string_view translation, std::size_t sentence, std::span<double> out) const override {
    const std::vector<Symbol> words = find_words(symbols_, translation);
    out[0] = static_cast<double>(words.size());
    out[1] = static_cast<double>(reference_length(words.size(), sentence));
    ngrams_.match(roots_[sentence], words, out.subspan(2, order_));
    for (std::size_t n = 1; n <= order_; ++n) {
      out[1 + order_ + n] = words.size() < n ? 0.0 : static_cast<double>(words.size() - n + 1);
    }
  }

 private:
  std::size_t reference_length(std::size_t words, std::size_t sentence) const {
    const auto lengths = std::span(lengths_).subspan(sentence * references_, references_);
    const auto distance = [words](std::size_t length) { return length < words ? words - length : length - words; };
    return *std::min_element(lengths.begin(), lengths.end(), [&](std::size_t a, std::size_t b) {
      if (length_ == LengthChoice::shortest || distance(a) == distance(b)) return a < b;
      return distance(a) < distance(b);
    });
  }

  std::size_t order_;
  LengthChoice length_;
  std::size_t references_;
  Symbols symbols_;
  Ngrams ngrams_;
  std::vector<Ngrams::Node> roots_;   // by sentence
  std::vector<std::size_t> lengths_;  // by sentence, then reference
};

}  // namespace

Bleu::Bleu(const BleuOptions& options) : options_(options) {
  if (options.order < 1 || options.order > 32) {
    throw std::invalid_argument("an order of " + std::to_string(options.order) + "; expected 1 to 32");
  }
}

double Bleu::score(std::span<const double> sum) const {
  const std::size_t order = options_.order;
  const auto matches = sum.subspan(2, order), totals = sum.subspan(2 + order, order);
  if (std::none_of(matches.begin(), matches.end(), [](double m) { return m > 0.0; })) return 0.0;

  const bool plus_one = options_.smoothing == Smoothing::add_one || options_.smoothing == Smoothing::add_one_length;
  double logarithm = 0.0, missing = 1.0;
  std::size_t orders = 0;
  for (std::size_t n = 0; n < order; ++n) {
    const double plus = plus_one && n > 0 ? 1.0 : 0.0;
    double match = matches[n] + plus;
    const double total = totals[n] + plus;
    if (total == 0.0) break;
    if (match == 0.0) {
      if (options_.smoothing != Smoothing::exponential) return 0.0;
      missing *= 2.0;
      match = 1.0 / missing;
    }
    logarithm += std::log(match / total);
    ++orders;
  }
  if (orders < order) return 0.0;

  const double words = sum[0];
  const double wanted = sum[1] + (options_.smoothing == Smoothing::add_one_length ? 1.0 : 0.0);
  const double brevity = words < wanted ? 1.0 - wanted / words : 0.0;
  return 100.0 * std::exp(brevity + logarithm / static_cast<double>(orders));
}

double Bleu::score_of_part(std::span<const double> part, std::span<const double> whole) const {
  std::vector<double> sum(part.begin(), part.end());
  std::copy_n(whole.begin(), 2, sum.begin());  // the precisions of the part, the brevity penalty of all
  return score(sum);
}

std::shared_ptr<const References> Bleu::prepare(ReferenceLines lines) const {
  return std::make_shared<BleuReferences>(lines, options_);
}

}  // namespace treeglot
