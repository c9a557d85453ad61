#include "syntax/lattice_forest.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace treeglot {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffffu;

}  // namespace

// The path that was parsed, by node of the lattice: the words before it, or kNowhere, and the scores of the arcs there.
struct LatticeForest::ParsedPath {
  std::vector<std::uint32_t> place;
  std::vector<double> score;
  std::vector<bool> has_arc;  // by arc
  std::vector<bool> moves;    // whether the arc from here has a word, so that no later node has the same place
};

LatticeForest::LatticeForest(std::shared_ptr<const ParseForest> forest, std::shared_ptr<const Lattice> lattice)
    : forest_(std::move(forest)), lattice_(std::move(lattice)) {
  if (lattice_->arcs().empty() && forest_->words() == 0) return;
  const ParsedPath path = parsed_path();
  for (std::uint32_t node = 0; node < lattice_->nodes(); ++node)
    if (path.place[node] != kNowhere) follow(path, node, node);
  for (EdgeId arc = 0; arc < lattice_->arcs().size(); ++arc)
    if (path.has_arc[arc]) parsed_arcs_.push_back(arc);
}

// The best path with the forest's words; ties go to the one whose arcs come first.
LatticeForest::ParsedPath LatticeForest::parsed_path() const {
  const std::uint32_t nodes = lattice_->nodes();
  const std::size_t places = forest_->words() + 1;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> best(nodes * places, kNone);  // from a node with so many words before it to the end
  std::vector<EdgeId> chosen(nodes * places, kNoEdge);
  best[nodes * places - 1] = 0;
  const auto next = [&](EdgeId arc, std::size_t place) { return place + (lattice_->has_word(arc) ? 1 : 0); };
  for (std::uint32_t node = nodes - 1; node-- > 0;) {
    for (std::size_t place = 0; place < places; ++place) {
      for (EdgeId arc = lattice_->first_arc(node); arc < lattice_->first_arc(node + 1); ++arc) {
        const std::size_t after = next(arc, place);
        if (after == places || (after > place && lattice_->words()[arc] != forest_->word(place))) continue;
        const double score = lattice_->arcs()[arc].score + best[lattice_->arcs()[arc].to * places + after];
        if (score <= best[node * places + place]) continue;
        best[node * places + place] = score;
        chosen[node * places + place] = arc;
      }
    }
  }
  if (best[0] == kNone)
    throw std::invalid_argument("no path of the lattice has the words of the forest; expected one that was parsed");
  ParsedPath out{std::vector(nodes, kNowhere), std::vector(nodes, 0.0), std::vector(lattice_->arcs().size(), false),
                 std::vector(nodes, false)};
  std::size_t place = 0;
  double score = 0;
  for (std::uint32_t node = 0;;) {
    out.place[node] = static_cast<std::uint32_t>(place);
    out.score[node] = score;
    if (node + 1 == nodes) return out;
    const EdgeId arc = chosen[node * places + place];
    out.has_arc[arc] = true;
    score += lattice_->arcs()[arc].score;
    out.moves[node] = lattice_->has_word(arc);
    place = next(arc, place);
    node = lattice_->arcs()[arc].to;
  }
}

// Follows arcs from a node of the path, through `node`, until they reach the path again.
void LatticeForest::follow(const ParsedPath& path, std::uint32_t begin, std::uint32_t node) {
  for (EdgeId arc = lattice_->first_arc(node); arc < lattice_->first_arc(node + 1); ++arc) {
    if (path.has_arc[arc]) continue;
    if (arcs_.size() == kMostArcs || ++steps_ > kMostSteps)
      throw std::invalid_argument("the variants of a forest's words have more than " + std::to_string(kMostArcs) +
                                  " arcs, or " + std::to_string(kMostSteps) + " together; expected fewer");
    arcs_.push_back(arc);
    const std::uint32_t to = lattice_->arcs()[arc].to;
    if (path.place[to] == kNowhere) {
      follow(path, begin, to);
    } else {
      add(path, {begin, to});
    }
    arcs_.pop_back();
  }
}

void LatticeForest::add(const ParsedPath& path, Span nodes) {
  const Span span = {path.place[nodes.begin], path.place[nodes.end]};
  const auto has_word = [&](EdgeId arc) { return lattice_->has_word(arc); };
  const auto words = static_cast<std::uint32_t>(std::ranges::count_if(arcs_, has_word));
  if (span.empty() && words == 0) return;
  // Another variant may end at a later node of the same place. Both together would be no path.
  if (span.empty() || words == 0 || (span.begin > 0 && !path.moves[nodes.begin])) {
    ++left_out_;
    return;
  }
  const auto first = static_cast<std::uint32_t>(words_.size());
  double score = path.score[nodes.begin] - path.score[nodes.end];
  for (const EdgeId arc : arcs_) {
    score += lattice_->arcs()[arc].score;
    if (has_word(arc)) words_.append(lattice_->words()[arc]);
  }
  variants_.push_back({span, first, words, score, nodes, arcs_});
}

const Variant& LatticeForest::variant_of(std::uint32_t word) const {
  return *std::prev(std::ranges::upper_bound(variants_, word, {}, &Variant::first_word));
}

std::vector<EdgeId> LatticeForest::path_with(std::span<const std::uint32_t> variants) const {
  std::vector<EdgeId> out;
  for (const EdgeId arc : parsed_arcs_) {
    const auto replaces = [&](std::uint32_t variant) {
      return variants_[variant].nodes.contains(lattice_->arcs()[arc].from);
    };
    if (std::ranges::none_of(variants, replaces)) out.push_back(arc);
  }
  for (const std::uint32_t variant : variants)
    out.insert(out.end(), variants_[variant].arcs.begin(), variants_[variant].arcs.end());
  std::ranges::sort(out);
  return out;
}

}  // namespace treeglot
