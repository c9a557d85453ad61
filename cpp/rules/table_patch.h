// What lies over a rule table: source sides with other rules than the table's.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "rules/table.h"

namespace treeglot {

// Numbers that lead to nodes, rules and symbols of the patch follow those of the table's file.
struct TablePatch {
  static constexpr std::uint32_t kNone = 0xffffffffu;

  struct Node {
    RuleTable::Node own;   // the node of the file's trie for the same symbols, or kNoNode
    std::uint32_t parent;  // a node of the patch
    Symbol symbol;
    bool changed = false;                        // its rules are those of the list, not the file's
    std::uint32_t first_rule = 0, end_rule = 0;  // of the lists
    std::vector<std::uint32_t> children = {};
  };

  TablePatch() { nodes.push_back({0, kNone, 0}); }  // the root of the file's trie is its node 0

  // The child of a node of the patch, or kNone.
  std::uint32_t child(std::uint32_t node, Symbol symbol) const {
    return index_.find(hash(node, symbol), [&](std::uint32_t known) { return is(known, node, symbol); });
  }
  // The same; made if it is new.
  std::uint32_t make_child(const RuleTable& table, std::uint32_t node, Symbol symbol);

  std::vector<Node> nodes;  // the root is the first
  std::vector<RuleId> lists;
  std::vector<Rule> rules;
  std::vector<RuleId> origin;             // by rule: the one of the file that it was, or kNone
  std::vector<std::uint32_t> correction;  // by rule: the last that changed it
  std::vector<RuleTable::Node> hidden;    // nodes of the file that the patch has nodes for, sorted
  Symbols source_words, target_words, labels, feature_names;

 private:
  static std::uint64_t hash(std::uint32_t node, Symbol symbol) {
    return hash_number(std::uint64_t{node} << 32 | symbol);
  }
  bool is(std::uint32_t known, std::uint32_t parent, Symbol symbol) const {
    return nodes[known].parent == parent && nodes[known].symbol == symbol;
  }
  HashIndex index_;
};

}  // namespace treeglot
