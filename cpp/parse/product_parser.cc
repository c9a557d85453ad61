#include "parse/product_parser.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "graph/derivation.h"
#include "parse/rule_product.h"
#include "syntax/forest_trees.h"

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostNamed = 5;

// What trees show, without the root.
struct ShownLabels {
  std::set<std::string_view> phrases, tags;

  explicit ShownLabels(const SplitGrammar& grammar) {
    std::vector<std::uint8_t> is_tag(grammar.labels.size(), 0);
    for (const Level& level : grammar.levels)
      for (const LexicalRule& rule : level.tags) is_tag[rule.tag] = 1;
    const std::vector<std::uint8_t> is_part = grammar.parts();
    for (Symbol label = 0; label < grammar.labels.size(); ++label) {
      if (label == grammar.root || is_part[label]) continue;
      (is_tag[label] ? tags : phrases).insert(grammar.shown(label));
    }
  }
};

// Of several grammars' parses, all that was missed.
ParseStatus worst_parse(const std::vector<ParseStatus>& each) {
  const bool narrow = std::ranges::any_of(each, is_narrowed);
  if (std::ranges::any_of(each, is_coarser)) return narrow ? ParseStatus::narrowed_coarser : ParseStatus::coarser;
  return narrow ? ParseStatus::narrowed : ParseStatus::parsed;
}

// Of several grammars without a parse.
ParseStatus worst_flat(const std::vector<ParseStatus>& each) {
  return std::ranges::any_of(each, is_narrowed) ? ParseStatus::narrowed_flat : each.front();
}

std::string named(const std::set<std::string_view>& labels) {
  std::string out;
  std::size_t shown = 0;
  for (const std::string_view label : labels) {
    if (shown++ == kMostNamed) return out + ", …";
    out += (out.empty() ? "" : ", ") + quoted(label);
  }
  return out.empty() ? "none" : out;
}

void check_shared(const char* what, std::size_t number, const std::set<std::string_view>& first,
                  const std::set<std::string_view>& other) {
  const bool is_shared = std::ranges::any_of(other, [&](std::string_view label) { return first.contains(label); });
  if (is_shared || (first.empty() && other.empty())) return;
  throw std::invalid_argument("grammar " + std::to_string(number) + " shares no " + what +
                              " with the first: " + named(other) + "; expected some of " + named(first));
}

Tree best_tree(const ParseForest& forest, bool drop_root) {
  const std::optional<Derivation> best = viterbi(forest.graph(), forest.scores());
  const auto below = forest.graph().tails(best->edges.front());
  const bool is_dropped = drop_root && below.size() == 1 && !forest.is_word(below[0]);
  return derived_tree(forest, std::span(best->edges).subspan(is_dropped ? 1 : 0));
}

}  // namespace

ProductParser::ProductParser(std::span<const std::shared_ptr<const SplitGrammar>> grammars,
                             std::span<const std::size_t> finest) {
  if (grammars.empty() || grammars.size() != finest.size())
    throw std::invalid_argument(std::to_string(grammars.size()) + " grammars with " + std::to_string(finest.size()) +
                                " levels; expected one or more, and a level for each");
  // The charts of one grammar are made after another's: they share their memory.
  const auto pool = std::make_shared<ChartPool>();
  for (std::size_t g = 0; g < grammars.size(); ++g) parsers_.emplace_back(grammars[g], finest[g], pool);
  const SplitGrammar& first = parsers_.front().grammar();
  const ShownLabels wanted(first);
  for (std::size_t g = 1; g < parsers_.size(); ++g) {
    const SplitGrammar& other = parsers_[g].grammar();
    if (other.shown(other.root) != first.shown(first.root))
      throw std::invalid_argument("the root of grammar " + std::to_string(g + 1) + " is " +
                                  quoted(other.shown(other.root)) + "; expected that of the first, " +
                                  quoted(first.shown(first.root)));
    const ShownLabels found(other);
    check_shared("phrase", g + 1, wanted.phrases, found.phrases);
    check_shared("tag", g + 1, wanted.tags, found.tags);
  }
}

std::vector<std::vector<std::string>> ProductParser::lacking() const {
  std::set<std::string_view> all;
  std::vector<std::set<std::string_view>> own;
  for (const SplitParser& parser : parsers_) {
    ShownLabels shown(parser.grammar());
    own.push_back(std::move(shown.phrases));
    own.back().merge(shown.tags);
    all.insert(own.back().begin(), own.back().end());
  }
  std::vector<std::vector<std::string>> out;
  for (const std::set<std::string_view>& labels : own) {
    out.emplace_back();
    for (const std::string_view label : all)
      if (!labels.contains(label)) out.back().emplace_back(label);
  }
  return out;
}

ParsedForest ProductParser::forest(std::span<const std::string_view> words, const ParseOptions& options) const {
  return join(words, options, options.forest_margin);
}

ParsedForest ProductParser::join(std::span<const std::string_view> words, const ParseOptions& options,
                                 double margin) const {
  ParsedForest out{ForestBuilder().finish(kNoNode, ScoreKind::posterior), ParseStatus::no_words, 0.0, 0, {}};
  const Limits limits(options.seconds, options.bytes());
  std::vector<Belief> beliefs;
  std::size_t bytes = 0;
  double sum = 0.0;
  std::optional<ParseStatus> reached;  // a limit
  for (const SplitParser& parser : parsers_) {
    if (!reached) {
      ParsedBelief one = parser.belief(words, options, limits.beside(bytes));
      out.each.push_back(one.status);
      if (one.status == ParseStatus::late || one.status == ParseStatus::too_large) reached = one.status;
      if (!one.belief) continue;
      bytes += one.belief->bytes();
      beliefs.push_back(std::move(*one.belief));
      sum += one.log_probability;
      out.cut += one.cut;
    } else {
      out.each.push_back(*reached);
    }
  }
  if (!reached && !beliefs.empty()) {
    RuleProduct product = multiply(beliefs, {options.missing, margin, options.most_edges}, limits.beside(bytes));
    out.cut += product.cut;
    out.forest = std::move(product.forest);
    if (product.outcome == Outcome::late) reached = ParseStatus::late;
    if (product.outcome == Outcome::too_large) reached = ParseStatus::too_large;
  }
  if (out.forest.parsed()) {
    out.status = beliefs.size() < parsers_.size() ? ParseStatus::fewer : worst_parse(out.each);
    out.log_probability = sum / static_cast<double>(beliefs.size());
    return out;
  }
  out.status = reached.value_or(worst_flat(out.each));
  out.log_probability = kNever;
  out.cut = 0;
  if (!words.empty()) out.forest = parsers_.front().flat_forest(words, options.scores);
  return out;
}

ParsedTree ProductParser::tree(std::span<const std::string_view> words, const ParseOptions& options) const {
  ParseOptions by_rules = options;
  by_rules.scores = ScoreKind::posterior;
  ParsedForest found = join(words, by_rules, 0.0);
  ParsedTree out{Tree(), found.status, found.log_probability, std::move(found.each)};
  if (words.empty()) return out;
  const SplitParser& first = parsers_.front();
  out.tree = has_parse(out.status) ? best_tree(found.forest, first.drops_root()) : first.flat_tree(words);
  return out;
}

}  // namespace treeglot
