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

}  // namespace

Tree clean_tree(const Tree& tree) {
  if (tree.empty()) return Tree();
  std::vector<std::uint32_t> kept(tree.size(), 0);  // words below a node that stay
  for (std::uint32_t node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {
    const std::uint32_t parent = tree.parent(node);
    if (tree.is_word(node)) kept[node] = parent == Tree::kNone || tree.label(parent) != kTrace;
    if (parent != Tree::kNone) kept[parent] += kept[node];
  }
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
        std::size_t brothers = 0;
        for (std::uint32_t c = tree.first_child(parent); c != tree.end(parent); c = tree.end(c))
          brothers += kept[c] > 0;
        if (brothers == 1) continue;  // its children go to the parent, whose end is the same up to what goes
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
  std::vector<std::uint32_t>& slots = slots_[static_cast<std::size_t>(kind)];
  if ((rules.size() + 1) * 2 > slots.size()) {
    slots.assign(std::max<std::size_t>(64, slots.size() * 2), 0);
    for (std::uint32_t r = 0; r < rules.size(); ++r) {
      std::size_t at = hash_rule(rules[r]) & (slots.size() - 1);
      while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
      slots[at] = r + 1;
    }
  }
  std::size_t at = hash_rule(wanted) & (slots.size() - 1);
  for (; slots[at] != 0; at = (at + 1) & (slots.size() - 1)) {
    const BankRule& found = rules[slots[at] - 1];
    if (found.head == wanted.head && found.left == wanted.left && found.right == wanted.right) return slots[at] - 1;
  }
  rules.push_back(wanted);
  slots[at] = static_cast<std::uint32_t>(rules.size());
  return slots[at] - 1;
}

void Treebank::add(const Tree& tree) {
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
  // Where the unary chain below a node comes back to the node's label, the node stands for the lowest of them.
  std::vector<std::uint32_t> below(tree.size());  // a node → the one whose children it has
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    below[node] = node;
    std::string chain(tree.label(node));
    std::uint32_t at = node;
    while (!tree.is_word(at) && tree.subtree_size(at) > 2 && tree.end(tree.first_child(at)) == tree.end(at)) {
      at = tree.first_child(at);
      (chain += " > ") += tree.label(at);
      if (tree.label(at) == tree.label(node)) {
        below[node] = at;
        ++unary_cycles_;
        if (first_cycle_.empty()) first_cycle_ = chain;
      }
    }
  }

  std::vector<BankNode> made;  // of this tree, after those below them
  struct Step {
    std::uint32_t node;
    std::uint32_t next_child;             // of below[node]
    std::vector<std::uint32_t> children;  // numbers in `made`
  };
  // Trees with and without the root's label become the same, or their mixture would have parses that look alike.
  const bool has_root = tree.label(0) == labels_.text(0);
  std::string text;
  const auto name = [&](std::uint32_t node, std::span<const Step> above) {
    text = tree.label(node);
    if (tree.subtree_size(below[node]) == 2) return labels_.intern(text);
    for (std::uint32_t up = 0; up + 1 < options_.vertical && up < above.size(); ++up)
      (text += '^') += tree.label(above[above.size() - 1 - up].node);
    if (!has_root && above.size() + 1 < options_.vertical) (text += '^') += labels_.text(0);
    return labels_.intern(text);
  };
  const auto add_node = [&](BankNode node) {
    BankRule found{node.label, 0, 0};
    if (node.kind == RuleKind::lexical) {
      found.left = node.word;
    } else {
      found.left = made[node.left].label;
      if (node.kind == RuleKind::binary) found.right = made[node.right].label;
    }
    node.rule = rule(node.kind, found);
    made.push_back(node);
    return static_cast<std::uint32_t>(made.size() - 1);
  };
  std::vector<Step> stack;
  stack.push_back({0, tree.first_child(below[0]), {}});
  std::uint32_t top = 0;
  while (!stack.empty()) {
    Step& step = stack.back();
    const std::uint32_t source = below[step.node];
    if (tree.subtree_size(source) > 2 && step.next_child != tree.end(source)) {
      const std::uint32_t child = step.next_child;
      step.next_child = tree.end(child);
      stack.push_back({child, tree.first_child(below[child]), {}});
      continue;
    }
    const std::vector<std::uint32_t> children = std::move(step.children);
    const Symbol label = name(step.node, std::span<const Step>(stack).first(stack.size() - 1));
    std::uint32_t number = 0;
    if (tree.subtree_size(source) == 2) {
      const std::uint32_t word = tree.first_child(source);
      number = add_node({RuleKind::lexical, label, words_.intern(tree.label(word)), tree.span(word).begin, 0, 0, 0});
    } else if (children.size() == 1) {
      number = add_node({RuleKind::unary, label, 0, 0, children[0], 0, 0});
    } else {
      std::uint32_t left = children[0];
      for (std::size_t c = 1; c < children.size(); ++c) {
        Symbol head = label;
        if (c + 1 < children.size()) {
          std::string part = "@" + std::string(labels_.text(label));
          for (std::size_t back = std::min<std::size_t>(options_.horizontal, c + 1); back-- > 0;)
            (part += '|') += labels_.text(made[children[c - back]].label);
          head = labels_.intern(part);
        }
        left = add_node({RuleKind::binary, head, 0, 0, left, children[c], 0});
      }
      number = left;
    }
    stack.pop_back();
    if (stack.empty()) {
      top = number;
    } else {
      stack.back().children.push_back(number);
    }
  }
  if (made[top].label != 0) add_node({RuleKind::unary, 0, 0, 0, top, 0, 0});
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
