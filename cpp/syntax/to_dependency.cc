#include "syntax/to_dependency.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/head_table.h"

namespace treeglot {
namespace {

struct Constituent {
  HeadTable::Label label;
  std::string_view base;  // its label's text without functional tags
  std::vector<HeadTable::Label> children;
  std::vector<std::string_view> bases;
  std::vector<std::uint8_t> tags;  // whether the child is the tag of a word
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

template <std::size_t N>
bool one_of(std::string_view label, const std::array<std::string_view, N>& labels) {
  return std::ranges::find(labels, label) != labels.end();
}

constexpr std::array<std::string_view, 2> kPrepositional = {"PP", "WHPP"};
constexpr std::array<std::string_view, 3> kPrepositions = {"IN", "TO", "P"};
constexpr std::array<std::string_view, 5> kVerbal = {"VP", "SINV", "SQ", "S", "FRAG"};
constexpr std::array<std::string_view, 9> kVerbs = {"MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "AUX", "AUXG"};
constexpr std::array<std::string_view, 2> kSubordinate = {"SBAR", "SBARQ"};
constexpr std::array<std::string_view, 3> kSubordinators = {"IN", "DT", "TO"};
constexpr std::array<std::string_view, 6> kClauses = {"S", "SINV", "SQ", "SBAR", "SBARQ", "VP"};

bool hangs(HeadStyle::Word word) { return word == HeadStyle::Word::hangs; }

// The first child after `at` that `wanted` holds of.
template <class Wanted>
std::size_t after(const Constituent& node, std::size_t at, const Wanted& wanted) {
  for (std::size_t child = at + 1; child < node.children.size(); ++child)
    if (wanted(child)) return child;
  return kNone;
}

// The position of the head child; coordination is left to coordinate().
std::size_t head_of(const Constituent& node, const HeadTable& table, const HeadStyle& style) {
  const std::size_t head = table.head_child(node.label, node.children);
  const std::string_view base = node.bases[head];
  const bool tag = node.tags[head] != 0;
  const auto clause = [&](std::size_t child) { return one_of(node.bases[child], kClauses); };
  std::size_t other = kNone;
  if (hangs(style.prepositions) && tag && one_of(node.base, kPrepositional) && one_of(base, kPrepositions)) {
    other = after(node, head, [&](std::size_t child) { return !table.passed_over(node.children[child]); });
  } else if (tag && one_of(node.base, kVerbal) &&
             ((hangs(style.auxiliaries) && one_of(base, kVerbs)) || (hangs(style.infinitives) && base == "TO"))) {
    other = after(node, head, [&](std::size_t child) { return node.bases[child] == "VP"; });
  } else if (hangs(style.subordinators) && tag && one_of(node.base, kSubordinate) && one_of(base, kSubordinators)) {
    other = after(node, head, clause);
  } else if (hangs(style.questions) && one_of(node.base, kSubordinate) && base.starts_with("W")) {
    other = after(node, head, clause);
  } else if (hangs(style.possessives) && tag && base == "POS" && head > 0) {
    other = table.head_child(node.label, std::span(node.children).first(head));
  }
  return other == kNone ? head : other;
}

struct Conjunct {
  std::size_t head;
  std::size_t before;  // what parts it from the conjunct before, if that is a conjunction
};

class Coordination {
 public:
  Coordination(const Constituent& node, const HeadTable& table, const HeadStyle& style)
      : node_(node), table_(table), style_(style), hangs_(node.children.size(), kNone) {
    for (std::size_t child = 0; child < size(); ++child)
      if (joins(child)) last_ = child;
    if (last_ != kNone) find_conjuncts();
  }

  // Whether conjunctions stand between two or more conjuncts.
  bool found() const {
    return conjuncts_.size() >= 2 &&
           std::ranges::any_of(conjuncts_, [](const Conjunct& c) { return c.before != kNone; });
  }

  std::vector<std::size_t> hang() {
    const bool chain = style_.coordination == HeadStyle::Coordination::chain;
    const std::size_t top = chain ? hang_in_chain() : hang_from_conjunction();
    hangs_[top] = top;
    for (std::size_t child = size(); child-- > 0 && passed(child);) hangs_[child] = top;  // ends the whole
    // Punctuation, and conjunctions without their own conjunct, hang from the conjunct before them. If the conjunction
    // is the head, they hang from that.
    for (std::size_t child = 0; child < size(); ++child) {
      if (hangs_[child] != kNone) continue;
      hangs_[child] = top;
      if (!chain) continue;
      for (const Conjunct& conjunct : conjuncts_)
        if (conjunct.head < child) hangs_[child] = conjunct.head;
    }
    return std::move(hangs_);
  }

 private:
  std::size_t size() const { return node_.children.size(); }
  bool joins(std::size_t child) const { return table_.conjunction(node_.children[child]); }
  bool passed(std::size_t child) const { return table_.passed_over(node_.children[child]); }
  bool parts(std::size_t child) const {
    if (joins(child)) return true;
    if (!passed(child) || child > last_) return false;
    std::size_t before = child, next = child + 1;
    while (before > 0 && passed(before - 1)) --before;
    while (next < size() && passed(next)) ++next;
    return before > 0 && next < size() && !joins(next) && !joins(before - 1) &&
           node_.bases[before - 1] == node_.bases[next];
  }

  void find_conjuncts() {
    std::size_t joined = kNone;
    for (std::size_t begin = 0; begin < size();) {
      if (parts(begin)) {
        if (joins(begin)) joined = begin;
        ++begin;
        continue;
      }
      std::size_t end = begin;
      bool words = false;
      while (end < size() && !parts(end)) words = !passed(end++) || words;
      if (words) {
        const std::size_t head = begin + head_of(part(begin, end), table_, style_);
        for (std::size_t child = begin; child < end; ++child) hangs_[child] = head;
        conjuncts_.push_back({head, joined});
        joined = kNone;
      }
      begin = end;
    }
  }

  // The children from begin to end as a constituent of the same label.
  Constituent part(std::size_t begin, std::size_t end) const {
    const auto cut = [&](const auto& all) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    return {node_.label, node_.base, cut(node_.children), cut(node_.bases), cut(node_.tags)};
  }

  // Both hang the conjuncts and give the head of all.
  std::size_t hang_in_chain() {
    for (std::size_t i = 1; i < conjuncts_.size(); ++i) {
      const Conjunct& conjunct = conjuncts_[i];
      const std::size_t above = conjuncts_[i - 1].head;
      if (conjunct.before != kNone) hangs_[conjunct.before] = above;
      hangs_[conjunct.head] = conjunct.before == kNone ? above : conjunct.before;
    }
    return conjuncts_.front().head;
  }
  std::size_t hang_from_conjunction() {
    std::size_t top = kNone;
    for (const Conjunct& conjunct : conjuncts_)
      if (conjunct.before != kNone) top = conjunct.before;
    for (const Conjunct& conjunct : conjuncts_) hangs_[conjunct.head] = top;
    return top;
  }

  const Constituent& node_;
  const HeadTable& table_;
  const HeadStyle& style_;
  std::size_t last_ = kNone;  // conjunction
  std::vector<Conjunct> conjuncts_;
  std::vector<std::size_t> hangs_;
};

// Which child each child hangs from in a coordination, and which one is the head of all (it hangs from itself). Empty
// if the constituent is not a coordination: two or more conjuncts with conjunctions between them. Conjunctions separate
// conjuncts, and so does punctuation between two children with the same label before a conjunction.
std::vector<std::size_t> coordinate(const Constituent& node, const HeadTable& table, const HeadStyle& style) {
  Coordination coordination(node, table, style);
  return coordination.found() ? coordination.hang() : std::vector<std::size_t>();
}

// Kept over the trees of a batch, so that its arrays are allocated once.
class Converter {
 public:
  Converter(const HeadTable& table, const HeadStyle& style) : table_(table), style_(style) {}

  Dependency convert(const Tree& tree) {
    std::vector<std::int32_t> heads(tree.words(), Dependency::kRoot);
    head_word_.resize(tree.size());
    label_.resize(tree.size());
    // Nodes are in preorder: from the last to the first, children come before their parents.
    for (auto node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {
      if (tree.is_word(node)) {
        head_word_[node] = static_cast<std::int32_t>(tree.span(node).begin);
        label_[node] = table_.unknown();
      } else {
        label_[node] = table_.find(tree.label(node));
        head_word_[node] = attach_children(tree, node, heads);
      }
    }
    return Dependency(words(tree), std::move(heads), tags(tree));
  }

 private:
  std::int32_t attach_children(const Tree& tree, std::uint32_t node, std::vector<std::int32_t>& heads) {
    children_.clear();
    constituent_.label = label_[node];
    constituent_.base = table_.base(tree.label(node));
    constituent_.children.clear();
    constituent_.bases.clear();
    constituent_.tags.clear();
    for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child)) {
      children_.push_back(child);
      constituent_.children.push_back(label_[child]);
      constituent_.bases.push_back(tree.is_word(child) ? std::string_view() : table_.base(tree.label(child)));
      constituent_.tags.push_back(tree.subtree_size(child) == 2 ? 1 : 0);
    }
    if (style_.coordination != HeadStyle::Coordination::table) {
      const std::vector<std::size_t> hangs = coordinate(constituent_, table_, style_);
      if (!hangs.empty()) return attach(hangs, heads);
    }
    const std::uint32_t head = children_[head_of(constituent_, table_, style_)];
    for (const std::uint32_t child : children_) {
      if (child != head) heads[static_cast<std::size_t>(head_word_[child])] = head_word_[head];
    }
    return head_word_[head];
  }

  std::int32_t attach(const std::vector<std::size_t>& hangs, std::vector<std::int32_t>& heads) {
    std::int32_t top = 0;
    for (std::size_t child = 0; child < hangs.size(); ++child) {
      const std::int32_t word = head_word_[children_[child]];
      if (hangs[child] == child) {
        top = word;
      } else {
        heads[static_cast<std::size_t>(word)] = head_word_[children_[hangs[child]]];
      }
    }
    return top;
  }

  static Strings words(const Tree& tree) {
    Strings words;
    for (std::size_t position = 0; position < tree.words(); ++position) words.append(tree.word(position));
    return words;
  }

  Strings tags(const Tree& tree) const {
    Strings tags;
    for (std::size_t position = 0; position < tree.words(); ++position) tags.append(table_.base(tree.tag(position)));
    return tags;
  }

  const HeadTable& table_;
  const HeadStyle& style_;
  std::vector<std::int32_t> head_word_;  // by node
  std::vector<HeadTable::Label> label_;  // by node
  std::vector<std::uint32_t> children_;  // of the node at hand
  Constituent constituent_;              // likewise
};

}  // namespace

Dependency to_dependency(const Tree& tree, const HeadTable& heads, const HeadStyle& style) {
  return Converter(heads, style).convert(tree);
}

std::vector<Dependency> to_dependency(std::span<const Tree* const> trees, const HeadTable& heads,
                                      const HeadStyle& style) {
  std::vector<Dependency> out;
  out.reserve(trees.size());
  Converter converter(heads, style);
  for (const Tree* tree : trees) out.push_back(converter.convert(*tree));
  return out;
}

}  // namespace treeglot
