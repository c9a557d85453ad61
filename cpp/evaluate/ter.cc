#include "evaluate/ter.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "evaluate/text.h"

namespace treeglot {
namespace {

constexpr std::size_t kLongestBlock = 10, kFarthestMove = 50, kMostMoves = 1000;  // tried for one sentence
constexpr std::size_t kBeam = 25;  // cells on either side of the diagonal

using Cost = std::uint32_t;
constexpr Cost kUnreached = 1u << 30;

enum class Edit : std::uint8_t { keep, substitute, remove, insert };  // as seen from the translation

struct Cell {
  Cost cost = kUnreached;
  Edit edit = Edit::keep;
};

// A translation beside a reference: for each reference word the translation's word that it stands for or after (−1:
// before the first), and how many words up to a place are wrong.
struct Comparison {
  std::vector<std::ptrdiff_t> place;
  std::vector<std::size_t> wrong_before, reference_wrong_before;

  bool all_right(std::size_t begin, std::size_t length) const {
    return wrong_before[begin + length] == wrong_before[begin];
  }
  bool reference_all_right(std::size_t begin, std::size_t length) const {
    return reference_wrong_before[begin + length] == reference_wrong_before[begin];
  }
};

// The edit distance of one reference from one translation and from what moves make of it, which begin alike.
class Distance {
 public:
  Distance(std::span<const Symbol> reference, std::size_t words)
      : reference_(reference),
        columns_(reference.size() + 1),
        rows_(words + 1),
        ratio_(words == 0 ? 1.0 : static_cast<double>(reference.size()) / static_cast<double>(words)),
        beam_(static_cast<double>(kBeam) < ratio_ / 2
                  ? static_cast<std::size_t>(std::ceil(ratio_ / 2 + static_cast<double>(kBeam)))
                  : kBeam),
        table_(rows_ * columns_),
        rolling_(2 * columns_) {
    for (std::size_t column = 0; column < columns_; ++column) {
      table_[column] = {static_cast<Cost>(column), Edit::insert};
    }
  }

  // Keeps the whole table.
  void set(std::span<const Symbol> words) {
    for (std::size_t row = 1; row < rows_; ++row) fill(row, words[row - 1], cells(row - 1), cells(row));
  }
  Cost cost() const { return table_.back().cost; }

  // The cost for words whose first `same` are those of the table.
  Cost cost_of(std::span<const Symbol> words, std::size_t same) {
    std::span<const Cell> above = cells(same);
    for (std::size_t row = same + 1; row < rows_; ++row) {
      const std::span<Cell> here = std::span(rolling_).subspan((row & 1) * columns_, columns_);
      fill(row, words[row - 1], above, here);
      above = here;
    }
    return above.back().cost;
  }

  Comparison comparison() const {
    Comparison out;
    std::size_t row = rows_ - 1, column = columns_ - 1;
    out.place.resize(column);
    out.wrong_before.resize(row + 1);
    out.reference_wrong_before.resize(column + 1);
    while (row > 0 || column > 0) {
      const Edit edit = table_[row * columns_ + column].edit;
      const std::size_t wrong = edit == Edit::keep ? 0 : 1;
      if (edit != Edit::remove) {
        out.place[column - 1] = static_cast<std::ptrdiff_t>(row) - 1;
        out.reference_wrong_before[column--] = wrong;
      }
      if (edit != Edit::insert) out.wrong_before[row--] = wrong;
    }
    for (auto* sums : {&out.wrong_before, &out.reference_wrong_before}) {
      for (std::size_t i = 1; i < sums->size(); ++i) (*sums)[i] += (*sums)[i - 1];
    }
    return out;
  }

 private:
  std::span<Cell> cells(std::size_t row) { return std::span(table_).subspan(row * columns_, columns_); }

  // Cells too far from the diagonal stay out of reach. Of equal ways the first counts: keeping or substituting,
  // removing, inserting. The rows' ranges overlap, so the last cell is always reached.
  void fill(std::size_t row, Symbol word, std::span<const Cell> above, std::span<Cell> here) const {
    const auto diagonal = static_cast<std::size_t>(std::floor(static_cast<double>(row) * ratio_));
    const std::size_t begin = diagonal > beam_ ? diagonal - beam_ : 0;
    const std::size_t end = row + 1 == rows_ ? columns_ : std::min(columns_, diagonal + beam_);
    std::fill(here.begin(), here.end(), Cell{});
    for (std::size_t column = begin; column < end; ++column) {
      Cell best;
      if (column > 0) {
        const bool same = word == reference_[column - 1];
        best = {above[column - 1].cost + (same ? 0 : 1), same ? Edit::keep : Edit::substitute};
      }
      if (above[column].cost + 1 < best.cost) best = {above[column].cost + 1, Edit::remove};
      if (column > 0 && here[column - 1].cost + 1 < best.cost) best = {here[column - 1].cost + 1, Edit::insert};
      here[column] = {std::min(best.cost, kUnreached), best.edit};
    }
  }

