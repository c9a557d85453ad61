#include "foreign/match_chart.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "decode/features/ngram.h"

namespace treeglot {
namespace {

// Whether the rules lead from one label up to another.
bool leads_to(const std::vector<UnaryRules::Arc>& arcs, Symbol from, Symbol to, std::size_t labels) {
  std::vector<std::uint8_t> seen(labels, 0);
  std::vector<Symbol> open = {from};
  while (!open.empty()) {
    const Symbol label = open.back();
    open.pop_back();
    for (const UnaryRules::Arc& arc : arcs) {
      if (arc.below != label || seen[arc.above]) continue;
      if (arc.above == to) return true;
      seen[arc.above] = 1;
      open.push_back(arc.above);
    }
  }
  return false;
}

// Where a rule has <s> and </s>, the model scores the rule without them, at the sentence's begin and end.
class MarkedFeature final : public StatefulFeature {
 public:
  MarkedFeature(std::unique_ptr<StatefulFeature> inner, const RuleTable& table)
      : MarkedFeature(std::move(inner), static_cast<std::int32_t>(table.target_words().find("<s>")),
                      static_cast<std::int32_t>(table.target_words().find("</s>"))) {}
  MarkedFeature(std::unique_ptr<StatefulFeature> inner, std::int32_t begin, std::int32_t end)
      : inner_(std::move(inner)), begin_(begin), end_(end) {}

  std::size_t state_bytes() const override { return inner_->state_bytes(); }
  void begin_sentence(const SearchedSentence& sentence) override { inner_->begin_sentence(sentence); }
  void apply(const Application& application, const std::byte* const* tails, std::size_t offset, std::byte* out,
             Sink& sink) const override {
    inner_->apply(unmarked(application), tails, offset, out, sink);
    // Nothing follows: all whole sentences are alike.
    if ((application.place & kEnds) != 0) std::fill_n(out + offset, state_bytes(), std::byte{0});
  }
  // What `</s>` scores depends on the rule that closes the sentence: a rule of `</s>` alone has no context.
  bool is_of_text() const override { return false; }
  bool prepares() const override { return inner_->prepares(); }
  float prepare(const Application& application, const FeatureWeights& weights, Prepared& out) const override {
    return inner_->prepare(unmarked(application), weights, out);
  }
  float estimate(const Application& application, const FeatureWeights& weights) const override {
    return inner_->estimate(unmarked(application), weights);
  }
  std::unique_ptr<StatefulFeature> settled() const override {
    auto quick = inner_->settled();
    return quick == nullptr ? nullptr : std::make_unique<MarkedFeature>(std::move(quick), begin_, end_);
  }

 private:
  Application unmarked(const Application& given) const {
    symbols_.assign(given.target.begin(), given.target.end());
    Application out{{}, given.rule, kInside, given.edge};
    if (!symbols_.empty() && symbols_.back() == end_) {
      symbols_.pop_back();
      out.place |= kEnds;
    }
    if (!symbols_.empty() && symbols_.front() == begin_) {
      symbols_.erase(symbols_.begin());
      out.place |= kBegins;
    }
    out.target.symbols = symbols_.data();
    out.target.size = static_cast<std::uint32_t>(symbols_.size());
    out.target.prepared = given.target.prepared;
    return out;
  }

  std::unique_ptr<StatefulFeature> inner_;
  std::int32_t begin_, end_;                   // words; −1, which is no word alone, where the table has none
  mutable std::vector<std::int32_t> symbols_;  // kept for their memory; a thread has its own feature
};

}  // namespace

class ForeignChart final : public Chart {
 public:
  ForeignChart(const ForeignMatcher& matcher, const Input& input, RuleCache& cache, Glue& glue)
      : Chart(*matcher.table_, matcher.unary_, matcher.options_.chart, input, cache, glue),
        matcher_(matcher),
        options_(matcher.options_),
        sentence_(matcher.sentence_) {
    if (shares_goal() || options_.marked) first_width_ = length_;
    for (const auto& [label, value] : options_.passed) passed_.emplace_back(find(label), value);
    if (passed_.empty()) passed_.emplace_back(x_, 1.0f);
    x_ = unknown_ = passed_[0].first;
  }

 private:
  bool shares_goal() const { return sentence_ != Symbols::kNone; }
  bool begins() const { return begin_ == 0 && shares_goal(); }
  Symbol find(std::string_view label) const { return label_of(table_.labels().find(label)); }

  std::uint32_t reach() const override { return options_.marked && begin_ == 0 ? length_ : Chart::reach(); }

  void pass_through(std::uint32_t word, bool matched, std::vector<Local>& out) override {
    if (options_.marked && (begin_ == 0 || begin_ + 1 == length_)) return;
    if (options_.pass_through == PassThrough::none || (options_.pass_through == PassThrough::unknown && matched))
      return;
    for (const auto& [label, value] : passed_) out.push_back({label, unknown(words_[word], value)});
  }

