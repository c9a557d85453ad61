#include "evaluate/chrf.h"

#include <algorithm>
#include <stdexcept>

#include "evaluate/ngrams.h"
#include "evaluate/text.h"

namespace treeglot {
namespace {

class ChrfReferences final : public References {
 public:
  ChrfReferences(ReferenceLines lines, const Chrf& metric, const ChrfOptions& options)
      : metric_(metric), options_(options), references_(lines.size()) {
    check_references(lines);
    for (std::size_t sentence = 0; sentence < lines[0].size(); ++sentence) {
      for (const std::vector<std::string>& reference : lines) {
        Text text;
        text.characters = add(characters(reference[sentence]), options_.character_order);
        if (options_.word_order > 0) {
          std::vector<Symbol> words;
          for (const std::string_view word : words_and_marks(reference[sentence]))
            words.push_back(symbols_.intern(word));
          text.words = add(words, options_.word_order);
        }
        texts_.push_back(text);
      }
    }
  }

  std::size_t sentences() const override { return texts_.size() / references_; }
  std::size_t width() const override { return metric_.width(); }

  void statistics(std::string_view translation, std::size_t sentence, std::span<double> out) const override {
    const std::vector<std::uint32_t> letters = characters(translation);
    std::vector<Symbol> words;
    if (options_.word_order > 0) {
      for (const std::string_view word : words_and_marks(translation)) words.push_back(symbols_.find(word));
    }
    std::vector<double> row(width());
    double best = -1.0;
    for (const Text& text : std::span(texts_).subspan(sentence * references_, references_)) {
      compare(letters, text.characters, std::span(row).first(3 * options_.character_order));
      compare(words, text.words, std::span(row).subspan(3 * options_.character_order));
      const double score = metric_.score(row);
      if (score > best) {
        best = score;
        std::copy(row.begin(), row.end(), out.begin());
      }
    }
  }

 private:
  struct Side {
    Ngrams::Node root = Ngrams::kNone;
    std::size_t length = 0;
  };
  struct Text {
    Side characters, words;
  };

  Side add(std::span<const std::uint32_t> symbols, std::size_t order) {
    const Side side{ngrams_.add_root(), symbols.size()};
    ngrams_.add(side.root, symbols, order);
    return side;
  }

  void compare(std::span<const std::uint32_t> symbols, const Side& side, std::span<double> row) const {
    std::vector<double> matches(row.size() / 3);
    ngrams_.match(side.root, symbols, matches);
    const auto ngrams = [](std::size_t length, std::size_t n) {
      return length < n ? 0.0 : static_cast<double>(length - n + 1);
    };
    for (std::size_t n = 1; n <= matches.size(); ++n) {
      row[3 * n - 3] = side.length < n ? 0.0 : ngrams(symbols.size(), n);
      row[3 * n - 2] = ngrams(side.length, n);
      row[3 * n - 1] = matches[n - 1];
    }
  }

  Chrf metric_;
  ChrfOptions options_;
  std::size_t references_;
  Symbols symbols_;
  Ngrams ngrams_;
  std::vector<Text> texts_;  // by sentence, then reference
};

}  // namespace

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  if (options.character_order < 1 || options.character_order > 32 || options.word_order > 32) {
    throw std::invalid_argument("orders of " + std::to_string(options.character_order) + " characters and " +
                                std::to_string(options.word_order) + " words; expected 1 to 32 and 0 to 32");
  }
  if (!(options.beta > 0.0)) throw std::invalid_argument("beta must be above 0");
}

double Chrf::score(std::span<const double> sum) const {
  double precision = 0.0, recall = 0.0, orders = 0.0;
  for (std::size_t i = 0; i < sum.size(); i += 3) {
    if (sum[i] <= 0.0 || sum[i + 1] <= 0.0) continue;
    precision += sum[i + 2] / sum[i];
    recall += sum[i + 2] / sum[i + 1];
    orders += 1.0;
  }
  if (precision + recall == 0.0) return 0.0;
  precision /= orders;
  recall /= orders;
  const double factor = options_.beta * options_.beta;
  return 100.0 * (1.0 + factor) * precision * recall / (factor * precision + recall);
}

std::shared_ptr<const References> Chrf::prepare(ReferenceLines lines) const {
  return std::make_shared<ChrfReferences>(lines, *this, options_);
}

}  // namespace treeglot
