// Trees made ready for training: cleaned, binarised, and as lists of rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/hash_index.h"
#include "base/symbols.h"
#include "syntax/tree.h"

namespace treeglot {

// A tree without traces (-NONE-) and what has nothing else below it. It has no functional tags and indices (NP-SBJ=2 →
// NP), and no unary rules of a label by itself. The empty tree when nothing is left.
Tree clean_tree(const Tree& tree);

// How rules of more than two children become binary ones. A part of A's rule that covers its first children is labelled
// @A, followed by the last `horizontal` of them. Labels remember vertical − 1 ancestors: NP^S.
struct BinarizeOptions {
  std::uint32_t horizontal = 0;
  std::uint32_t vertical = 1;
};

enum class RuleKind : std::uint8_t { lexical, unary, binary };

// A node of a binarised tree; nodes come after those below them.
struct BankNode {
  RuleKind kind = RuleKind::lexical;
  Symbol label = 0;
  Symbol word = 0;                    // lexical
  std::uint32_t position = 0;         // lexical: of the word in the sentence
  std::uint32_t left = 0, right = 0;  // nodes of the same tree
  std::uint32_t rule = 0;             // number among the rules of its kind
};

struct BankRule {
  Symbol head = 0, left = 0, right = 0;  // lexical: left is the word; unary: the child
  friend bool operator==(const BankRule&, const BankRule&) = default;
};

class Treebank : public Exclusive {
 public:
  Treebank(const BinarizeOptions& options, std::string_view root) : options_(options) { labels_.intern(root); }

  // Adds a tree; the root label goes above it, unless it is there already. A chain of unary rules from a label back to
  // itself, be it a tag's, is cut short and counted. Refuses, by std::invalid_argument, the empty tree, words beside
  // other children, and labels that begin with @ but for the tag @.
  void add(const Tree& tree);

  std::size_t size() const { return first_.size() - 1; }
  std::span<const BankNode> operator[](std::size_t i) const {
    return std::span<const BankNode>(nodes_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  const Symbols& labels() const { return labels_; }
  const Symbols& words() const { return words_; }
  std::span<const BankRule> rules(RuleKind kind) const { return rules_[static_cast<std::size_t>(kind)]; }
  std::size_t unary_cycles() const { return unary_cycles_; }
  const std::string& first_cycle() const { return first_cycle_; }  // its labels, "S > VP > S"
  std::uint64_t hash() const;  // of all trees and the options: training that goes on must go on with the same

 private:
  class Binarizer;
  std::uint32_t rule(RuleKind kind, const BankRule& rule);

  BinarizeOptions options_;
  Symbols labels_, words_;
  std::vector<BankRule> rules_[3];
  HashIndex index_[3];
  std::vector<BankNode> nodes_;
  std::vector<std::size_t> first_ = {0};
  std::size_t unary_cycles_ = 0;
  std::string first_cycle_;
};

}  // namespace treeglot
