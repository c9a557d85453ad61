#include "decode/match_lattice.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treeglot {
namespace {

void refuse_more_than(std::size_t most, std::size_t ways) {
  if (ways > most)
    throw std::invalid_argument("arcs without words make more than " + std::to_string(most) +
                                " ways to go on; expected fewer such arcs");
}

}  // namespace

LatticeMoves::LatticeMoves(const Lattice& lattice) {
  for (std::uint32_t node = 0; node < lattice.nodes(); ++node) {
    first_.push_back(static_cast<std::uint32_t>(moves_.size()));
    follow(lattice, node);
  }
  first_.push_back(static_cast<std::uint32_t>(moves_.size()));
  keep_useful(lattice.nodes());
}

// Adds the moves that go on from a node which arcs without words lead to.
void LatticeMoves::follow(const Lattice& lattice, std::uint32_t node) {
  for (EdgeId arc = lattice.first_arc(node); arc < lattice.first_arc(node + 1); ++arc) {
    step(arc);
    const std::uint32_t to = lattice.arcs()[arc].to;
    if (lattice.has_word(arc)) {
      add(lattice, arc, to);
      end(lattice, arc, to);
    } else {
      follow(lattice, to);
    }
    path_.pop_back();
  }
}

// Adds the moves whose word is the last one of a path.
void LatticeMoves::end(const Lattice& lattice, EdgeId word, std::uint32_t node) {
  for (EdgeId arc = lattice.first_arc(node); arc < lattice.first_arc(node + 1); ++arc) {
    if (lattice.has_word(arc)) continue;
    step(arc);
    const std::uint32_t to = lattice.arcs()[arc].to;
    if (to + 1 == lattice.nodes()) add(lattice, word, to);
    end(lattice, word, to);
    path_.pop_back();
  }
}

void LatticeMoves::step(EdgeId arc) {
  if (path_.size() == kMostInRow)
    throw std::invalid_argument("more than " + std::to_string(kMostInRow) +
                                " arcs without words in a row; expected fewer");
  refuse_more_than(kMostSteps, ++steps_);
  path_.push_back(arc);
}

void LatticeMoves::add(const Lattice& lattice, EdgeId word, std::uint32_t to) {
  refuse_more_than(kMostSteps, arcs_.size() + path_.size());  // their arcs are kept, too
  double value = 0;
  for (const EdgeId arc : path_) value += lattice.arcs()[arc].score;
  moves_.push_back(
      {to, word, finite(value), static_cast<std::uint32_t>(arcs_.size()), static_cast<std::uint32_t>(path_.size())});
  arcs_.insert(arcs_.end(), path_.begin(), path_.end());
}

void LatticeMoves::keep_useful(std::uint32_t nodes) {
  std::vector<bool> reached(nodes, false), ends(nodes, false);
  reached[0] = ends[nodes - 1] = true;
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (const Move& move : from(node)) reached[move.to] = reached[move.to] || reached[node];
  for (std::uint32_t node = nodes; node-- > 0;)
    for (const Move& move : from(node)) ends[node] = ends[node] || ends[move.to];
  std::vector<Move> kept;
  std::vector<std::uint32_t> first;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    first.push_back(static_cast<std::uint32_t>(kept.size()));
    for (const Move& move : from(node))
      if (reached[node] && ends[move.to]) kept.push_back(move);
  }
  first.push_back(static_cast<std::uint32_t>(kept.size()));
  moves_ = std::move(kept);
  first_ = std::move(first);
}

LatticeWalk::LatticeWalk(Chart& chart, const Lattice& lattice)
    : chart_(chart), last_(lattice.nodes() - 1), moves_(lattice), cells_(lattice.nodes()) {
  chart_.limit_ = std::min(chart_.limit_, last_);
}

// What the lattice gives the matches of a cell, and the words that pass through after them.
struct LatticeWalk::Uses {
  const LatticeWalk& walk;
  const Found& found;
  std::span<const LatticeMoves::Move> passing;

  Chart::Use of(std::size_t number) const {
    if (number >= found.uses.size()) {
      const LatticeMoves::Move& move = passing[number - found.uses.size()];
      return {move.value, walk.moves_.arcs(move)};
    }
    const auto& [value, arcs] = found.uses[number];
    return {value, std::span(walk.found_arcs_).subspan(arcs.begin, arcs.end - arcs.begin)};
  }
  float score(std::size_t number) const { return walk.chart_.glue_.lattice_score(of(number).value); }
};

TranslationForest LatticeWalk::run() {
  for (std::uint32_t begin = last_; begin-- > 0;) {
    if (!moves_.from(begin).empty()) begin_at(begin);
  }
  add_sentence();
  return chart_.finish(chart_.glue_.lattice());
}

// As Chart::run does for sentences.
void LatticeWalk::begin_at(std::uint32_t begin) {
  chart_.begin_ = begin;
  chart_.tails_.clear();
  chart_.match_tails_.clear();
  found_arcs_.clear();
  add_cells(begin);
  found_.assign(cells_[begin].size(), {});
  extend_by_word(chart_.table_.root(), begin, 0, 0);
  const RuleTable::VariableChildren variables = chart_.table_.variables(chart_.table_.root());
  for (std::size_t number = 0; number < cells_[begin].size(); ++number) {
    finish(number);
    const Cell& cell = cells_[begin][number];
    if (cell.end < last_) extend_by_items(chart_.table_.root(), variables, cell.items, cell.end, cell.width, 0);
  }
}