  std::span<const Alternative> unknown(std::string_view given, float value) {
    const std::string word(given);
    std::vector<FeatureValue> features = {{matcher_.word_penalty_, 1.0f}, {matcher_.unknown_, value}};
    if (!matcher_.lengths_.empty()) {
      // As cdec has it: characters on a scale of powers of 1.6.
      const auto characters = std::ranges::count_if(word, [](char c) { return (c & 0xc0) != 0x80; });
      const auto power = static_cast<std::size_t>(std::log(static_cast<double>(characters)) / std::log(1.6));
      features.push_back({matcher_.lengths_[std::min(power, matcher_.lengths_.size() - 1)], 1.0f});
    }
    return glue_.add(LocalKind::unknown, {glue_.target_word(word + options_.mark)}, std::move(features));
  }

  bool orders_labels() const override { return unary_.any || begins(); }
  void order_labels(std::vector<Symbol>& labels) override {
    if (begins() && std::ranges::find(labels, sentence_) == labels.end()) labels.push_back(sentence_);
    close(labels);
    if (!begins() || !matcher_.goal_last_) return;
    std::erase(labels, sentence_);
    labels.push_back(sentence_);
  }

  void finish_cell(std::uint32_t end) override {
    add_rules(end);
    if (begins() && options_.glue) add_glue(end);
  }

  bool is_glued(Symbol label) const override {
    return options_.glue && (options_.glued.empty() ? label != sentence_ : label == matcher_.glued_);
  }

  // S → X and S → S X over [0, end), where S is a label that rules of the table may use, too.
  void add_glue(std::uint32_t end) {
    const NodeId head = node_for(end, sentence_);
    for (const Item& item : cell(0, end))
      if (is_glued(item.label)) out_.add_edge(head, std::span(&item.node, 1), glue_.first(), kInside);
    const auto join = [&](std::uint32_t middle) {
      const auto left = std::ranges::find(cell(0, middle), sentence_, &Item::label);
      if (left == cell(0, middle).end()) return;
      for (const Item& item : any_cell(middle, end)) {
        if (!is_glued(item.label)) continue;
        const NodeId tails[] = {left->node, item.node};
        out_.add_edge(head, tails, glue_.glue(), kInside);
      }
    };
    for_each_wide(end, join);
    for (std::uint32_t middle = std::max(end - std::min(end, width_), 1u); middle < end; ++middle) join(middle);
  }

  void add_sentence() override {
    if (!shares_goal() && !options_.marked) return Chart::add_sentence();
    goal_ = out_.add_node({0, length_}, Symbols::kNone);
    for (const Item& item : cell(0, length_))
      if (item.label == sentence_ || options_.goal.empty())
        out_.add_edge(goal_, std::span(&item.node, 1), glue_.end(), kBegins | kEnds);
  }

  const ForeignMatcher& matcher_;
  const ForeignOptions& options_;
  Symbol sentence_;  // the label of S; none: no rule of the table can use it
  std::vector<std::pair<Symbol, float>> passed_;
};

ForeignMatcher::ForeignMatcher(FeatureSet& features, const ForeignOptions& options)
    : table_(features.shared_table()),
      options_(options),
      word_penalty_(features.space().word_penalty()),
      unknown_(features.space().unknown()),
      sentence_(options.goal.empty() ? Symbols::kNone : table_->labels().find(options.goal)),
      glued_(label_of(table_->labels().find(options.glued))),
      unary_(unary_rules()) {
  if (options.lengths) lengths_ = add_unknown_lengths(features);
  if (options.glue && !options.goal.empty() && options.goal == options.glued)
    throw std::invalid_argument("the label of sentences and the one that glue joins are both " + quoted(options.goal));
  if (!options.goal.empty() && (options.chart.label_limit > 0 || options.chart.match_limit > 0))
    throw std::invalid_argument("label_limit and match_limit are for tables without rules of whole sentences");
}

// Built-in glue is one of them where the sentence begins, and is never left out.
UnaryRules ForeignMatcher::unary_rules() {
  std::vector<UnaryRules::Arc> arcs = UnaryRules::arcs_of(*table_);
  const std::size_t labels = table_->labels().size();
  const bool any = !arcs.empty();
  std::size_t left_out = 0;
  if (options_.glue && sentence_ != Symbols::kNone) {
    goal_last_ = options_.glued.empty() || leads_to(arcs, sentence_, glued_, labels);
    for (UnaryRules::Arc& arc : arcs)
      if (goal_last_ && arc.below == sentence_) left_out += std::exchange(arc.rules, 0);
    if (!goal_last_ && glued_ < labels) arcs.push_back({glued_, sentence_, 0});
  }
  UnaryRules out(arcs, labels);
  out.left_out += left_out;
  out.any = any;
  return out;
}

TranslationForest ForeignMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  return ForeignChart(*this, input, cache, glue).run();
}

std::vector<FeatureId> add_unknown_lengths(FeatureSet& features) {
  std::vector<FeatureId> out;
  for (int length = 1; length <= 6; ++length)
    out.push_back(features.space().add("unknown_length_" + std::to_string(length)));
  return out;
}

void add_marked_ngram(FeatureSet& features, std::shared_ptr<const NgramModel> model) {
  features.add([inner = ngram_feature(features, std::move(model)), table = features.shared_table()] {
    return std::make_unique<MarkedFeature>(inner(), *table);
  });
}

}  // namespace treeglot
