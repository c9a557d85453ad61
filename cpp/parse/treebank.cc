#include "parse/treebank.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace treeglot {
namespace {

constexpr std::string_view kTrace = "-NONE-";

// NP-SBJ=2 → NP, but -LRB- and -NONE- stay.
std::string_view bare_label(std::string_view label) { return label.substr(0, label.find_first_of("-=", 1)); }

std::uint64_t hash_rule(const BankRule& rule) {
  const std::uint32_t parts[] = {rule.head, rule.left, rule.right};
  return hash_bytes({reinterpret_cast<const char*>(parts), sizeof parts});
}

// By node: the words below it that stay.
std::vector<std::uint32_t> kept_words(const Tree& tree) {
  std::vector<std::uint32_t> out(tree.size(), 0);
  for (std::uint32_t node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {
    const std::uint32_t parent = tree.parent(node);
    if (tree.is_word(node)) out[node] = parent == Tree::kNone || tree.label(parent) != kTrace;
    if (parent != Tree::kNone) out[parent] += out[node];
  }
  return out;
}

std::size_t kept_children(const Tree& tree, std::uint32_t node, const std::vector<std::uint32_t>& kept) {
  std::size_t out = 0;
  for (std::uint32_t c = tree.first_child(node); c != tree.end(node); c = tree.end(c)) out += kept[c] > 0;
  return out;
}

}  // namespace

Tree clean_tree(const Tree& tree) {
  if (tree.empty()) return Tree();
  const std::vector<std::uint32_t> kept = kept_words(tree);
  if (kept[0] == 0) return Tree();
  TreeBuilder builder;
  std::vector<std::uint32_t> ends;  // where open brackets close; kNone for one that was left out
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    while (!ends.empty() && ends.back() <= node) {
      ends.pop_back();
      builder.close();
    }
    if (kept[node] == 0) {
      node = tree.end(node) - 1;
    } else if (tree.is_word(node)) {
      builder.word(tree.label(node));
    } else {
      const std::uint32_t parent = tree.parent(node);
      const bool tag = tree.subtree_size(node) == 2;
      // Tags with dashes of their own (-LRB-, HYPH) are no functional ones.
      const std::string_view label =
          tag && tree.label(node).front() == '-' ? tree.label(node) : bare_label(tree.label(node));
      if (!tag && parent != Tree::kNone && kept[parent] == kept[node] && bare_label(tree.label(parent)) == label) {
        if (kept_children(tree, parent, kept) == 1)
          continue;  // its children go to the parent, whose end is the same up to what goes
      }
      builder.open(label);
      ends.push_back(tree.end(node));
    }
  }
  while (!ends.empty()) {
    ends.pop_back();
    builder.close();
  }
  return builder.finish();
}

std::uint32_t Treebank::rule(RuleKind kind, const BankRule& wanted) {
  std::vector<BankRule>& rules = rules_[static_cast<std::size_t>(kind)];
  const auto next = static_cast<std::uint32_t>(rules.size());
  const std::uint32_t rule = index_[static_cast<std::size_t>(kind)].intern(
      hash_rule(wanted), next, [&](std::uint32_t known) { return rules[known] == wanted; });
  if (rule == next) rules.push_back(wanted);
  return rule;
}

namespace {

void check_tree(const Tree& tree) {
  if (tree.empty()) throw std::invalid_argument("an empty tree");
  for (std::size_t i = 0; i < tree.words(); ++i) {
    const std::uint32_t parent = tree.parent(tree.word_node(i));
    if (parent == Tree::kNone || tree.subtree_size(parent) != 2)
      throw std::invalid_argument("the word " + quoted(tree.word(i)) + " has no tag of its own");
  }
  // Parts of rules are told by their @. No label is as short as the tag @, so no part has its name.
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    const std::string_view label = tree.label(node);
    if (!tree.is_word(node) && label.starts_with('@') && !(label.size() == 1 && tree.subtree_size(node) == 2))
      throw std::invalid_argument("the label " + quoted(label) +
                                  " begins with @, as parts of rules do; expected another");
  }
}

}  // namespace

// Binarises one tree.
class Treebank::Binarizer {
 public:
  Binarizer(Treebank& bank, const Tree& tree)
      : bank_(bank), tree_(tree), has_root_(tree.label(0) == bank.labels_.text(0)), below_(tree.size()) {
    cut_cycles();
  }

  std::vector<BankNode> run();

 private:
  struct Step {
    std::uint32_t node;
    std::uint32_t next_child;             // of below_[node]
    std::vector<std::uint32_t> children;  // numbers in made_
  };

  void cut_cycles();
  Symbol name(std::uint32_t node, std::span<const Step> above);
  std::uint32_t add_node(BankNode node);
  std::uint32_t add_binary(Symbol label, std::span<const std::uint32_t> children);

  Treebank& bank_;
  const Tree& tree_;
  // Trees with and without the root's label become the same, or their mixture would have parses that look alike.
  bool has_root_;
  std::vector<std::uint32_t> below_;  // a node → the one whose children it has
  std::vector<BankNode> made_;        // after those below them
};

