#include "rules/head_dependents.h"

#include <algorithm>
#include <charconv>

#include "syntax/dependency_checks.h"

namespace treeglot {

void Relations::assign(Heads heads) {
  const auto words = static_cast<std::uint32_t>(heads.size());
  first_.assign(words + 2, 0);
  roots_.clear();
  for (std::uint32_t word = 0; word < words; ++word) {
    ++first_[word + 2];
    if (heads[word] >= 0) {
      ++first_[static_cast<std::size_t>(heads[word]) + 2];
    } else {
      roots_.push_back(word);
    }
  }
  for (std::uint32_t word = 0; word < words; ++word) first_[word + 2] += first_[word + 1];
  // In word order, so each word's members are, too.
  members_.resize(first_[words + 1]);
  head_at_.resize(words);
  for (std::uint32_t word = 0; word < words; ++word) {
    head_at_[word] = first_[word + 1];
    members_[first_[word + 1]++] = word;
    if (heads[word] >= 0) members_[first_[static_cast<std::size_t>(heads[word]) + 1]++] = word;
  }
  first_.pop_back();
  for (std::uint32_t word = 0; word < words; ++word) head_at_[word] -= first_[word];

  const DependencyOrder order(heads);
  bottom_up_.assign(order.words().rbegin(), order.words().rend());
  subtree_.resize(words);
  for (const std::uint32_t word : bottom_up_) {
    const auto in = members(word);
    subtree_[word] = {in.front() == word ? word : subtree_[in.front()].begin,
                      in.back() == word ? word + 1 : subtree_[in.back()].end};
  }
}

void Annotation::assign(const Relations& relations, const Frontier& frontier) {
  const auto words = static_cast<std::uint32_t>(relations.words());
  head_span_.resize(words);
  consistent_.resize(words);
  dependency_span_.resize(words);
  for (const std::uint32_t word : relations.bottom_up()) {
    head_span_[word] = frontier.closure_of_source(word);
    consistent_[word] = !frontier.tight_target({word, word + 1}).empty();
    Span span = consistent_[word] != 0 ? head_span_[word] : Span{};
    for (const std::uint32_t member : relations.members(word)) {
      if (member != word) span = hull(span, dependency_span_[member]);
    }
    dependency_span_[word] = span;
  }
}

bool Annotation::acceptable(const Relations& relations, std::size_t head) const {
  const auto members = relations.members(head);
  if (members.size() == 1 || consistent_[head] == 0) return false;
  std::vector<Span> spans;
  for (const std::uint32_t member : members) {
    const Span span = span_of(head, member);
    if (!span.empty()) {
      spans.push_back(span);
    } else if (!relations.is_leaf(member)) {
      return false;
    }
  }
  std::ranges::sort(spans, {}, &Span::begin);
  return std::ranges::adjacent_find(spans, [](Span a, Span b) { return b.begin < a.end; }) == spans.end();
}

std::string head_place_label(std::size_t place) { return "H" + std::to_string(place + 1); }

std::string word_tag_label(std::string_view tag) {
  const bool marked = tag.starts_with('*') || tag.starts_with('=') || tag.starts_with('\\');
  return (marked ? "\\" : "") + std::string(tag);
}

std::string structure_label(StructureRange range) {
  return std::to_string(range.first + 1) + "-" + std::to_string(range.last + 1);
}

std::optional<StructureRange> parse_structure_label(std::string_view label) {
  StructureRange range;
  const char* const end = label.data() + label.size();
  const auto [dash, first_error] = std::from_chars(label.data(), end, range.first);
  if (first_error == std::errc() && dash != end && *dash == '-') {
    const auto [stop, last_error] = std::from_chars(dash + 1, end, range.last);
    if (last_error == std::errc() && stop == end && 0 < range.first && range.first < range.last)
      return StructureRange{range.first - 1, range.last - 1};
  }
  return std::nullopt;
}

}  // namespace treeglot
