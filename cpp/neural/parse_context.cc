#include "neural/parse_context.h"

#include "syntax/forest_trees.h"

namespace treeglot {
namespace {

std::string label(std::string_view text) { return std::string(kLabel).append(text); }

// Whether a tree's root only holds the tree. Some formats have such a root, and others of the same trees have none.
bool is_holder(const Tree& tree) {
  const std::string_view root = tree.label(0);
  return !tree.is_word(0) && (root.empty() || root == "ROOT" || root == "TOP" || root == "S1");
}

// The place of a word's k-th text.
std::size_t place(std::size_t word, std::size_t k) { return word * kParseInputs + k; }

}  // namespace

std::string_view parse_kind_name(ParseKind kind) {
  constexpr std::string_view kNames[kParseKinds] = {"no parse", "constituents", "dependencies"};
  return kNames[static_cast<std::size_t>(kind)];
}

ParseContext parse_context(const Tree& tree) {
  ParseContext out{ParseKind::constituents, std::vector<std::string>(tree.words() * kParseInputs)};
  const std::uint32_t first = tree.words() > 0 && is_holder(tree) ? 1 : 0;
  for (std::size_t word = 0; word < tree.words(); ++word) {
    const std::uint32_t tag = tree.parent(tree.word_node(word)), around = tree.parent(tag);
    out.texts[place(word, 0)] = label(tree.label(tag));
    if (around != Tree::kNone && around >= first) out.texts[place(word, 1)] = label(tree.label(around));
  }
  for (std::uint32_t node = first; node < tree.size(); ++node) {  // the largest ones come first
    if (tree.is_word(node)) continue;
    const Span span = tree.span(node);
    for (const std::size_t at : {place(span.begin, 2), place(span.end - 1, 3)})
      if (out.texts[at].empty()) out.texts[at] = label(tree.label(node));
  }
  return out;
}

ParseContext parse_context(const ParseForest& forest) {
  if (forest.parsed()) return parse_context(viterbi_tree(forest));
  return {ParseKind::constituents, std::vector<std::string>(forest.words() * kParseInputs)};
}

ParseContext parse_context(const Dependency& tree) {
  ParseContext out{ParseKind::dependencies, std::vector<std::string>(tree.size() * kParseInputs)};
  for (std::size_t word = 0; word < tree.size(); ++word) {
    if (!tree.tags().empty()) out.texts[place(word, 0)] = label(tree.tags()[word]);
    if (!tree.relations().empty()) out.texts[place(word, 1)] = label(tree.relations()[word]);
    if (tree.head(word) < 0) continue;
    const auto head = static_cast<std::size_t>(tree.head(word));
    out.texts[place(word, 2)] = tree.words()[head];
    if (!tree.tags().empty()) out.texts[place(word, 3)] = label(tree.tags()[head]);
  }
  return out;
}

}  // namespace treeglot
