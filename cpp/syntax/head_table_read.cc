// The reader of head tables: lines to words, words to rules, rules to arrays.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "syntax/head_table.h"

namespace treeglot {
namespace {

struct Word {
  std::string_view text;
  std::size_t line;
};

using Words = std::vector<Word>;

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

class HeadTableReader {
 public:
  HeadTableReader(std::string_view text, const std::string& file) : file_(file) {
    table_.text_ = text;
    table_.file_ = file;
  }

  HeadTable read() {
    for (const Words& entry : entries(table_.text_)) {
      if (entry.front().text.front() == '%') {
        directive(entry);
      } else {
        rule(entry);
      }
    }
    if (!default_line_) fail(last_line_, "the table has no %default rule, such as %default first");
    return compile();
  }

 private:
  struct Step {
    bool from_last;
    Words labels;
  };
  using Steps = std::vector<Step>;

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw FormatError(file_, line, problem);
  }

  // The words of each rule or directive: a line, and the lines after it that begin with a blank.
  std::vector<Words> entries(std::string_view text) {
    std::vector<Words> entries;
    while (!text.empty()) {
      ++last_line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      // '#' is a tag of the Penn Treebank too, so a comment is a line that begins with it.
      if (line.find_first_not_of(kBlanks) == std::string_view::npos || line.front() == '#') continue;
      if (line.front() != ' ' && line.front() != '\t') {
        entries.emplace_back();
      } else if (entries.empty()) {
        fail(last_line_, "the line begins with a blank but continues no rule");
      }
      for_each_word(line, kBlanks, [&](std::string_view word) { entries.back().push_back({word, last_line_}); });
    }
    last_line_ = std::max<std::size_t>(last_line_, 1);
    return entries;
  }

  void directive(const Words& entry) {
    const Word& name = entry.front();
    const std::span<const Word> words = std::span(entry).subspan(1);
    if (name.text == "%default") {
      once(default_line_, name);
      default_ = steps(words, name);
    } else if (name.text == "%tags") {
      once(tags_line_, name);
      table_.tag_marks_.clear();
      for (const Word& word : words) {
        if (word.text.size() != 1) fail(word.line, quoted(word.text) + " is not one (ASCII) character");
        table_.tag_marks_ += word.text;
      }
    } else if (name.text == "%pass") {
      once(pass_line_, name);
      passed_over_.assign(words.begin(), words.end());
    } else if (name.text == "%conjunctions") {
      once(conjunctions_line_, name);
      conjunctions_.assign(words.begin(), words.end());
    } else {
      fail(name.line, "unknown directive " + quoted(name.text) + "; expected %default, %tags, %pass or %conjunctions");
    }
  }

  void once(std::optional<std::size_t>& line, const Word& name) const {
    if (line) fail(name.line, "a second " + std::string(name.text) + "; the first is in line " + std::to_string(*line));
    line = name.line;
  }

  void rule(const Words& entry) {
    const auto equals = std::ranges::find(entry, "=", &Word::text);
    if (equals == entry.end()) {
      fail(entry.front().line, quoted(entry.front().text) +
                                   " begins a line without '='; expected LABEL ... = first or "
                                   "last, LABEL ..., with blanks around '='");
    }
    if (equals == entry.begin()) fail(equals->line, "no label before '='");
    rules_.push_back(steps({equals + 1, entry.end()}, *equals));
    for (auto label = entry.begin(); label != equals; ++label) {
      check_label(*label);
      const Symbol symbol = table_.labels_.intern(label->text);
      if (rule_lines_.size() <= symbol) rule_lines_.resize(symbol + 1);
      if (rule_lines_[symbol].line != 0) {
        fail(label->line, "a second rule for " + quoted(label->text) + "; the first is in line " +
                              std::to_string(rule_lines_[symbol].line));
      }
      rule_lines_[symbol] = {rules_.size() - 1, label->line};
    }
  }

