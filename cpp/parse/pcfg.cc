#include "parse/pcfg.h"

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument(problem); }

bool is_tag(const Tree& tree, std::uint32_t node) { return tree.subtree_size(node) == 2; }

}  // namespace

Pcfg::Pcfg(std::span<const Tree* const> trees, std::span<const Tree* const> others, double unseen) {
  if (!(unseen > 0.0) || !std::isfinite(unseen)) refuse("unseen productions must count more than 0");
  std::map<std::pair<bool, std::vector<Symbol>>, std::uint32_t> found;  // head and body → rule
  std::vector<Symbol> key;
  const auto count = [&](const Tree& tree, bool counted) {
    if (tree.empty()) return;
    const Symbol root = labels_.intern(tree.label(0));
    if (root_ == Symbols::kNone) root_ = root;
    if (root != root_)
      refuse("trees with the roots " + quoted(labels_.text(root_)) + " and " + quoted(tree.label(0)) +
             "; expected one");
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
      if (tree.is_word(node)) continue;
      const bool lexical = is_tag(tree, node);
      key.assign(1, labels_.intern(tree.label(node)));
      for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child)) {
        if (tree.is_word(child) && !lexical)
          refuse("the word " + quoted(tree.label(child)) + " has siblings below " + quoted(tree.label(node)) +
                 "; expected a tag above every word");
        key.push_back(lexical ? words_.intern(tree.label(child)) : labels_.intern(tree.label(child)));
      }
      const auto [at, fresh] = found.try_emplace({lexical, key}, static_cast<std::uint32_t>(rules_.size()));
      if (fresh) rules_.push_back({key[0], {key.begin() + 1, key.end()}, lexical, counted ? 0.0 : unseen, 0.0});
      if (counted) rules_[at->second].count += 1.0;
    }
  };
  for (const Tree* tree : trees) count(*tree, true);
  for (const Tree* tree : others) count(*tree, false);
  estimate();
  index();
  rank_labels();
}

void Pcfg::estimate() {
  std::vector<double> totals(labels_.size(), 0.0);
  for (const Rule& rule : rules_) totals[rule.head] += rule.count;
  for (Rule& rule : rules_) rule.logprob = std::log(rule.count / totals[rule.head]);
}

void Pcfg::index() {
  tags_.resize(words_.size());
  by_head_.resize(labels_.size());
  states_.resize(1);
  next_.assign(labels_.size(), kNoState);
  for (std::uint32_t r = 0; r < rules_.size(); ++r) {
    const Rule& rule = rules_[r];
    if (rule.lexical) {
      tags_[rule.body[0]].push_back(r);
      continue;
    }
    std::uint32_t state = 0;
    for (const Symbol label : rule.body) {
      std::uint32_t following = next_[state * labels_.size() + label];
      if (following == kNoState) {
        following = static_cast<std::uint32_t>(states_.size());
        next_[state * labels_.size() + label] = following;
        states_.push_back({state, label, {}});
        next_.resize(next_.size() + labels_.size(), kNoState);
      }
      state = following;
    }
    states_[state].complete.push_back(r);
    by_head_[rule.head].push_back({r, state});
  }
}

void Pcfg::rank_labels() {
  std::vector<std::vector<Symbol>> above(labels_.size());
  std::vector<std::uint32_t> below(labels_.size(), 0);  // unary rules not yet ranked
  for (const Rule& rule : rules_) {
    if (rule.lexical || rule.body.size() != 1) continue;
    above[rule.body[0]].push_back(rule.head);
    ++below[rule.head];
  }
  for (Symbol label = 0; label < labels_.size(); ++label) {
    if (below[label] == 0) bottom_up_.push_back(label);
  }
  for (std::size_t i = 0; i < bottom_up_.size(); ++i) {
    for (const Symbol head : above[bottom_up_[i]]) {
      if (--below[head] == 0) bottom_up_.push_back(head);
    }
  }
  if (bottom_up_.size() == labels_.size()) return;
  std::string cyclic;
  for (Symbol label = 0; label < labels_.size(); ++label) {
    if (below[label] > 0) cyclic += (cyclic.empty() ? "" : ", ") + quoted(labels_.text(label));
  }
  refuse("unary rules form a cycle among or below " + cyclic);
}

}  // namespace treeglot
