#include "syntax/category.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace treeglot {
namespace {

struct OneTree {
  explicit OneTree(const Tree& tree) {
    std::vector<Bracket> brackets;
    append_brackets(tree, labels, brackets);
    finder.assign(brackets, tree.words());
  }
  std::string text(Span span) {
    finder.find(span, category);
    return category_text(category, [&](Symbol label) { return escaped_label(labels.text(label)); });
  }

  Symbols labels;
  CategoryFinder finder;
  Category category;
};

void check_span(const Tree& tree, Span span) {
  if (span.begin >= span.end || span.end > tree.words()) {
    throw std::invalid_argument("the span [" + std::to_string(span.begin) + ", " + std::to_string(span.end) +
                                ") of a tree with " + std::to_string(tree.words()) + " words");
  }
}

constexpr std::uint32_t kNone = 0xffffffffu;

// The bytes of the character at `at` that must not stand in a label, or 0.
std::size_t special_bytes(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte <= 0x20 || byte == 0x7f) return 1;
  if (byte < 0x80) return std::string_view("%/\\[]|~").find(text[at]) != std::string_view::npos ? 1 : 0;
  // · and → join labels; the others are Unicode's blanks.
  static constexpr std::array<std::string_view, 11> kCharacters = {
      "·", "→", "\u0085", "\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200a"};
  for (const std::string_view character : kCharacters)
    if (text.substr(at).starts_with(character)) return character.size();
  const std::string_view three = text.substr(at, 3);
  if (three >= "\u2000" && three <= "\u2009") return 3;
  return 0;
}

}  // namespace

void CategoryFinder::assign(std::span<const Bracket> brackets, std::size_t words) {
  nodes_.clear();
  words_.assign(words, kNone);
  std::uint32_t open = kNone;  // the innermost node that may hold the next
  for (const Bracket& bracket : brackets) {
    while (open != kNone && nodes_[open].span.end <= bracket.span.begin) open = nodes_[open].parent;
    if (open != kNone && nodes_[open].span == bracket.span) continue;
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({bracket.span, bracket.label, open});
    if (bracket.span.size() == 1) words_[bracket.span.begin] = node;
    open = node;
  }
  if (!nodes_.empty() && std::ranges::find(words_, kNone) != words_.end())
    throw std::invalid_argument("every word of a tree must have a node of its own");
}

std::uint32_t CategoryFinder::smallest(Span span) const {
  std::uint32_t node = words_[span.begin];
  while (nodes_[node].span.end < span.end) node = nodes_[node].parent;
  return node;
}

std::uint32_t CategoryFinder::largest_first(Span span) const {
  std::uint32_t node = words_[span.begin];
  for (std::uint32_t up = nodes_[node].parent; up != kNone && span.contains(nodes_[up].span); up = nodes_[up].parent)
    node = up;
  return node;
}

void CategoryFinder::append_parts(Span span, std::vector<Symbol>& out) const {
  while (!span.empty()) {
    const Node& node = nodes_[largest_first(span)];
    out.push_back(node.label);
    span.begin = node.span.end;
  }
}

std::size_t CategoryFinder::parts(Span span, std::size_t most) const {
  std::size_t count = 0;
  while (!span.empty() && count <= most) {
    span.begin = nodes_[largest_first(span)].span.end;
    ++count;
  }
  return count;
}

void CategoryFinder::find(Span span, Category& out) const {
  out.clear();
  const Node& above = nodes_[smallest(span)];
  if (above.span == span) {
    out.labels.push_back(above.label);
    return;
  }
  // A product has the fewest parts when they are the largest constituents inside the span. A slash has the fewest
  // arguments when it lacks them from the smallest constituent around the span: a larger one lacks more.
  append_parts(span, out.labels);
  const std::size_t product = out.labels.size();
  if (product <= 2) return;
  const Span before{above.span.begin, span.begin}, after{span.end, above.span.end};
  const std::size_t left = parts(before, product - 2);
  if (1 + left >= product) return;
  const std::size_t right = parts(after, product - 2 - left);
  if (1 + left + right >= product) return;
  out.labels.clear();
  append_parts(before, out.labels);
  out.left = static_cast<std::uint32_t>(out.labels.size());
  out.labels.push_back(above.label);
  append_parts(after, out.labels);
  out.right = static_cast<std::uint32_t>(out.labels.size()) - out.left - 1;
}

std::uint32_t CategoryFinder::crossed(Span span) const {
  std::uint32_t count = 0;
  // Those that hold the first word but not the last …
  for (std::uint32_t node = words_[span.begin]; nodes_[node].span.end < span.end; node = nodes_[node].parent)
    count += nodes_[node].span.begin < span.begin ? 1 : 0;
  // … and those that hold the last but not the first.
  for (std::uint32_t node = words_[span.end - 1]; nodes_[node].span.begin > span.begin; node = nodes_[node].parent)
    count += nodes_[node].span.end > span.end ? 1 : 0;
  return count;
}

std::string escaped_label(std::string_view label) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  const auto escape = [&](std::string_view bytes) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  };
  if (label == "X") {  // what rules without labels have
    escape(label);
    return out;
  }
  for (std::size_t at = 0; at < label.size();) {
    std::size_t special = special_bytes(label, at);
    if (label[at] == ',' && label.size() > 1) special = 1;  // the comma's own tag stays readable
    if (special > 0) escape(label.substr(at, special));
    const std::size_t size = std::max<std::size_t>(special, 1);
    if (special == 0) out += label[at];
    at += size;
  }
  return out;
}

std::string span_category(const Tree& tree, Span span) {
  check_span(tree, span);
  return OneTree(tree).text(span);
}

std::uint32_t crossed_constituents(const Tree& tree, Span span) {
  check_span(tree, span);
  return OneTree(tree).finder.crossed(span);
}

std::vector<SpanCategory> span_categories(const Tree& tree, std::uint32_t max_length) {
  OneTree one(tree);
  std::vector<SpanCategory> out;
  const auto words = static_cast<std::uint32_t>(tree.words());
  for (std::uint32_t begin = 0; begin < words; ++begin) {
    const std::uint32_t last = begin + std::min(max_length, words - begin);
    for (std::uint32_t end = begin + 1; end <= last; ++end) out.push_back({{begin, end}, one.text({begin, end})});
  }
  return out;
}

}  // namespace treeglot