void LatticeWalk::add_cells(std::uint32_t begin) {
  std::vector<Cell>& cells = cells_[begin];
  std::vector<std::uint32_t> ends = {begin};
  for (std::uint32_t width = 1; width <= chart_.limit_ && !ends.empty(); ++width) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t node : ends)
      for (const LatticeMoves::Move& move : moves_.from(node)) next.push_back(move.to);
    std::ranges::sort(next);
    next.erase(std::ranges::unique(next).begin(), next.end());
    for (const std::uint32_t end : next) cells.push_back({end, width, {}});
    ends = std::move(next);
  }
  std::ranges::sort(cells, {}, [](const Cell& cell) { return std::pair(cell.end, cell.width); });
}

void LatticeWalk::finish(std::size_t number) {
  Cell& cell = cells_[chart_.begin_][number];
  std::vector<Chart::Local> local;
  std::vector<LatticeMoves::Move> passing;  // by local
  if (cell.width == 1) {
    for (const LatticeMoves::Move& move : moves_.from(chart_.begin_)) {
      if (move.to != cell.end) continue;
      chart_.pass_through(move.word, !chart_.lenient_ && has_rules(chart_.symbols_[move.word]), local);
      passing.resize(local.size(), move);
    }
  }
  const Found& found = found_[number];
  chart_.fill({{chart_.begin_, cell.end}, cell.items}, found.matches, local, Uses{*this, found, passing});
}

bool LatticeWalk::has_rules(Symbol word) const {
  if (word == Symbols::kNone) return false;
  const RuleTable::Node node = chart_.table_.child(chart_.table_.root(), word);
  return node != RuleTable::kNoNode && !chart_.table_.rules_of(node).empty();
}

// Follows the trie from `node`, which has matched a path of `width` words up to `at`. Its own words score `value`.
void LatticeWalk::extend(RuleTable::Node node, std::uint32_t at, std::uint32_t width, double value) {
  const RuleTable& table = chart_.table_;
  if (!table.rules_of(node).empty()) {
    const std::vector<Cell>& cells = cells_[chart_.begin_];
    const auto cell = std::ranges::lower_bound(cells, std::pair(at, width), {},
                                               [](const Cell& c) { return std::pair(c.end, c.width); });
    Found& found = found_[static_cast<std::size_t>(cell - cells.begin())];
    auto& tails = chart_.match_tails_;
    found.matches.push_back(
        {node, static_cast<std::uint32_t>(tails.size()), static_cast<std::uint32_t>(chart_.tails_.size())});
    tails.insert(tails.end(), chart_.tails_.begin(), chart_.tails_.end());
    const auto first = static_cast<std::uint32_t>(found_arcs_.size());
    found_arcs_.insert(found_arcs_.end(), arcs_.begin(), arcs_.end());
    found.uses.emplace_back(finite(value), Span{first, static_cast<std::uint32_t>(found_arcs_.size())});
  }
  if (at == last_ || width >= chart_.limit_ || !table.has_children(node)) return;
  extend_by_word(node, at, width, value);
  const RuleTable::VariableChildren variables = table.variables(node);
  if (variables.empty()) return;
  for (const Cell& cell : cells_[at])
    if (width + cell.width <= chart_.limit_)
      extend_by_items(node, variables, cell.items, cell.end, width + cell.width, value);
}

void LatticeWalk::extend_by_word(RuleTable::Node node, std::uint32_t at, std::uint32_t width, double value) {
  for (const LatticeMoves::Move& move : moves_.from(at)) {
    const Symbol word = chart_.symbols_[move.word];
    const RuleTable::Node child = word == Symbols::kNone ? RuleTable::kNoNode : chart_.table_.child(node, word);
    if (child == RuleTable::kNoNode) continue;
    const auto arcs = moves_.arcs(move);
    arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
    extend(child, move.to, width + 1, value + move.value);
    arcs_.resize(arcs_.size() - arcs.size());
  }
}

void LatticeWalk::extend_by_items(RuleTable::Node node, const RuleTable::VariableChildren& variables,
                                  std::span<const Chart::Item> items, std::uint32_t end, std::uint32_t width,
                                  double value) {
  for (const Chart::Item& item : items) {
    chart_.tails_.push_back(item.node);
    for_each_variable(chart_.table_, node, variables, item.label,
                      [&](RuleTable::Node child) { extend(child, end, width, value); });
    chart_.tails_.pop_back();
  }
}

// S → X, S → S X from the left, and the end of the sentence.
void LatticeWalk::add_sentence() {
  std::vector<std::vector<std::pair<std::uint32_t, const Cell*>>> ending(last_ +
                                                                         std::size_t{1});  // by end: begin, cell
  for (std::uint32_t begin = 0; begin < last_; ++begin)
    for (const Cell& cell : cells_[begin]) ending[cell.end].emplace_back(begin, &cell);
  std::vector<NodeId> sentence(last_ + std::size_t{1}, kNoNode);
  for (std::uint32_t end = 1; end <= last_; ++end) {
    for (const auto& [middle, cell] : ending[end]) {
      if (middle > 0 && sentence[middle] == kNoNode) continue;
      for (const Chart::Item& item : cell->items) chart_.add_glued(middle, end, item, sentence);
    }
  }
  chart_.add_goal(last_, sentence[last_]);
}

}  // namespace treeglot
