#include "tune/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "graph/derivation.h"

namespace treeglot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_lines(const Hypergraph& graph, const char* name, std::span<const double> values) {
  if (values.size() != graph.edges()) {
    throw std::invalid_argument(std::string(name) + " are " + std::to_string(values.size()) + " numbers for " +
                                std::to_string(graph.edges()) + " edges");
  }
  for (std::size_t edge = 0; edge < values.size(); ++edge) {
    if (!std::isfinite(values[edge])) {
      throw std::invalid_argument(std::string(name) + "[" + std::to_string(edge) + "] is " +
                                  std::to_string(values[edge]) + "; expected a finite number");
    }
  }
}

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

ForestEnvelope::ForestEnvelope(const Hypergraph& graph, std::span<const double> slopes,
                               std::span<const double> intercepts) {
  check_lines(graph, "slopes", slopes);
  check_lines(graph, "intercepts", intercepts);
  if (graph.goal() == kNoNode) return;
  std::vector<Envelope> inside(graph.nodes());
  for (NodeId node = 0; node <= graph.goal(); ++node) {
    Envelope& here = inside[node];
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      Envelope through;
      through.lines.push_back({slopes[edge], intercepts[edge], add_part(edge, kEdge)});
      through.begin.push_back(-kInfinity);
      for (const NodeId tail : graph.tails(edge)) through = product(through, inside[tail]);
      here.lines.insert(here.lines.end(), through.lines.begin(), through.lines.end());
    }
    make_envelope(here);
  }
  goal_ = std::move(inside[graph.goal()]);
}

std::uint32_t ForestEnvelope::add_part(std::uint32_t left, std::uint32_t right) {
  if (parts_.size() >= kEdge) throw std::length_error("the envelope of a graph has 2^32 lines or more");
  parts_.push_back({left, right});
  return static_cast<std::uint32_t>(parts_.size() - 1);
}

// From the left, at each step the line that ends first gives way to the next one.
Envelope ForestEnvelope::product(const Envelope& a, const Envelope& b) {
  Envelope out;
  if (a.lines.empty() || b.lines.empty()) return out;
  double begin = -kInfinity;
  for (std::size_t i = 0, j = 0;;) {
    const Line &first = a.lines[i], &second = b.lines[j];
    out.lines.push_back(
        {first.slope + second.slope, first.intercept + second.intercept, add_part(first.id, second.id)});
    out.begin.push_back(begin);
    const double a_ends = i + 1 < a.lines.size() ? a.begin[i + 1] : kInfinity;
    const double b_ends = j + 1 < b.lines.size() ? b.begin[j + 1] : kInfinity;
    begin = std::min(a_ends, b_ends);
    if (begin == kInfinity) return out;
    if (a_ends == begin) ++i;
    if (b_ends == begin) ++j;
  }
}

std::vector<EdgeId> ForestEnvelope::derivation(std::size_t i) const {
  std::vector<EdgeId> edges;
  std::vector<std::uint32_t> open = {goal_.lines.at(i).id};
  while (!open.empty()) {
    const Part part = parts_[open.back()];
    open.pop_back();
    if (part.right == kEdge) {
      if (edges.size() == kLongestDerivation) check_derivation_size(static_cast<double>(kLongestDerivation) + 1);
      edges.push_back(part.left);
    } else {
      open.push_back(part.right);
      open.push_back(part.left);
    }
  }
  return edges;
}

}  // namespace treeglot
