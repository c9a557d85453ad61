#include "syntax/head_table.h"

#include <algorithm>
#include <stdexcept>

namespace treeglot {

// A label that begins with a mark is -LRB- or -NONE-.
std::string_view label_base(std::string_view label, std::string_view marks) {
  if (label.empty() || marks.find(label.front()) != std::string_view::npos) return label;
  return label.substr(0, label.find_first_of(marks));
}

std::string_view HeadTable::base(std::string_view label) const {
  return labels_.find(label) != Symbols::kNone ? label : cut(label);
}

HeadTable::Label HeadTable::find(std::string_view label) const {
  Symbol symbol = labels_.find(label);
  if (symbol == Symbols::kNone) symbol = labels_.find(cut(label));
  return symbol == Symbols::kNone ? unknown() : symbol;
}

std::size_t HeadTable::head_child(std::string_view label, std::span<const std::string_view> children) const {
  std::vector<Label> numbers;
  numbers.reserve(children.size());
  for (const std::string_view child : children) numbers.push_back(find(child));
  return head_child(find(label), numbers);
}

std::size_t HeadTable::head_child(Label label, std::span<const Label> children) const {
  if (children.empty()) throw std::invalid_argument("a constituent without children has no head");
  if (children.size() == 1) return 0;
  const Rule& rule = rules_[rule_of_[label]];
  const bool all_passed_over = std::ranges::all_of(children, [&](Label child) { return passed_over_[child] != 0; });

  std::size_t head = 0;
  auto best = static_cast<std::uint32_t>(rule.from_last.size());  // above every step: none found yet
  for (std::size_t child = 0; child < children.size(); ++child) {
    if (passed_over_[children[child]] && !all_passed_over) continue;
    const std::uint32_t step = rule.step_of[children[child]];
    if (step < best || (step == best && rule.from_last[step])) {
      head = child;
      best = step;
    }
  }

  // Collins (1999), appendix A: a head just after a conjunction gives way to the conjunct before it.
  if (head >= 2 && conjunction_[children[head - 1]]) {
    std::size_t conjunct = head - 1;
    while (conjunct > 0 && passed_over_[children[conjunct - 1]]) --conjunct;
    if (conjunct > 0) head = conjunct - 1;
  }
  return head;
}

}  // namespace treeglot
