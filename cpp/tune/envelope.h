// The upper envelope of lines: which hypothesis is best for which step along a direction (Och 2003), and the same over
// all derivations of a hypergraph without listing them (Kumar et al. 2009).
//
// Along w + x·d the score of a hypothesis with features f is a line: slope d·f, intercept w·f. The highest of a set of
// lines, as a function of x, is convex and piecewise linear. Envelopes form a semiring: ⊕ is the envelope of the union,
// ⊗ the sum of the two functions (the Minkowski sum of their lines); the inside value of the goal is the envelope of
// its derivations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/hypergraph.h"

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
};

// The envelope of any lines, in their place. Of equal lines the one with the smallest id stays; a line that is highest
// in a single point is left out.
void make_envelope(Envelope& envelope);

// The same for lines in arrays, with the ids first_id, first_id + 1, …
void make_envelope(std::span<const double> slopes, std::span<const double> intercepts, std::uint32_t first_id,
                   Envelope& out);

// The envelope of the derivations of a graph's goal, each a sum of its edges' lines.
class ForestEnvelope {
 public:
  ForestEnvelope(const Hypergraph& graph, std::span<const double> slopes, std::span<const double> intercepts);

  std::size_t size() const { return goal_.lines.size(); }
  const Envelope& envelope() const { return goal_; }
  // The derivation that is the i-th line: its edges in preorder.
  std::vector<EdgeId> derivation(std::size_t i) const;

 private:
  // What a line is made of: an edge alone (right is kEdge), or one line and, behind it, another.
  struct Part {
    std::uint32_t left, right;
  };
  static constexpr std::uint32_t kEdge = 0xffffffffu;

  std::uint32_t add_part(std::uint32_t left, std::uint32_t right);
  Envelope product(const Envelope& a, const Envelope& b);

  std::vector<Part> parts_;  // by the ids of lines
  Envelope goal_;
};

}  // namespace treeglot
