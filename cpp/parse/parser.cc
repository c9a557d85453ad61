#include "parse/parser.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "parse/parse_packing.h"
#include "syntax/forest_trees.h"

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::string_view kOwnRoot = "ROOT";

double margin_of(const ParseOptions& options, std::size_t pass) {
  return options.margins.empty() ? std::numeric_limits<double>::infinity()
                                 : options.margins[std::min(pass, options.margins.size() - 1)];
}

// The same status of a sentence for which the first pass kept only some states.
ParseStatus narrowed_if(bool is_narrow, ParseStatus status) {
  if (!is_narrow) return status;
  if (status == ParseStatus::parsed) return ParseStatus::narrowed;
  return status == ParseStatus::coarser ? ParseStatus::narrowed_coarser : ParseStatus::narrowed_flat;
}

// The status of a sentence whose passes have ended well, but left no tree.
ParseStatus flat_instead(ParseStatus status) { return narrowed_if(is_narrowed(status), ParseStatus::flat); }

}  // namespace

std::unique_ptr<ParseCharts> ChartPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<ParseCharts>();
  std::unique_ptr<ParseCharts> out = std::move(free_.back());
  free_.pop_back();
  return out;
}

void ChartPool::give_back(std::unique_ptr<ParseCharts> charts) {
  if (!charts) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(charts));
}

SplitParser::SplitParser(std::shared_ptr<const SplitGrammar> grammar, std::size_t finest,
                         std::shared_ptr<ChartPool> pool)
    : grammar_(std::move(grammar)), coarse_(*grammar_), parts_(grammar_->parts()), pool_(std::move(pool)) {
  if (finest >= grammar_->levels.size())
    throw std::invalid_argument("level " + std::to_string(finest) + " of a grammar that has " +
                                std::to_string(grammar_->levels.size()));
  for (std::size_t level = 0; level <= finest; ++level) {
    if (grammar_->levels[level].states[grammar_->root] != 1)
      throw std::invalid_argument("the root has several states at level " + std::to_string(level) + "; expected one");
    fine_.emplace_back(*grammar_, level);
  }
  drop_root_ = grammar_->labels.text(grammar_->root) == kOwnRoot;
  flat_label_ = grammar_->root;
  double likeliest = 0.0;
  const Level& level = grammar_->levels[0];
  std::vector<std::uint8_t> is_phrase(grammar_->labels.size(), 1);
  for (const LexicalRule& rule : level.tags) is_phrase[rule.tag] = 0;
  for (const UnaryRule& rule : level.unary) {
    if (drop_root_ && rule.head == grammar_->root && is_phrase[rule.child] && !parts_[rule.child] &&
        level.scores[rule.at] > likeliest) {
      likeliest = level.scores[rule.at];
      flat_label_ = rule.child;
    }
  }
}

SplitParser::Passes SplitParser::run(std::span<const std::string_view> words, const ParseOptions& options,
                                     const Limits& limits) const {
  Passes out{ParseStatus::no_words, kNever, nullptr};
  if (words.empty()) return out;
  out.status = options.longest > 0 && words.size() > options.longest ? ParseStatus::too_long : ParseStatus::flat;
  if (out.status == ParseStatus::too_long) return out;
  std::vector<Symbol> known;
  for (std::size_t i = 0; i < words.size(); ++i) known.push_back(grammar_->lookup(words[i], i));
  if (std::find(known.begin(), known.end(), Symbols::kNone) != known.end()) return out;
  out.charts = pool_->take();
  ParseCharts& charts = *out.charts;
  FirstPassResult first(words.size());
  switch (charts.coarse.run(coarse_, known, margin_of(options, 0), options.most_states, limits, first)) {
    case Outcome::late: out.status = ParseStatus::late; return out;
    case Outcome::too_large: out.status = ParseStatus::too_large; return out;
    case Outcome::no_parse: return out;
    case Outcome::parsed: break;
  }
  out.status = narrowed_if(first.is_narrow, ParseStatus::flat);
  KeptStates kept = std::move(first.kept);
  const std::size_t finest = fine_.size() - 1;
  const auto pass = [&](std::size_t level, const KeptStates& states) {
    const Outcome outcome = charts.fine.run(fine_[level], known, states, limits);
    if (outcome == Outcome::late) out.status = ParseStatus::late;
    if (outcome == Outcome::too_large) out.status = ParseStatus::too_large;
    if (outcome == Outcome::parsed) out.log_probability = charts.fine.log_probability();
    return outcome;
  };
  // With one level the second pass is over the same states; otherwise over those of level 1, 2, …
  KeptStates before = kept;  // what the pass before the last was given
  for (std::size_t level = std::min<std::size_t>(1, finest); level <= finest; ++level) {
    Outcome outcome = pass(level, kept);
    if (outcome == Outcome::no_parse && level > 0) {
      // What the coarser level likes best the finer one may not know at all: then the coarser has the last word.
      outcome = pass(level - 1, before);
      if (outcome == Outcome::parsed) out.status = narrowed_if(first.is_narrow, ParseStatus::coarser);
      return out;
    }
    if (outcome != Outcome::parsed) return out;
    if (level < finest) {
      KeptStates finer(words.size());
      charts.fine.keep(fine_[level], margin_of(options, level), finer);
      before = std::exchange(kept, std::move(finer));
    }
  }
  out.status = narrowed_if(first.is_narrow, ParseStatus::parsed);
  return out;
}

