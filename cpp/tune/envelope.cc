#include "tune/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeglot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// From left to right; of parallel lines the highest first, of equal ones that with the smaller id.
bool comes_before(const Line& a, const Line& b) {
  if (a.slope != b.slope) return a.slope < b.slope;
  if (a.intercept != b.intercept) return a.intercept > b.intercept;
  return a.id < b.id;
}

// The same in time that does not depend on the size of the result, for envelopes of many lines.
void sort_envelope(Envelope& envelope) {
  std::vector<Line>& lines = envelope.lines;
  std::vector<double>& begin = envelope.begin;
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

void make_envelope(Envelope& envelope) {
  std::vector<Line>& lines = envelope.lines;
  std::vector<double>& begin = envelope.begin;
  begin.clear();
  if (lines.empty()) return;

  // From the left: of the lines that are steeper, the one that is crossed first comes next. Each step drops the lines
  // that are not steeper, so that a short envelope of many lines, the usual case, costs a few passes and no sorting.
  std::iter_swap(lines.begin(), std::min_element(lines.begin(), lines.end(), comes_before));
  begin.push_back(-kInfinity);
  std::size_t size = 1, end = lines.size();
  for (std::size_t steps = 0; steps < kMostSteps; ++steps) {
    const Line last = lines[size - 1];
    std::size_t kept = size, next = kNone;
    double first = kInfinity;
    for (std::size_t i = size; i < end; ++i) {
      const Line line = lines[i];
      if (line.slope <= last.slope) continue;
      const double cross = (last.intercept - line.intercept) / (line.slope - last.slope);
      if (next == kNone || cross < first ||
          (cross == first &&
           (line.slope > lines[next].slope || (line.slope == lines[next].slope && line.id < lines[next].id)))) {
        first = cross;
        next = kept;
      }
      lines[kept++] = line;
    }
    end = kept;
    if (next == kNone) {
      lines.resize(size);
      return;
    }
    if (first > begin.back()) {
      begin.push_back(first);
      std::swap(lines[size++], lines[next]);
    } else {  // the last line was highest in a point at most
      std::swap(lines[size - 1], lines[next]);
    }
  }
  lines.resize(end);
  sort_envelope(envelope);
}

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
  make_envelope(out);
}

}  // namespace treeglot
