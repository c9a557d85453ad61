#include "syntax/head_learner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "syntax/head_table.h"

namespace treeglot {
namespace {

constexpr Symbol kWord = 0xffffffffu;     // the label of a word among phrases
constexpr std::size_t kConjunctions = 5;  // labels that are tried as conjunctions
constexpr double kMostlyPunctuation = 0.9, kRarelyHead = 0.01;
constexpr std::array kTolerances = {0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0};

std::string_view bytes_of(std::span<const Symbol> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

std::vector<Symbol> numbers_of(std::string_view bytes) {
  std::vector<Symbol> out(bytes.size() / sizeof(Symbol));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

void count(Symbols& keys, std::vector<std::uint64_t>& counts, std::span<const Symbol> key) {
  const Symbol number = keys.intern(bytes_of(key));
  if (number == counts.size()) counts.push_back(0);
  ++counts[number];
}

struct Event {
  Symbol parent;
  std::vector<Symbol> children;
  std::uint32_t head;
  std::uint64_t weight;
};

// Labels with a property, by number; a word among phrases has none.
class LabelSet {
 public:
  explicit LabelSet(std::size_t labels) : has_(labels, 0) {}
  bool operator[](Symbol label) const { return label != kWord && has_[label] != 0; }
  void set(Symbol label, bool value) { has_[label] = value ? 1 : 0; }
  bool empty() const { return std::ranges::find(has_, 1) == has_.end(); }
  std::size_t size() const { return has_.size(); }

 private:
  std::vector<std::uint8_t> has_;
};

struct Marks {
  LabelSet passed_over, conjunction;
};

// A constituent as a rule sees it: the children that it may choose, and whether choosing a child gives the head.
struct Example {
  std::vector<Symbol> labels;
  std::vector<std::uint8_t> good;
  std::uint64_t weight;
};

struct Step {
  bool from_last;
  std::vector<Symbol> labels;
};

struct Rule {
  std::vector<Step> steps;
  std::uint64_t right = 0;
};

// The head after Collins' rule for coordination, as in HeadTable::head_child.
std::size_t conjunct_of(const Event& event, std::size_t head, const Marks& marks) {
  if (head < 2 || !marks.conjunction[event.children[head - 1]]) return head;
  std::size_t conjunct = head - 1;
  while (conjunct > 0 && marks.passed_over[event.children[conjunct - 1]]) --conjunct;
  return conjunct > 0 ? conjunct - 1 : head;
}

Example example_of(const Event& event, const Marks& marks) {
  const auto passed = [&](Symbol label) { return marks.passed_over[label]; };
  const bool all = std::ranges::all_of(event.children, passed);
  Example out{{}, {}, event.weight};
  for (std::size_t child = 0; child < event.children.size(); ++child) {
    if (!all && passed(event.children[child])) continue;
    out.labels.push_back(event.children[child]);
    out.good.push_back(conjunct_of(event, child, marks) == event.head ? 1 : 0);
  }
  return out;
}

// The child that a step chooses, or none.
std::optional<std::size_t> choice(const Example& example, const LabelSet& labels, bool from_last) {
  const std::size_t size = example.labels.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t child = from_last ? size - 1 - i : i;
    if (labels[example.labels[child]]) return child;
  }
  return {};
}

class RuleLearner {
 public:
  RuleLearner(std::vector<Example> examples, const LabelSet& placeable)
      : examples_(std::move(examples)), free_(placeable.size()) {
    for (const Example& example : examples_)
      for (const Symbol label : example.labels)
        if (placeable[label]) free_.set(label, true);
  }

  Rule learn() {
    Rule rule;
    while (!free_.empty()) {
      Found best = find_step();
      if (best.step.labels.empty()) break;
      take(best.step);
      rule.right += best.right;
      rule.steps.push_back(std::move(best.step));
    }
    std::uint64_t first = 0, last = 0;  // among words and labels that no table can name
    for (const Example& example : examples_) {
      if (example.good.front()) first += example.weight;
      if (example.good.back()) last += example.weight;
    }
    const bool from_last = !rule.steps.empty() && rule.steps.back().from_last;
    rule.right += std::max(first, last);
    if (rule.steps.empty() || (last > first && !from_last) || (first > last && from_last))
      rule.steps.push_back({last > first, {}});
    return rule;
  }

 private:
  struct Found {
    Step step;
    std::uint64_t right = 0;
  };

  // The purest step that covers anything; of both directions the one that finds more heads.
  Found find_step() const {
    for (const double tolerance : kTolerances) {
      Found first = largest(false, tolerance), last = largest(true, tolerance);
      Found& better = last.right > first.right ? last : first;
      if (!better.step.labels.empty()) return std::move(better);
    }
    return {};
  }

  // Without mistakes, the union of two sets is such a set, too. So removing labels that make mistakes ends with the
  // largest. Labels that are never chosen are left out: this changes no choice.
  Found largest(bool from_last, double tolerance) const {
    LabelSet labels = free_;
    std::vector<std::uint64_t> right(labels.size()), wrong(labels.size());
    for (;;) {
      std::ranges::fill(right, 0);
      std::ranges::fill(wrong, 0);
      for (const Example& example : examples_) {
        const auto chosen = choice(example, labels, from_last);
        if (chosen) (example.good[*chosen] ? right : wrong)[example.labels[*chosen]] += example.weight;
      }
      const auto worst = find_worst(right, wrong, tolerance);
      if (!worst) break;
      labels.set(*worst, false);
    }
    Found out{{from_last, {}}};
    for (Symbol label = 0; label < labels.size(); ++label) {
      if (right[label] + wrong[label] == 0) continue;
      out.step.labels.push_back(label);
      out.right += right[label];
    }
    std::ranges::stable_sort(out.step.labels, [&](Symbol a, Symbol b) { return right[a] > right[b]; });
    return out;
  }

  // The label with the greatest share of mistakes, if that is above `tolerance`.
  static std::optional<Symbol> find_worst(std::span<const std::uint64_t> right, std::span<const std::uint64_t> wrong,
                                          double tolerance) {
    std::optional<Symbol> worst;
    for (Symbol label = 0; label < wrong.size(); ++label) {
      if (wrong[label] == 0) continue;
      const double share = static_cast<double>(wrong[label]) / static_cast<double>(right[label] + wrong[label]);
      if (share > tolerance) {
        worst = label;
        tolerance = share;
      }
    }
    return worst;
  }

  void take(const Step& step) {
    LabelSet labels(free_.size());
    for (const Symbol label : step.labels) {
      labels.set(label, true);
      free_.set(label, false);
    }
    std::erase_if(examples_, [&](const Example& example) { return choice(example, labels, false).has_value(); });
  }

  std::vector<Example> examples_;  // that no step covers
  LabelSet free_;                  // in no step
};

class TableLearner {
 public:
  TableLearner(const Symbols& labels, std::vector<Event> events) : labels_(labels), placeable_(labels.size()) {
    for (Symbol label = 0; label < labels.size(); ++label) placeable_.set(label, is_label(labels.text(label)));
    for (Event& event : events) by_parent_[event.parent].push_back(std::move(event));
  }

  struct Table {
    Marks marks;
    std::map<Symbol, Rule> rules;
    std::uint64_t right = 0;
  };

  Table learn(LabelSet passed_over) const {
    Table best = with_marks({std::move(passed_over), LabelSet(labels_.size())});
    for (const Symbol label : joining()) {
      Marks marks = best.marks;
      marks.conjunction.set(label, true);
      if (Table other = with_marks(std::move(marks)); other.right > best.right) best = std::move(other);
    }
    return best;
  }

  // Labels of punctuation that are heads beside other children in at most this share of their constituents.
  LabelSet passed_over(LabelSet labels, double share) const {
    for (bool changed = true; std::exchange(changed, false);) {
      std::vector<std::uint64_t> beside(labels.size()), heads(labels.size());
      visit([&](const Event& event) {
        if (std::ranges::all_of(event.children, [&](Symbol label) { return labels[label]; })) return;
        for (const Symbol label : event.children)
          if (labels[label]) beside[label] += event.weight;
        if (const Symbol head = event.children[event.head]; labels[head]) heads[head] += event.weight;
      });
      for (Symbol label = 0; label < labels.size(); ++label) {
        if (!labels[label] || static_cast<double>(heads[label]) <= share * static_cast<double>(beside[label])) continue;
        labels.set(label, false);
        changed = true;
      }
    }
    return labels;
  }

  std::string text(const Table& table) const {
    std::uint64_t first = 0, last = 0;
    visit([&](const Event& event) {
      const Example example = example_of(event, table.marks);
      if (example.good.front()) first += example.weight;
      if (example.good.back()) last += example.weight;
    });
    std::string out = std::string("%default ") + (last > first ? "last" : "first") + "\n%tags - =\n";
    append_set(out, "%pass", table.marks.passed_over);
    append_set(out, "%conjunctions", table.marks.conjunction);
    std::vector<std::pair<std::uint64_t, Symbol>> order;
    for (const auto& [parent, events] : by_parent_) {
      std::uint64_t weight = 0;
      for (const Event& event : events) weight += event.weight;
      const std::string_view label = parent == kWord ? "" : labels_.text(parent);
      if (is_label(label) && label.front() != '%' && label.front() != '#') order.emplace_back(weight, parent);
    }
    std::ranges::sort(order, [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : labels_.text(a.second) < labels_.text(b.second);
    });
    for (const auto& [weight, parent] : order) append_rule(out, parent, table.rules.at(parent));
    return out;
  }

 private:
  static bool is_label(std::string_view label) {
    return !label.empty() && label != "=" && label != ">" && label != "first" && label != "last" &&
           label.find_first_of(" \t\r\n") == std::string_view::npos;
  }

  template <class Take>
  void visit(const Take& take) const {
    for (const auto& [parent, events] : by_parent_)
      for (const Event& event : events) take(event);
  }

  Table with_marks(Marks marks) const {
    Table out{std::move(marks), {}, 0};
    for (const auto& [parent, events] : by_parent_) {
      std::vector<Example> examples;
      examples.reserve(events.size());
      for (const Event& event : events) examples.push_back(example_of(event, out.marks));
      Rule rule = RuleLearner(std::move(examples), placeable_).learn();
      out.right += rule.right;
      out.rules.emplace(parent, std::move(rule));
    }
    return out;
  }

  // Labels that stand between the head and a later child with the head's label, those of most constituents first.
  std::vector<Symbol> joining() const {
    std::vector<std::uint64_t> seen(labels_.size());
    visit([&](const Event& event) {
      for (std::size_t child = event.head + 2; child < event.children.size(); ++child) {
        const Symbol between = event.children[child - 1];
        if (between != kWord && placeable_[between] && event.children[child] == event.children[event.head])
          seen[between] += event.weight;
      }
    });
    std::vector<Symbol> out;
    for (Symbol label = 0; label < seen.size(); ++label)
      if (seen[label] > 0) out.push_back(label);
    std::ranges::stable_sort(out, [&](Symbol a, Symbol b) { return seen[a] > seen[b]; });
    out.resize(std::min(out.size(), kConjunctions));
    return out;
  }

  void append_set(std::string& out, std::string_view directive, const LabelSet& set) const {
    if (set.empty()) return;
    out += directive;
    for (Symbol label = 0; label < set.size(); ++label)
      if (set[label]) (out += ' ') += labels_.text(label);
    out += '\n';
  }

  void append_rule(std::string& out, Symbol parent, const Rule& rule) const {
    out += labels_.text(parent);
    const char* separator = " = ";
    for (const Step& step : rule.steps) {
      (out += std::exchange(separator, " > ")) += step.from_last ? "last" : "first";
      for (const Symbol label : step.labels) (out += ' ') += labels_.text(label);
    }
    out += '\n';
  }

  const Symbols& labels_;
  LabelSet placeable_;  // what a step can name
  std::map<Symbol, std::vector<Event>> by_parent_;
};

}  // namespace

void HeadLearner::add(const Tree& tree, const Dependency& dependency) {
  if (tree.words() != dependency.size())
    throw std::invalid_argument("the dependency tree has " + std::to_string(dependency.size()) + " words; expected " +
                                std::to_string(tree.words()) + ", as the tree has");
  for (std::size_t place = 0; place < tree.words(); ++place) {
    const std::array key = {labels_.intern(label_base(tree.tag(place))), words_.intern(tree.word(place))};
    count(tagged_, tag_counts_, key);
  }
  for (std::uint32_t node = 0; node < tree.size(); ++node)
    if (!tree.is_word(node)) add_constituent(tree, node, dependency.heads());
}

void HeadLearner::add_constituent(const Tree& tree, std::uint32_t node, std::span<const std::int32_t> heads) {
  if (tree.end(tree.first_child(node)) == tree.end(node)) return;  // one child
  const Span span = tree.span(node);
  std::optional<std::uint32_t> head_word;
  for (std::uint32_t word = span.begin; word < span.end; ++word) {
    const std::int32_t head = heads[word];
    if (head >= static_cast<std::int32_t>(span.begin) && head < static_cast<std::int32_t>(span.end)) continue;
    if (head_word || head == Dependency::kNoHead) {
      ++without_head_;
      return;
    }
    head_word = word;
  }
  if (!head_word) {
    ++without_head_;
    return;
  }
  event_.assign(1, labels_.intern(label_base(tree.label(node))));
  std::uint32_t place = 0;
  for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child)) {
    if (tree.span(child).begin <= *head_word && *head_word < tree.span(child).end)
      place = static_cast<std::uint32_t>(event_.size() - 1);
    event_.push_back(tree.is_word(child) ? kWord : labels_.intern(label_base(tree.label(child))));
  }
  event_.push_back(place);
  count(events_, counts_, event_);
}

