#include "rules/corrections.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/error.h"
#include "rules/expanded_features.h"
#include "rules/rule_checks.h"
#include "rules/rule_text.h"
#include "rules/table_patch.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = TablePatch::kNone;

// A correction in numbers.
struct Wanted {
  Symbol lhs = kNone;
  std::vector<Symbol> source, labels;
  std::optional<std::vector<std::int32_t>> target;
  std::vector<RuleLink> links;
  std::vector<std::int32_t> structure;
  std::vector<SparseFeature> features;
  bool known = true;  // false: a forbidden or reweighted rule has symbols that no rule has
};

class Correcting {
 public:
  explicit Correcting(const RuleTable& table)
      : table_(table.patched(nullptr)), patch_(std::make_shared<TablePatch>()), dense_(table_.dense_features()) {}

  // How many rules it changes.
  std::uint32_t apply(const RuleCorrection& correction, std::uint32_t number) {
    const Wanted wanted = read(correction);
    if (!wanted.known) return 0;
    Side& side = side_of(wanted.source);
    std::uint32_t found = 0;
    const auto meant = [&](const Entry& entry) { return matches(entry, correction, wanted); };
    if (correction.action == CorrectionAction::forbid) {
      found = static_cast<std::uint32_t>(std::erase_if(side.entries, meant));
    } else {
      for (Entry& entry : side.entries) {
        if (!meant(entry)) continue;
        change(own_copy(entry, number), correction, wanted);
        ++found;
      }
      if (found == 0 && correction.action == CorrectionAction::add) {
        side.entries.push_back({kNone, static_cast<std::uint32_t>(rules_.size()), number});
        rules_.push_back(new_rule(wanted));
        change(rules_.back(), correction, wanted);
        found = 1;
      }
    }
    side.changed |= found > 0;
    return found;
  }

  RuleTable finish() {
    if (table_.own_rules() + rules_.size() >= (std::size_t{1} << 31))
      throw std::length_error("a table with corrections has fewer than 2^31 rules");
    for (auto& [source, side] : sides_)
      if (side.changed) add(source, side.entries);
    for (const TablePatch::Node& node : patch_->nodes)
      if (node.own != RuleTable::kNoNode) patch_->hidden.push_back(node.own);
    std::ranges::sort(patch_->hidden);
    return table_.patched(std::move(patch_));
  }

 private:
  // A rule of a source side.
  struct Entry {
    RuleId origin;             // in the table; kNone: it was added
    std::uint32_t own;         // in rules_, if it is not as the table has it; kNone: it is
    std::uint32_t correction;  // that changed it last
  };
  struct Side {
    std::vector<Entry> entries;
    bool changed = false;
  };

  Side& side_of(const std::vector<Symbol>& source) {
    const auto [at, is_new] = sides_.try_emplace(source);
    if (!is_new) return at->second;
    RuleTable::Node node = table_.root();
    for (const Symbol symbol : source)
      if (node != RuleTable::kNoNode) node = table_.child(node, symbol);
    if (node != RuleTable::kNoNode) {
      const RuleList rules = table_.rules_of(node);
      for (std::size_t i = 0; i < rules.size(); ++i) at->second.entries.push_back({rules[i], kNone, kNone});
    }
    return at->second;
  }

  bool matches(const Entry& entry, const RuleCorrection& correction, const Wanted& wanted) const {
    const bool own = entry.own != kNone;
    const Rule* const rule = own ? &rules_[entry.own] : nullptr;
    const Symbol lhs = own ? rule->lhs : table_.lhs(entry.origin);
    const auto target = own ? std::span(rule->target) : table_.target(entry.origin);
    const auto structure = own ? std::span(rule->structure) : table_.structure(entry.origin);
    return (correction.lhs.empty() || lhs == wanted.lhs) &&
           (!wanted.target || std::ranges::equal(target, *wanted.target)) &&
           (wanted.structure.empty() || std::ranges::equal(structure, wanted.structure));
  }

  Rule& own_copy(Entry& entry, std::uint32_t number) {
    entry.correction = number;
    if (entry.own == kNone) {
      entry.own = static_cast<std::uint32_t>(rules_.size());
      rules_.push_back(table_.rule(entry.origin));
    }
    return rules_[entry.own];
  }

  void change(Rule& rule, const RuleCorrection& correction, const Wanted& wanted) const {
    if (!correction.alignment.empty()) link(rule, wanted.links);
    for (const SparseFeature& given : wanted.features) {
      if (given.feature < dense_) {
        rule.features[given.feature] = given.value;
        continue;
      }
      const auto at = std::ranges::find(rule.sparse, given.feature, &SparseFeature::feature);
      if (at != rule.sparse.end()) {
        at->value = given.value;
      } else {
        rule.sparse.push_back(given);
      }
    }
    if (!correction.labels.empty()) rule.labels = wanted.labels;
  }

