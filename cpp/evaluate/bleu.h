// BLEU (Papineni et al. 2002) with any number of references.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "evaluate/metric.h"

namespace treeglot {

// Which reference's length counts for a sentence.
enum class LengthChoice : std::uint8_t {
  closest,   // that nearest to the translation's, of two the shorter: mteval-v13a, sacreBLEU
  shortest,  // mteval-v11b
};

// How n-grams without a match are smoothed.
enum class Smoothing : std::uint8_t {
  none,
  exponential,     // NIST's: 1/2 match for the first order without one, 1/4 for the second …; sacreBLEU's default
  add_one,         // one more match and one more n-gram for n > 1 (Lin and Och 2004): BLEU+1
  add_one_length,  // the same, and a reference that is one word longer (Nakov et al. 2012), lest short output win
};

struct BleuOptions {
  std::uint32_t order = 4;
  LengthChoice length = LengthChoice::closest;
  Smoothing smoothing = Smoothing::exponential;
};

// Statistics: words of the translation, words of the reference, matches for each order, n-grams of the translation for
// each.
class Bleu final : public Metric {
 public:
  explicit Bleu(const BleuOptions& options);

  const BleuOptions& options() const { return options_; }
  std::size_t width() const override { return 2 + 2 * std::size_t{options_.order}; }
  double score(std::span<const double> sum) const override;
  double score_of_part(std::span<const double> part, std::span<const double> whole) const override;

 private:
  BleuOptions options_;
};

// One list of lines for each reference translation of the whole corpus, all of the same length.
using ReferenceLines = std::span<const std::vector<std::string>>;

// The references of a corpus, made ready for BLEU. Immutable: threads may share it.
class References {
 public:
  // Refuses no references, and references of different lengths.
  References(const Bleu& metric, ReferenceLines lines);

  std::size_t sentences() const { return roots_.size(); }
  std::size_t width() const { return metric_.width(); }
  // Rows of statistics, one after another: translation i is one of sentence sentences[i]. Refuses sentences that the
  // references lack.
  std::vector<double> statistics(std::span<const std::string> translations,
                                 std::span<const std::uint32_t> sentences) const;

 private:
  // The n-grams of references, as paths from the root of a sentence. An n-gram is its prefix's node and its last word,
  // so they are exact for any order.
  using Node = std::uint32_t;
  static constexpr Node kNone = HashIndex::kNone;
  struct Ngram {
    Node prefix = kNone;
    Symbol word = 0;
    std::uint32_t count = 0;  // in that reference which has it most
  };

  void add_ngrams(Node root, std::span<const Symbol> words);
  void count_matches(Node root, std::span<const Symbol> words, std::span<double> matches) const;
  Node find(Node prefix, Symbol word) const;
  Node add(const Ngram& ngram);
  void count(std::string_view translation, std::size_t sentence, std::span<double> out) const;
  std::size_t reference_length(std::size_t words, std::size_t sentence) const;

  Bleu metric_;
  std::size_t references_;
  Symbols symbols_;
  std::vector<Ngram> ngrams_;  // by node
  HashIndex index_;
  std::vector<Node> roots_;           // by sentence
  std::vector<std::size_t> lengths_;  // by sentence, then reference
};

}  // namespace treeglot
