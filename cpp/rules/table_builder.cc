#include "rules/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "rules/row_reader.h"
#include "rules/rule_checks.h"

namespace treeglot {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

void check_columns(const RuleRows& rows, bool coded) {
  const auto check_rows = [&](std::size_t found, const std::string& column) {
    if (found != rows.source.rows())
      throw std::invalid_argument("the column " + quoted(column) + " has " + std::to_string(found) +
                                  " rows; expected " + std::to_string(rows.source.rows()) + ", as the source sides");
  };
  if (!coded) check_rows(rows.lhs.rows(), "lhs");
  check_rows(rows.target.rows(), "target");
  for (const Codes* optional : {&rows.alignment, &rows.labels, &rows.structure})
    if (optional->rows() != 0) check_rows(optional->rows(), "of notes");
  for (const std::span<const float>& column : rows.dense) check_rows(column.size(), "of a feature");
  for (const auto& [name, column] : rows.indicators) check_rows(column.rows(), name);
}

// Places where a match may choose where a nonterminal begins or ends: at the ends, and between two nonterminals.
std::uint32_t scope_of(std::span<const Symbol> source) {
  std::uint32_t scope = 0;
  bool before = true;  // the end of a source side is like a nonterminal beside it
  for (const Symbol symbol : source) {
    scope += before && is_nonterminal(symbol) ? 1 : 0;
    before = is_nonterminal(symbol);
  }
  return scope + (before && !source.empty() ? 1 : 0);
}

}  // namespace