  // Gives a rule other links, and the features of its linked words that compiling would give it.
  void link(Rule& rule, const std::vector<RuleLink>& links) const {
    for_each_pair(rule, rule.alignment, [&](std::string_view name) {
      const Symbol feature = table_.feature_names().find(name);
      if (feature < dense_) rule.features[feature] = 0;
      else std::erase_if(rule.sparse, [&](const SparseFeature& sparse) { return sparse.feature == feature; });
    });
    for_each_pair(rule, links, [&](std::string_view name) { increase(rule, name, 1); });
    count_unlinked(rule, -1);
    rule.alignment = links;
    count_unlinked(rule, 1);
    std::erase_if(rule.sparse, [](const SparseFeature& sparse) { return sparse.value == 0; });
  }

  // Counts the words of a rule without a link, in features that the table has. A frequent word that no rule of the
  // table leaves without a link counts as the others do.
  void count_unlinked(Rule& rule, float value) const {
    const auto count = [&](const std::string& name, std::string_view shared) {
      increase(rule, table_.feature_names().find(name) != kNone ? std::string_view(name) : shared, value);
    };
    for_each_unlinked(
        rule.source, rule.target, rule.alignment,
        [&](Symbol f) {
          const std::string_view word = text(table_.source_words(), patch_->source_words, f);
          if (!is_bracket(word)) count(deletion_name(word), kDeletion);
        },
        [&](Symbol e) { count(insertion_name(text(table_.target_words(), patch_->target_words, e)), kInsertion); });
  }

  template <class Visit>
  void for_each_pair(const Rule& rule, const std::vector<RuleLink>& links, const Visit& visit) const {
    for (const RuleLink link : links) {
      const Symbol f = rule.source[link.source];
      const std::int32_t e = rule.target[link.target];
      if (is_nonterminal(f) || e < 0) continue;
      visit(pair_name(text(table_.source_words(), patch_->source_words, f),
                      text(table_.target_words(), patch_->target_words, static_cast<Symbol>(e))));
    }
  }

  // Adds to the value of a feature, if the table has it.
  void increase(Rule& rule, std::string_view name, float value) const {
    const Symbol feature = table_.feature_names().find(name);
    if (feature == kNone) return;
    if (feature < dense_) {
      rule.features[feature] += value;
    } else if (const auto at = std::ranges::find(rule.sparse, feature, &SparseFeature::feature);
               at != rule.sparse.end()) {
      at->value += value;
    } else {
      rule.sparse.push_back({feature, value});
    }
  }

  // With the features of a rule that was seen once, and nothing else with its sides: probabilities are 1.
  Rule new_rule(const Wanted& wanted) const {
    const auto variables = std::ranges::count_if(wanted.source, is_nonterminal);
    Rule out;
    out.lhs = wanted.lhs;
    out.source = wanted.source;
    out.target = *wanted.target;
    out.structure = wanted.structure;
    out.features.assign(dense_, 0.0f);
    increase(out, "count", 1);
    increase(out, "occurrences", 1);
    increase(out, "variables", static_cast<float>(variables));
    increase(out, "variables=" + std::to_string(variables), 1);
    increase(out, "count_bin=1", 1);
    increase(out, "lhs=" + std::string(text(table_.labels(), patch_->labels, out.lhs)), 1);
    increase(out, shape_name(out.source, out.target), 1);
    count_unlinked(out, 1);
    return out;
  }

  // The nodes and the list of a source side.
  void add(const std::vector<Symbol>& source, std::vector<Entry>& entries) {
    std::uint32_t node = 0;
    for (const Symbol symbol : source) node = patch_->make_child(table_, node, symbol);
    const auto lhs = [&](const Entry& entry) {
      return entry.own == kNone ? table_.lhs(entry.origin) : rules_[entry.own].lhs;
    };
    std::ranges::stable_sort(entries, {}, lhs);
    const auto first = static_cast<std::uint32_t>(patch_->lists.size());
    for (const Entry& entry : entries) {
      if (entry.own == kNone) {
        patch_->lists.push_back(entry.origin);
        continue;
      }
      patch_->lists.push_back(static_cast<RuleId>(table_.own_rules() + patch_->rules.size()));
      patch_->rules.push_back(std::move(rules_[entry.own]));
      patch_->origin.push_back(entry.origin);
      patch_->correction.push_back(entry.correction);
    }
    TablePatch::Node& made = patch_->nodes[node];
    made.changed = true;
    made.first_rule = first;
    made.end_rule = static_cast<std::uint32_t>(patch_->lists.size());
  }

