#include "tune/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeglot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// From left to right; of parallel lines the highest first, of equal ones that with the smaller id.
bool comes_before(const Line& a, const Line& b) {
  if (a.slope != b.slope) return a.slope < b.slope;
  if (a.intercept != b.intercept) return a.intercept > b.intercept;
  return a.id < b.id;
}

// The envelope of any lines, in their place. Of equal lines the one with the smallest id stays.
void keep_highest(std::vector<Line>& lines, std::vector<double>& begin) {
  // Huge weights can make values that are no numbers, which have no order.
  std::erase_if(lines, [](const Line& line) { return !std::isfinite(line.slope) || !std::isfinite(line.intercept); });
  std::sort(lines.begin(), lines.end(), comes_before);
  begin.clear();
  std::size_t size = 0;  // lines[0 … size) are the envelope of those seen so far
  for (const Line line : lines) {
    if (size > 0 && lines[size - 1].slope == line.slope) continue;
    double cross = -kInfinity;
    while (size > 0) {
      const Line& last = lines[size - 1];
      cross = (last.intercept - line.intercept) / (line.slope - last.slope);
      if (cross > begin[size - 1]) break;
      begin.pop_back();
      --size;
      cross = -kInfinity;
    }
    lines[size++] = line;
    begin.push_back(cross);
  }
  lines.resize(size);
}

}  // namespace

// Most lines are nowhere above the highest of three: the flattest, the steepest, and the best at 0. Where the three
// meet shows which: a line that is below them in both points is below them everywhere.
void make_envelope(std::span<const double> slopes, std::span<const double> intercepts, std::uint32_t first_id,
                   Envelope& out) {
  constexpr double kRounding =
      1e-12;  // what a line may lack of the height, of the largest numbers that make up a height
  out.lines.clear();
  const std::size_t size = slopes.size();
  double least = kInfinity, most = -kInfinity, largest = 0.0;
  std::size_t here = 0;
  for (std::size_t i = 0; i < size; ++i) {
    least = std::min(least, slopes[i]);
    most = std::max(most, slopes[i]);
    largest = std::max(largest, std::abs(intercepts[i]));
    if (intercepts[i] > intercepts[here]) here = i;
  }
  double flattest = -kInfinity, steepest = -kInfinity;  // the highest of the flattest and of the steepest lines
  for (std::size_t i = 0; i < size; ++i) {
    if (slopes[i] == least) flattest = std::max(flattest, intercepts[i]);
    if (slopes[i] == most) steepest = std::max(steepest, intercepts[i]);
  }
  const double steep = std::max(std::abs(least), std::abs(most));
  struct Corner {
    double at, height;
  };
  const auto corner = [&](double slope, double intercept) {
    if (slope == slopes[here]) return Corner{0.0, kInfinity};  // no line is higher on that side
    const double at = (intercept - intercepts[here]) / (slopes[here] - slope);
    return Corner{at, intercepts[here] + at * slopes[here] - kRounding * (largest + std::abs(at) * steep)};
  };
  if (size > 0) {
    const Corner left = corner(least, flattest), right = corner(most, steepest);
    for (std::size_t i = 0; i < size; ++i) {
      if (intercepts[i] + left.at * slopes[i] >= left.height || intercepts[i] + right.at * slopes[i] >= right.height ||
          i == here) {
        out.lines.push_back({slopes[i], intercepts[i], first_id + static_cast<std::uint32_t>(i)});
      }
    }
  }
  keep_highest(out.lines, out.begin);
}

}  // namespace treeglot