  std::span<const Symbol> reference_;
  std::size_t columns_, rows_;
  double ratio_;
  std::size_t beam_;
  std::vector<Cell> table_, rolling_;
};

// Moves a block of words to a place that is counted in the words as they are; a place in or at the end of the block is
// counted from the block's begin on among the words behind it.
std::size_t move_block(std::vector<Symbol>& words, std::size_t begin, std::size_t length, std::size_t place) {
  const auto at = [&](std::size_t i) { return words.begin() + static_cast<std::ptrdiff_t>(std::min(i, words.size())); };
  if (place < begin) {
    std::rotate(at(place), at(begin), at(begin + length));
    return place;
  }
  std::rotate(at(begin), at(begin + length), at(place > begin + length ? place : place + length));
  return begin;
}

class MoveSearch {
 public:
  MoveSearch(std::span<const Symbol> translation, std::span<const Symbol> reference)
      : words_(translation.begin(), translation.end()),
        reference_(reference),
        distance_(reference, translation.size()) {}

  std::size_t edits() {
    std::size_t moves = 0;
    for (;; ++moves) {
      distance_.set(words_);
      const bool better = find_best();
      if (tried_ >= kMostMoves || !better) return moves + distance_.cost();
      move_block(words_, best_begin_, best_length_, best_place_);
    }
  }

 private:
  // Tries the moves of blocks that the reference has elsewhere; whether the best of them saves anything.
  bool find_best() {
    const Comparison now = distance_.comparison();
    best_saved_ = 0;
    best_length_ = 0;
    for (std::size_t begin = 0; begin < words_.size(); ++begin) {
      for (std::size_t other = 0; other < reference_.size(); ++other) {
        if ((other > begin ? other - begin : begin - other) > kFarthestMove) continue;
        for (std::size_t length = 1; length <= kLongestBlock; ++length) {
          const std::size_t last = length - 1;
          if (begin + last >= words_.size() || other + last >= reference_.size()) break;
          if (words_[begin + last] != reference_[other + last]) break;
          try_block(now, begin, other, length);
          if (tried_ >= kMostMoves) return best_length_ > 0 && best_saved_ > 0;
        }
      }
    }
    return best_length_ > 0 && best_saved_ > 0;
  }

  void try_block(const Comparison& now, std::size_t begin, std::size_t other, std::size_t length) {
    // A block that is right, here or there, stays; so does one that would move into itself.
    if (now.all_right(begin, length) || now.reference_all_right(other, length)) return;
    const std::ptrdiff_t standing = now.place[other];
    if (standing >= static_cast<std::ptrdiff_t>(begin) && standing < static_cast<std::ptrdiff_t>(begin + length))
      return;

    std::ptrdiff_t last_place = -1;
    for (std::size_t end = other; end <= other + length && end <= reference_.size(); ++end) {
      const std::ptrdiff_t place = end == 0 ? 0 : now.place[end - 1] + 1;
      if (place == last_place) continue;
      last_place = place;
      try_move(begin, length, static_cast<std::size_t>(place));
    }
  }

  void try_move(std::size_t begin, std::size_t length, std::size_t place) {
    moved_ = words_;
    const std::size_t same = move_block(moved_, begin, length, place);
    const auto saved =
        static_cast<std::ptrdiff_t>(distance_.cost()) - static_cast<std::ptrdiff_t>(distance_.cost_of(moved_, same));
    ++tried_;
    // The most saved; then the longest block, the earliest, the earliest place.
    const auto rank = [](std::ptrdiff_t s, std::size_t l, std::size_t b, std::size_t p) {
      return std::tuple(-s, ~l, b, p);
    };
    if (best_length_ == 0 ||
        rank(saved, length, begin, place) < rank(best_saved_, best_length_, best_begin_, best_place_)) {
      best_saved_ = saved;
      best_length_ = length;
      best_begin_ = begin;
      best_place_ = place;
    }
  }

  std::vector<Symbol> words_, moved_;
  std::span<const Symbol> reference_;
  Distance distance_;
  std::size_t tried_ = 0;
  std::ptrdiff_t best_saved_ = 0;
  std::size_t best_begin_ = 0, best_length_ = 0, best_place_ = 0;  // a length of 0: none found
};

class TerReferences final : public References {
 public:
  explicit TerReferences(ReferenceLines lines) : references_(lines.size()) {
    check_references(lines);
    for (std::size_t sentence = 0; sentence < lines[0].size(); ++sentence) {
      for (const std::vector<std::string>& reference : lines) {
        texts_.push_back(intern_words(symbols_, reference[sentence]));
      }
    }
  }

  std::size_t sentences() const override { return texts_.size() / references_; }
  std::size_t width() const override { return 2; }

  void statistics(std::string_view translation, std::size_t sentence, std::span<double> out) const override {
    const std::vector<Symbol> words = find_words(symbols_, translation);
    std::size_t fewest = kUnreached, length = 0;
    for (const std::vector<Symbol>& reference : std::span(texts_).subspan(sentence * references_, references_)) {
      fewest = std::min(fewest, ter_edits(words, reference));
      length += reference.size();
    }
    out[0] = static_cast<double>(fewest);
    out[1] = static_cast<double>(length) / static_cast<double>(references_);
  }

 private:
  std::size_t references_;
  Symbols symbols_;
  std::vector<std::vector<Symbol>> texts_;  // by sentence, then reference
};

}  // namespace

std::size_t ter_edits(std::span<const Symbol> translation, std::span<const Symbol> reference) {
  return reference.empty() ? translation.size() : MoveSearch(translation, reference).edits();
}

double Ter::score(std::span<const double> sum) const {
  if (sum[1] > 0.0) return 100.0 * (sum[0] / sum[1]);
  return sum[0] > 0.0 ? 100.0 : 0.0;
}

std::shared_ptr<const References> Ter::prepare(ReferenceLines lines) const {
  return std::make_shared<TerReferences>(lines);
}

}  // namespace treeglot
