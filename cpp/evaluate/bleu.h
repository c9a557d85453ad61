// BLEU (Papineni et al. 2002) with any number of references.
#pragma once

#include <cstdint>

#include "evaluate/metric.h"

namespace treeglot {

// Which reference's length a sentence is held against.
enum class LengthChoice : std::uint8_t {
  closest,   // that nearest to the translation's, of two the shorter: mteval-v13a, sacreBLEU
  shortest,  // mteval-v11b
};

// What is done about n-grams without a match.
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

  std::size_t width() const override { return 2 + 2 * std::size_t{options_.order}; }
  bool higher_is_better() const override { return true; }
  double score(std::span<const double> sum) const override;
  double score_of_part(std::span<const double> part, std::span<const double> whole) const override;
  std::shared_ptr<const References> prepare(ReferenceLines lines) const override;

 private:
  BleuOptions options_;
};

}  // namespace treeglot