LearntHeads HeadLearner::learn(std::span<const std::uint8_t> punctuation) const {
  if (punctuation.size() != words_.size())
    throw std::invalid_argument("there are " + std::to_string(punctuation.size()) + " marks of punctuation for " +
                                std::to_string(words_.size()) + " words");
  std::vector<Event> events;
  LearntHeads out;
  for (Symbol event = 0; event < events_.size(); ++event) {
    std::vector<Symbol> numbers = numbers_of(events_.text(event));
    const Symbol parent = numbers.front();
    const std::uint32_t head = numbers.back();
    events.push_back({parent, {numbers.begin() + 1, numbers.end() - 1}, head, counts_[event]});
    out.constituents += counts_[event];
  }
  std::vector<double> all(labels_.size()), marks(labels_.size());
  for (Symbol pair = 0; pair < tagged_.size(); ++pair) {
    const std::vector<Symbol> key = numbers_of(tagged_.text(pair));
    all[key[0]] += static_cast<double>(tag_counts_[pair]);
    if (punctuation[key[1]]) marks[key[0]] += static_cast<double>(tag_counts_[pair]);
  }
  LabelSet passed(labels_.size());
  for (Symbol label = 0; label < labels_.size(); ++label)
    passed.set(label, all[label] > 0 && marks[label] >= kMostlyPunctuation * all[label]);
  const TableLearner learner(labels_, std::move(events));
  // Parsers make mistakes with punctuation, so some are tolerated if that does not make the table worse.
  TableLearner::Table best = learner.learn(learner.passed_over(passed, kRarelyHead));
  if (TableLearner::Table strict = learner.learn(learner.passed_over(passed, 0)); strict.right > best.right)
    best = std::move(strict);
  out.right = best.right;
  out.text = learner.text(best);
  return out;
}

}  // namespace treeglot