  Wanted read(const RuleCorrection& correction) {
    const bool is_new = correction.action == CorrectionAction::add;
    Wanted out;
    const auto number = [&](const TableSymbols& known, Symbols& more, std::string_view text) {
      if (const Symbol found = known.find(text); found != kNone) return found;
      const auto first = static_cast<Symbol>(known.size());
      if (is_new) return first + more.intern(text);
      const Symbol found = more.find(text);
      out.known &= found != kNone;
      return found == kNone ? 0 : first + found;
    };
    const auto label = [&](std::string_view text) { return number(table_.labels(), patch_->labels, text); };
    const auto source_word = [&](std::string_view text) {
      return number(table_.source_words(), patch_->source_words, text);
    };
    if (!correction.lhs.empty()) out.lhs = label(correction.lhs);
    Variables variables;
    std::string_view root;
    parse_source(
        correction.source, variables, [&](std::string_view word) { out.source.push_back(source_word(checked(word))); },
        [&](std::string_view name) { out.source.push_back(nonterminal(label(name))); },
        [&](std::string_view name) {
          if (out.source.empty()) root = name;
          out.source.push_back(source_word(opening_word(name)));
        },
        [&] { out.source.push_back(source_word(kClosingWord)); });
    if (!root.empty() && !correction.lhs.empty() && root != correction.lhs) {
      throw std::invalid_argument("the left-hand side is " + quoted(correction.lhs) + ", the fragment's root " +
                                  quoted(root));
    }
    if (correction.target) {
      auto& target = out.target.emplace();
      parse_target(
          *correction.target, variables,
          [&](std::string_view word) {
            target.push_back(
                static_cast<std::int32_t>(number(table_.target_words(), patch_->target_words, checked(word))));
          },
          [&](std::uint32_t variable) { target.push_back(-1 - static_cast<std::int32_t>(variable)); });
    }
    read_notes(correction, label, out);
    return out;
  }

  static std::string_view checked(std::string_view word) {
    if (word.empty()) throw std::invalid_argument("a word has no characters; expected some after the backslash");
    return word;
  }

  template <class Label>
  void read_notes(const RuleCorrection& correction, const Label& label, Wanted& out) {
    parse_links(correction.alignment, [&](std::uint32_t s, std::uint32_t t) {
      if (s >= kLongestSide || t >= kLongestSide)
        throw std::invalid_argument("link " + std::to_string(s) + "-" + std::to_string(t) + " is outside the rule");
      out.links.push_back({static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(t)});
    });
    split(correction.labels, [&](std::string_view name) { out.labels.push_back(label(name)); });
    split(correction.structure, [&](std::string_view number) {
      out.structure.push_back(static_cast<std::int32_t>(parse_number(number, "a number of a structure")));
    });
    for (const auto& [name, value] : correction.features) {
      const Symbol known = table_.feature_names().find(name);
      const auto first = static_cast<Symbol>(table_.feature_names().size());
      out.features.push_back({known != kNone ? known : first + patch_->feature_names.intern(name), value});
    }
    if (!out.target && !out.links.empty()) throw std::invalid_argument("there are links, but no target side for them");
    if (out.target) check_rule(out.source, *out.target, out.links);
    std::vector<std::int32_t> heads;
    if (out.target && !can_be_joined(out.structure, out.target->size(), heads))
      throw std::invalid_argument("the structure has cycles, arcs that cross, or heads outside the target side");
  }

  static std::string_view text(const TableSymbols& known, const Symbols& more, Symbol symbol) {
    return symbol < known.size() ? known.text(symbol) : more.text(symbol - static_cast<Symbol>(known.size()));
  }

  RuleTable table_;  // without corrections
  std::shared_ptr<TablePatch> patch_;
  std::size_t dense_;
  std::map<std::vector<Symbol>, Side> sides_;
  std::vector<Rule> rules_;  // that are not as the table has them
};

}  // namespace

Corrected correct(const RuleTable& table, std::span<const RuleCorrection> corrections, const std::string& file) {
  Correcting correcting(table);
  std::vector<std::uint32_t> rules;
  for (const RuleCorrection& correction : corrections) {
    try {
      rules.push_back(correcting.apply(correction, static_cast<std::uint32_t>(rules.size())));
    } catch (const std::invalid_argument& problem) {
      throw FormatError(file, correction.line, problem.what());
    }
  }
  return {correcting.finish(), std::move(rules)};
}

}  // namespace treeglot