SplitParser::FirstPass SplitParser::first_pass(std::span<const std::string_view> words, double margin, std::size_t most,
                                               unsigned width) const {
  FirstPass out{kNever, {}};
  std::vector<Symbol> known;
  for (std::size_t i = 0; i < words.size(); ++i) known.push_back(grammar_->lookup(words[i], i));
  if (std::find(known.begin(), known.end(), Symbols::kNone) != known.end()) return out;
  CoarseChart chart(width);
  FirstPassResult found(words.size());
  const Outcome outcome = chart.run(coarse_, known, margin, most, Limits(), found);
  out.best = outcome == Outcome::parsed ? found.best : kNever;
  if (outcome != Outcome::parsed) return out;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    for (std::uint32_t j = i + 1; j <= words.size(); ++j) {
      for (const std::uint32_t state : found.kept(i, j)) out.kept.emplace_back(i, j, state);
    }
  }
  return out;
}

Tree SplitParser::flat(std::span<const std::string_view> words, bool with_root) const {
  const Level& level = grammar_->levels[0];
  TreeBuilder builder;
  if (with_root) builder.open(grammar_->shown(grammar_->root));
  builder.open(grammar_->shown(flat_label_));
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view tag = "UNK";
    double likeliest = 0.0;
    if (const Symbol known = grammar_->lookup(words[i], i); known != Symbols::kNone) {
      for (std::uint32_t t = level.first_tag[known]; t < level.first_tag[known + 1]; ++t) {
        if (level.scores[level.tags[t].at] > likeliest) {
          likeliest = level.scores[level.tags[t].at];
          tag = grammar_->shown(level.tags[t].tag);
        }
      }
    }
    builder.open(tag);
    builder.word(words[i]);
    builder.close();
  }
  builder.close();
  if (with_root) builder.close();
  return builder.finish();
}

Tree SplitParser::flat_tree(std::span<const std::string_view> words) const { return flat(words, false); }

ParseForest SplitParser::flat_forest(std::span<const std::string_view> words, ScoreKind scores) const {
  const ParseForest one = forest_of(flat(words, flat_label_ != grammar_->root));
  // One tree: its edges' posteriors and their conditional probabilities are 1 alike.
  return {one.graph(),
          one.labels(),
          {one.spans().begin(), one.spans().end()},
          {one.scores().begin(), one.scores().end()},
          scores};
}

ParsedTree SplitParser::tree(std::span<const std::string_view> words, const ParseOptions& options) const {
  const Limits limits(options.seconds, options.bytes());
  Passes passes = run(words, options, limits);
  ParsedTree out{Tree(), passes.status, passes.log_probability, {}};
  if (has_parse(passes.status)) {
    const ParsePacking parses(*grammar_, parts_, passes.charts->fine, 0.0, options.most_edges, false, limits);
    if (parses.has_tree()) {
      out.tree = parses.tree(words, drop_root_);
    } else {
      out.status = parses.is_late() ? ParseStatus::late : flat_instead(passes.status);
    }
  }
  if (out.tree.empty() && !words.empty()) {
    out.tree = flat_tree(words);
    out.log_probability = kNever;
  }
  pool_->give_back(std::move(passes.charts));
  return out;
}

ParsedForest SplitParser::forest(std::span<const std::string_view> words, const ParseOptions& options) const {
  const Limits limits(options.seconds, options.bytes());
  Passes passes = run(words, options, limits);
  ParsedForest out{ForestBuilder().finish(kNoNode, ScoreKind::posterior), passes.status, passes.log_probability, 0, {}};
  if (has_parse(passes.status)) {
    const ParsePacking parses(*grammar_, parts_, passes.charts->fine, options.forest_margin, options.most_edges,
                              options.scores == ScoreKind::conditional, limits);
    if (parses.has_tree()) {
      out.forest = parses.forest(words, options.scores, out.cut);
    } else {
      out.status = parses.is_late() ? ParseStatus::late : flat_instead(passes.status);
    }
  }
  if (!out.forest.parsed() && !words.empty()) {
    out.forest = flat_forest(words, options.scores);
    out.log_probability = kNever;
  }
  pool_->give_back(std::move(passes.charts));
  return out;
}

ParsedBelief SplitParser::belief(std::span<const std::string_view> words, const ParseOptions& options,
                                 const Limits& limits) const {
  Passes passes = run(words, options, limits);
  ParsedBelief out{std::nullopt, passes.status, passes.log_probability, 0};
  if (has_parse(passes.status)) {
    const bool probabilities = options.scores == ScoreKind::conditional;
    const ParsePacking parses(*grammar_, parts_, passes.charts->fine, options.forest_margin, options.most_edges,
                              probabilities, limits);
    if (parses.has_tree()) {
      out.belief = {parses.forest(words, ScoreKind::posterior, out.cut), std::nullopt};
      if (probabilities) out.belief->probabilities = parses.forest(words, ScoreKind::conditional, out.cut);
    } else {
      out.status = parses.is_late() ? ParseStatus::late : flat_instead(passes.status);
    }
  }
  pool_->give_back(std::move(passes.charts));
  return out;
}

}  // namespace treeglot