// Where the unary chain below a node comes back to the node's label, the node stands for the lowest of them.
void Treebank::Binarizer::cut_cycles() {
  for (std::uint32_t node = 0; node < tree_.size(); ++node) {
    below_[node] = node;
    std::string chain(tree_.label(node));
    std::uint32_t at = node;
    while (!tree_.is_word(at) && tree_.subtree_size(at) > 2 && tree_.end(tree_.first_child(at)) == tree_.end(at)) {
      at = tree_.first_child(at);
      (chain += " > ") += tree_.label(at);
      if (tree_.label(at) == tree_.label(node)) {
        below_[node] = at;
        ++bank_.unary_cycles_;
        if (bank_.first_cycle_.empty()) bank_.first_cycle_ = chain;
      }
    }
  }
}

Symbol Treebank::Binarizer::name(std::uint32_t node, std::span<const Step> above) {
  std::string text(tree_.label(node));
  if (tree_.subtree_size(below_[node]) == 2) return bank_.labels_.intern(text);
  for (std::uint32_t up = 0; up + 1 < bank_.options_.vertical && up < above.size(); ++up)
    (text += '^') += tree_.label(above[above.size() - 1 - up].node);
  if (!has_root_ && above.size() + 1 < bank_.options_.vertical) (text += '^') += bank_.labels_.text(0);
  return bank_.labels_.intern(text);
}

std::uint32_t Treebank::Binarizer::add_node(BankNode node) {
  BankRule found{node.label, 0, 0};
  if (node.kind == RuleKind::lexical) {
    found.left = node.word;
  } else {
    found.left = made_[node.left].label;
    if (node.kind == RuleKind::binary) found.right = made_[node.right].label;
  }
  node.rule = bank_.rule(node.kind, found);
  made_.push_back(node);
  return static_cast<std::uint32_t>(made_.size() - 1);
}

std::uint32_t Treebank::Binarizer::add_binary(Symbol label, std::span<const std::uint32_t> children) {
  std::uint32_t left = children[0];
  for (std::size_t c = 1; c < children.size(); ++c) {
    Symbol head = label;
    if (c + 1 < children.size()) {
      std::string part = "@" + std::string(bank_.labels_.text(label));
      for (std::size_t back = std::min<std::size_t>(bank_.options_.horizontal, c + 1); back-- > 0;)
        (part += '|') += bank_.labels_.text(made_[children[c - back]].label);
      head = bank_.labels_.intern(part);
    }
    left = add_node({RuleKind::binary, head, 0, 0, left, children[c], 0});
  }
  return left;
}

std::vector<BankNode> Treebank::Binarizer::run() {
  std::vector<Step> stack;
  stack.push_back({0, tree_.first_child(below_[0]), {}});
  std::uint32_t number = 0;
  while (!stack.empty()) {
    Step& step = stack.back();
    const std::uint32_t source = below_[step.node];
    if (tree_.subtree_size(source) > 2 && step.next_child != tree_.end(source)) {
      const std::uint32_t child = step.next_child;
      step.next_child = tree_.end(child);
      stack.push_back({child, tree_.first_child(below_[child]), {}});
      continue;
    }
    const std::vector<std::uint32_t> children = std::move(step.children);
    const Symbol label = name(step.node, std::span<const Step>(stack).first(stack.size() - 1));
    if (tree_.subtree_size(source) == 2) {
      const std::uint32_t word = tree_.first_child(source);
      const Symbol text = bank_.words_.intern(tree_.label(word));
      number = add_node({RuleKind::lexical, label, text, tree_.span(word).begin, 0, 0, 0});
    } else if (children.size() == 1) {
      number = add_node({RuleKind::unary, label, 0, 0, children[0], 0, 0});
    } else {
      number = add_binary(label, children);
    }
    stack.pop_back();
    if (!stack.empty()) stack.back().children.push_back(number);
  }
  if (made_[number].label != 0) add_node({RuleKind::unary, 0, 0, 0, number, 0, 0});
  return std::move(made_);
}

void Treebank::add(const Tree& tree) {
  check_tree(tree);
  const std::vector<BankNode> made = Binarizer(*this, tree).run();
  nodes_.insert(nodes_.end(), made.begin(), made.end());
  first_.push_back(nodes_.size());
}

std::uint64_t Treebank::hash() const {
  std::uint64_t out = hash_bytes({reinterpret_cast<const char*>(&options_), sizeof options_});
  for (const BankNode& node : nodes_) {
    const std::uint32_t parts[] = {node.label, node.word, node.left,
                                   node.right, node.rule, static_cast<std::uint32_t>(node.kind)};
    out = hash_bytes({reinterpret_cast<const char*>(parts), sizeof parts}, out);
  }
  for (const Symbols* symbols : {&labels_, &words_}) {
    for (Symbol s = 0; s < symbols->size(); ++s) out = hash_bytes(symbols->text(s), out);
  }
  return out;
}

}  // namespace treeglot