template <class T>
void RuleTableBuilder::Lists<T>::append(std::span<const T> list) {
  if (values.size() + list.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("the rules' sides and notes together have more than 2^32 parts");
  ++lists;
  if (list.empty() && ends.empty()) return;
  if (ends.empty()) ends.resize(lists - 1, 0);
  values.insert(values.end(), list.begin(), list.end());
  ends.push_back(static_cast<std::uint32_t>(values.size()));
}

template <class T>
std::span<const T> RuleTableBuilder::Lists<T>::operator[](std::size_t rule) const {
  if (ends.empty()) return {};
  const std::uint32_t begin = rule == 0 ? 0 : ends[rule - 1];
  return std::span<const T>(values).subspan(begin, ends[rule] - begin);
}

RuleTableBuilder::Node RuleTableBuilder::Trie::child(Node node, Symbol s) {
  const auto next = static_cast<Node>(nodes.size());
  if (const Node first = nodes[node].first_child; first == kNone) {
    nodes[node].first_child = next;
  } else {
    if (nodes[first].symbol == s) return first;
    const Node found = index.intern(hash_number(std::uint64_t{node} << 32 | s), next, [&](Node known) {
      return nodes[known].parent == node && nodes[known].symbol == s;
    });
    if (found != next) return found;
  }
  nodes.push_back({node, s, nodes[node].depth + 1});
  return next;
}

RuleTableBuilder::RuleTableBuilder(const std::vector<std::string>& dense_features) : dense_(dense_features.size()) {
  for (const std::string& name : dense_features) {
    if (feature_names_.find(name) != Symbols::kNone)
      throw std::invalid_argument("the feature " + quoted(name) + " is named twice");
    feature_names_.intern(name);
  }
}

void RuleTableBuilder::check(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                             std::span<const float> features, const Notes& notes) const {
  check_rule(source, target, notes.alignment);
  if (lhs >= labels_.size()) throw std::invalid_argument("the left-hand side is a label that the table lacks");
  for (const Symbol symbol : source) {
    if (is_nonterminal(symbol) ? label_of(symbol) >= labels_.size() : symbol >= source_words_.size())
      throw std::invalid_argument("the source side has a word or label that the table lacks");
  }
  if (std::ranges::any_of(target, [&](std::int32_t symbol) {
        return symbol >= 0 && static_cast<std::size_t>(symbol) >= target_words_.size();
      }))
    throw std::invalid_argument("the target side has a word that the table lacks");
  if (features.size() != dense_)
    throw std::invalid_argument("a rule with " + text(features.size()) + " features in a table with " + text(dense_));
  const auto finite = [&](std::size_t feature, float value) {
    if (!std::isfinite(value)) {
      throw std::invalid_argument("feature " + quoted(feature_names_.text(static_cast<Symbol>(feature))) + " is " +
                                  std::to_string(value) + "; expected a finite number");
    }
  };
  for (std::size_t f = 0; f < features.size(); ++f) finite(f, features[f]);
  for (const SparseFeature& sparse : notes.sparse) {
    if (sparse.feature < dense_ || sparse.feature >= feature_names_.size())
      throw std::invalid_argument("a sparse feature that is dense, or that the table lacks");
    finite(sparse.feature, sparse.value);
  }
}

RuleTableBuilder::Node RuleTableBuilder::node_of(std::span<const Symbol> source) {
  const auto differ = std::ranges::mismatch(source, path_symbols_);
  const auto shared = static_cast<std::size_t>(differ.in1 - source.begin());
  path_.resize(shared);
  path_symbols_.resize(shared);
  for (const Symbol symbol : source.subspan(shared)) {
    path_.push_back(trie_.child(path_.empty() ? kRoot : path_.back(), symbol));
    path_symbols_.push_back(symbol);
  }
  return path_.empty() ? kRoot : path_.back();
}

void RuleTableBuilder::reserve(std::size_t rules) {
  constexpr std::size_t kTarget = 6, kLinks = 4;  // of a usual rule
  rules = std::min<std::size_t>(rules, 1 << 26);  // a guess must not take all memory
  lhs_.reserve(rules);
  node_.reserve(rules);
  features_.reserve(rules * dense_);
  for (std::vector<std::uint32_t>* ends : {&target_.ends, &links_.ends}) ends->reserve(rules);
  target_.values.reserve(rules * kTarget);
  links_.values.reserve(rules * kLinks);
}

void RuleTableBuilder::append(Symbol lhs, Node node, std::span<const std::int32_t> target,
                              std::span<const float> features, const Notes& notes) {
  if (lhs_.size() == kNone - 1) throw std::length_error("a rule table holds fewer than 2^32 rules");
  lhs_.push_back(lhs);
  node_.push_back(node);
  features_.insert(features_.end(), features.begin(), features.end());
  target_.append(target);
  sparse_.append(notes.sparse);
  links_.append(notes.alignment);
  rule_labels_.append(notes.labels);
  structure_.append(notes.structure);
}

void RuleTableBuilder::add(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                           std::span<const float> features, const Notes& notes) {
  check(lhs, source, target, features, notes);
  append(lhs, node_of(source), target, features, notes);
}

bool RuleTableBuilder::within_limits(const RowReader& row, std::size_t& too_long) {
  if (row.source.size() > kLongestSide || row.target.size() > kLongestSide) {
    ++too_long;
    node_of(row.source);
    return false;
  }
  if (max_scope_ != kNone && scope_of(row.source) > max_scope_) {
    ++left_out_by_scope_;  // and so are all other rows of this source side
    return false;
  }
  return true;
}

std::size_t RuleTableBuilder::add_rows(const RuleRows& rows, const std::string& file, std::size_t first_row) {
  check_columns(rows, false);
  TextRowReader reader(*this, rows);
  return add_all(reader, rows.source.rows(), file, first_row);
}

std::size_t RuleTableBuilder::add_coded_rows(const RuleRows& rows, const std::string& file, std::size_t first_row) {
  if (!coded_) throw std::invalid_argument("rows of codes need know_codes() before them");
  check_columns(rows, true);
  CodedRowReader reader(*this, rows, *coded_);
  return add_all(reader, rows.source.rows(), file, first_row);
}

std::size_t RuleTableBuilder::add_all(RowReader& reader, std::size_t rows, const std::string& file,
                                      std::size_t first_row) {
  std::size_t too_long = 0;
  const ExpandedFeatures::Names names = {[&](Symbol word) { return source_words_.text(word); },
                                         [&](Symbol word) { return target_words_.text(word); },
                                         [&](std::string_view added) { return feature(added); }};
  for (std::size_t row = 0; row < rows; ++row) {
    try {
      reader.read_sides(row);
      if (!within_limits(reader, too_long)) {
        reader.leave_out();
        continue;
      }
      reader.read_notes(row);
      reader.read_features(row);
      if (expanded_) expanded_->append(reader.source, reader.target, reader.links, names, reader.sparse);
      const Notes notes = {reader.sparse, reader.links, reader.labels, reader.structure};
      check(reader.lhs, reader.source, reader.target, reader.features, notes);
      const Node node = node_of(reader.source);
      if (can_be_joined(reader.structure, reader.target.size(), reader.heads)) {
        append(reader.lhs, node, reader.target, reader.features, notes);
      } else {
        ++left_out_by_structure_;
      }
    } catch (const std::invalid_argument& problem) {
      throw FormatError(file, first_row + row, problem.what());
    }
  }
  return too_long;
}

// Sparse features that half of the rules have take less room, and less time, as dense ones.
void RuleTableBuilder::make_dense() {
  const std::size_t names = feature_names_.size();
  std::vector<std::size_t> uses(names, 0);
  for (const SparseFeature& sparse : sparse_.values) ++uses[sparse.feature];
  std::vector<std::uint32_t> number(names);
  std::uint32_t next = 0;
  for (std::size_t f = 0; f < names; ++f) {
    if (f < dense_ || uses[f] * 2 >= std::max<std::size_t>(rules(), 1)) number[f] = next++;
  }
  const std::size_t dense = next;
  if (dense == dense_) return;
  for (std::size_t f = dense_; f < names; ++f) {
    if (uses[f] * 2 < std::max<std::size_t>(rules(), 1)) number[f] = next++;
  }
  std::vector<std::string_view> ordered(names);
  for (std::size_t f = 0; f < names; ++f) ordered[number[f]] = feature_names_.text(static_cast<Symbol>(f));
  Symbols renamed;
  for (const std::string_view feature : ordered) renamed.intern(feature);
  std::vector<float> features(rules() * dense, 0.0f);
  Lists<SparseFeature> rest;
  std::vector<SparseFeature> kept;
  for (std::size_t rule = 0; rule < rules(); ++rule) {
    std::copy_n(features_.begin() + static_cast<std::ptrdiff_t>(rule * dense_), dense_,
                features.begin() + static_cast<std::ptrdiff_t>(rule * dense));
    kept.clear();
    for (const SparseFeature& given : sparse_[rule]) {
      const SparseFeature sparse = {number[given.feature], given.value};
      if (sparse.feature < dense) {
        features[rule * dense + sparse.feature] += sparse.value;
      } else {
        kept.push_back(sparse);
      }
    }
    rest.append(std::span<const SparseFeature>(kept));
  }
  feature_names_ = std::move(renamed);
  features_ = std::move(features);
  sparse_ = std::move(rest);
  dense_ = dense;
}

RuleTable RuleTableBuilder::finish() {
  make_dense();
  trie_.index = {};
  Sections out(RuleTable::kKind, RuleTable::kVersion);
  const auto add = [&](const std::string& name, const Symbols& symbols) {
    MappedSymbols::add(out, name, symbols.size(), [&](Symbol symbol) { return symbols.text(symbol); });
  };
  add("source", source_words_);
  add("target", target_words_);
  add("labels", labels_);
  add("features", feature_names_);

  // Nodes are renumbered breadth first: level by level, each sorted by the parent's new number, then by symbol.
  const std::size_t nodes = trie_.nodes.size();
  const auto symbol = out.add<std::uint32_t>("trie.symbol", nodes);
  const auto first_child = out.add<std::uint32_t>("trie.first_child", nodes + 1);
  const auto first_rule = out.add<std::uint32_t>("trie.first_rule", nodes + 1);
  const auto parent = out.add<std::uint32_t>("trie.parent", nodes);
  std::vector<Node> by_depth(nodes), number(nodes);
  std::uint32_t deepest = 0;
  {
    std::vector<std::size_t> begin(2, 0);
    for (const TrieNode& node : trie_.nodes) {
      const std::uint32_t depth = node.depth;
      if (begin.size() < depth + 2) begin.resize(depth + 2, 0);
      ++begin[depth + 1];
      deepest = std::max(deepest, depth);
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (Node node = 0; node < nodes; ++node) by_depth[begin[trie_.nodes[node].depth]++] = node;
  }
  struct Key {
    std::uint64_t place;  // the parent's number and the symbol
    Node node;
  };
  std::vector<Key> level;
  std::size_t at = 1;
  for (std::uint32_t depth = 1; depth <= deepest; ++depth) {
    level.clear();
    for (std::size_t i = at; i < nodes && trie_.nodes[by_depth[i]].depth == depth; ++i) {
      const Node node = by_depth[i];
      level.push_back(
          {static_cast<std::uint64_t>(number[trie_.nodes[node].parent]) << 32 | trie_.nodes[node].symbol, node});
    }
    std::ranges::sort(level, {}, &Key::place);
    for (const Key& key : level) {
      number[key.node] = static_cast<Node>(at);
      symbol[at] = static_cast<std::uint32_t>(key.place);
      parent[at] = static_cast<std::uint32_t>(key.place >> 32);
      ++first_child[parent[at] + 1];  // children for now
      ++at;
    }
  }
  first_child[0] = 1;
  for (std::size_t node = 0; node < nodes; ++node) first_child[node + 1] += first_child[node];
  trie_ = {};  // here and below, what is written leaves its room to what comes
  by_depth = {};
  level = {};

  // Rules by node, then by left-hand side, else in the order in which they came.
  for (Node& node : node_) {
    node = number[node];
    ++first_rule[node + 1];
  }
  for (std::size_t node = 0; node < nodes; ++node) first_rule[node + 1] += first_rule[node];
  number = {};
  const std::size_t total = rules();
  std::vector<RuleId> sorted(total);
  {
    std::vector<std::uint32_t> next(first_rule.begin(), first_rule.end());
    for (RuleId rule = 0; rule < total; ++rule) sorted[next[node_[rule]]++] = rule;
  }
  node_ = {};
  if (labels_.size() > 1) {
    for (std::size_t node = 0; node < nodes; ++node) {
      std::stable_sort(sorted.begin() + first_rule[node], sorted.begin() + first_rule[node + 1],
                       [&](RuleId a, RuleId b) { return lhs_[a] < lhs_[b]; });
    }
  }
  const auto lhs = out.add<Symbol>("rule.lhs", total);
  const auto features = out.add<float>("rule.features", total * dense_);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    lhs[i] = lhs_[sorted[i]];
    std::copy_n(features_.data() + sorted[i] * dense_, dense_, features.data() + i * dense_);
  }
  features_ = {};
  lhs_ = {};
  const auto write_lists = [&]<class T>(const std::string& name, Lists<T>& lists) {
    if (lists.values.empty()) return;
    const auto ends = out.add<std::uint32_t>(name + ".ends", total + 1);
    const auto values = out.add<T>(name, lists.values.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::span<const T> list = lists[sorted[i]];
      std::ranges::copy(list, values.begin() + ends[i]);
      ends[i + 1] = ends[i] + static_cast<std::uint32_t>(list.size());
    }
    lists = {};
  };
  write_lists("rule.target", target_);
  write_lists("rule.sparse", sparse_);
  write_lists("rule.links", links_);
  write_lists("rule.labels", rule_labels_);
  write_lists("rule.structure", structure_);
  *this = RuleTableBuilder({});
  return RuleTable(std::make_shared<const Sections>(std::move(out)));
}

}  // namespace treeglot
