// The upper envelope of lines: which hypothesis is best for which step along a direction (Och 2003).
//
// Along w + x·d the score of a hypothesis with features f is a line: slope d·f, intercept w·f. The highest of a set of
// lines, as a function of x, is convex and piecewise linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

struct Line {
  double slope;
  double intercept;
  std::uint32_t id;  // of what the line stands for
};

// Lines from left to right, slopes increasing, and where each begins to be the highest: −∞ for the first.
struct Envelope {
  std::vector<Line> lines;
  std::vector<double> begin;
  std::vector<std::uint32_t> promising;  // room that is used again
};

// What the envelopes of the same intercepts share, whatever the slopes.
struct Peak {
  std::size_t at = 0;    // of the greatest intercept, the first of equal ones
  double largest = 0.0;  // absolute value
};

Peak peak_of(std::span<const double> intercepts);

// The envelope of lines in arrays, with the ids first_id, first_id + 1 and so on. Of equal lines the one with the
// smallest id stays. A line that is highest in a single point is left out, and so is one that is highest only where x
// is infinite. The numbers must be finite; nothing overflows then. `peak` is that of the intercepts.
void make_envelope(std::span<const double> slopes, std::span<const double> intercepts, const Peak& peak,
                   std::uint32_t first_id, Envelope& out);

}  // namespace treeglot