  Steps steps(std::span<const Word> words, const Word& before) const {
    Steps steps;
    std::vector<std::string_view> seen;
    std::size_t line = before.line;
    bool open = true;  // a step must begin here
    for (const Word& word : words) {
      line = word.line;
      const bool is_direction = word.text == "first" || word.text == "last";
      if (word.text == ">") {
        if (open || steps.back().labels.empty()) fail(word.line, "no label before '>'");
        open = true;
      } else if (open && is_direction) {
        steps.push_back({word.text == "last", {}});
        open = false;
      } else if (is_direction) {
        fail(word.line, quoted(word.text) + " inside a step; expected '>' before it");
      } else {
        if (open && steps.empty()) fail(word.line, quoted(word.text) + " where the rule must say first or last");
        if (open) steps.push_back({steps.back().from_last, {}});
        open = false;
        check_label(word);
        if (std::ranges::find(seen, word.text) != seen.end()) {
          fail(word.line, quoted(word.text) + " stands in the rule twice");
        }
        seen.push_back(word.text);
        steps.back().labels.push_back(word);
      }
    }
    if (steps.empty()) fail(line, "an empty rule; expected first or last");
    if (open) fail(line, "nothing after '>'");
    return steps;
  }

  void check_label(const Word& word) const {
    if (word.text == "=" || word.text == ">" || word.text == "first" || word.text == "last") {
      fail(word.line, quoted(word.text) + " where a label is expected");
    }
  }

  HeadTable compile() {
    rules_.push_back(std::move(default_));
    const auto intern = [&](const Words& words) {
      for (const Word& word : words) {
        check_label(word);
        table_.labels_.intern(word.text);
      }
    };
    for (const Steps& steps : rules_) {
      for (const Step& step : steps) intern(step.labels);
    }
    intern(passed_over_);
    intern(conjunctions_);

    const HeadTable::Label unknown = table_.unknown();
    rule_lines_.resize(unknown);
    table_.rule_of_.assign(unknown + 1, static_cast<std::uint32_t>(rules_.size() - 1));
    for (HeadTable::Label label = 0; label < unknown; ++label) {
      const RuleLine& own = rule_lines_[label];
      const RuleLine& base = rule_lines_[base_of(label)];
      if (own.line != 0 || base.line != 0) {
        table_.rule_of_[label] = static_cast<std::uint32_t>(own.line != 0 ? own.rule : base.rule);
      }
    }
    table_.passed_over_ = marks(passed_over_);
    table_.conjunction_ = marks(conjunctions_);
    for (const Steps& steps : rules_) table_.rules_.push_back(compile(steps));
    return std::move(table_);
  }

  HeadTable::Rule compile(const Steps& steps) const {
    HeadTable::Rule rule;
    const auto any = static_cast<std::uint32_t>(steps.size());
    rule.step_of.assign(table_.unknown() + 1, any);
    for (std::uint32_t step = 0; step < any; ++step) {
      rule.from_last.push_back(steps[step].from_last);
      for (const Word& word : steps[step].labels) rule.step_of[table_.labels_.find(word.text)] = step;
    }
    // A label that stands elsewhere in the table with its tags is still matched by its base here.
    const std::vector<std::uint32_t> own = rule.step_of;
    for (HeadTable::Label label = 0; label < table_.unknown(); ++label) {
      if (own[label] == any) rule.step_of[label] = own[base_of(label)];
    }
    rule.from_last.push_back(steps.back().from_last);
    return rule;
  }

  // The label's base if the table mentions it, else the label.
  HeadTable::Label base_of(HeadTable::Label label) const {
    const Symbol base = table_.labels_.find(table_.cut(table_.labels_.text(label)));
    return base == Symbols::kNone ? label : base;
  }

  std::vector<std::uint8_t> marks(const Words& words) const {
    std::vector<std::uint8_t> marks(table_.unknown() + 1, 0);
    for (const Word& word : words) marks[table_.labels_.find(word.text)] = 1;
    const std::vector<std::uint8_t> own = marks;
    for (HeadTable::Label label = 0; label < table_.unknown(); ++label) marks[label] |= own[base_of(label)];
    return marks;
  }

  struct RuleLine {
    std::size_t rule = 0;
    std::size_t line = 0;  // 0: the label has no rule
  };

  const std::string& file_;
  HeadTable table_;
  std::size_t last_line_ = 0;
  std::vector<Steps> rules_;
  Steps default_;
  std::vector<RuleLine> rule_lines_;  // by Label
  Words passed_over_, conjunctions_;
  std::optional<std::size_t> default_line_, tags_line_, pass_line_, conjunctions_line_;
};

HeadTable HeadTable::read(std::string_view text, const std::string& file) { return HeadTableReader(text, file).read(); }

}  // namespace treeglot
