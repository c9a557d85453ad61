#include "rules/hiero.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rules/code.h"
#include "rules/frontier.h"
#include "rules/rule_writer.h"

namespace treeglot {
namespace {

PhraseLimits phrase_limits(const HieroOptions& o) {
  return {o.max_phrase, o.max_target_phrase, std::max(o.loose_source, o.phrase_loose_source),
          std::max(o.loose_target, o.phrase_loose_target)};
}

class PairExtractor {
 public:
  PairExtractor(const Bitext& bitext, const HieroOptions& options, const PhraseLabels& labels)
      : bitext_(bitext), options_(options), given_(labels), noted_(labels.noted()) {}

  void extract(std::size_t pair, Occurrences& out, HieroCounts& counts);
  // The phrases of a pair with what their rules count.
  void count_phrases(std::size_t pair, std::vector<CountedPhrase>& out);

 private:
  struct Hole {
    PhrasePair phrase;
    std::uint32_t links;
    std::uint32_t index;  // among all phrases
  };
  // A phrase's source and target label as they stand in the notes of every rule that it is part of.
  struct LabelCode {
    std::array<char, 2 * code::kLongest> bytes;
    std::uint32_t size;
  };

  // The rules that a phrase gives; choices_ has those with variables.
  struct Taken {
    bool flat;
    std::size_t gappy_rules;
    std::uint32_t units;  // of each rule
  };

  bool begin(std::size_t pair, HieroCounts& counts);  // false for a pair without links
  Taken take(std::size_t index, bool core);
  void find_phrases(std::size_t pair, HieroCounts& counts);
  void find_holes();
  void choose_holes(const PhrasePair& phrase);
  bool fits(const PhrasePair& phrase, const Hole& hole, std::span<const std::uint32_t> chosen) const;
  std::string_view note_labels(std::size_t index, std::span<const std::uint32_t> holes);
  void give(std::size_t index, std::span<const std::uint32_t> holes, std::uint32_t units, Occurrences& out);

  const Bitext& bitext_;
  const HieroOptions& options_;
  const PhraseLabels& given_;
  bool noted_;

  // Of the pair at hand.
  Frontier frontier_;
  RuleWriter writer_;
  std::vector<Symbol> tags_;
  LabelledPhrases room_;
  std::span<const PhrasePair> phrases_;
  std::span<const PhraseLabel> labels_;    // beside phrases_
  std::vector<LabelCode> label_codes_;     // likewise, where they are noted
  std::vector<Hole> holes_;                // by source begin, source end
  std::vector<std::uint32_t> first_hole_;  // that begins at a word or after it
  // Of the phrase at hand.
  std::vector<std::uint32_t> choices_, choice_ends_;  // lists of holes, one after another
  std::vector<std::uint32_t> chosen_;
  // Of the rule at hand.
  std::vector<RuleVariable> variables_;
  std::string notes_;
};

void PairExtractor::find_phrases(std::size_t pair, HieroCounts& counts) {
  const PhraseLabels::View given = given_.of(pair, frontier_, phrase_limits(options_), room_);
  phrases_ = given.phrases;
  labels_ = given.labels;
  label_codes_.resize(noted_ ? labels_.size() : 0);
  for (std::size_t p = 0; p < label_codes_.size(); ++p) {
    char* const bytes = label_codes_[p].bytes.data();
    const char* const end = code::put(code::put(bytes, labels_[p].source), labels_[p].target);
    label_codes_[p].size = static_cast<std::uint32_t>(end - bytes);
  }
  counts.phrases += phrases_.size();
  counts.refused += static_cast<std::uint64_t>(std::ranges::count(labels_, PhraseLabel::kRefused, &PhraseLabel::hard));
}

void PairExtractor::find_holes() {
  holes_.clear();
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    const PhrasePair& phrase = phrases_[p];
    if (labels_[p].hard == PhraseLabel::kRefused || phrase.source.size() < options_.min_hole ||
        loose_source(frontier_, phrase) > options_.loose_source ||
        loose_target(frontier_, phrase) > options_.loose_target)
      continue;
    holes_.push_back({phrase, frontier_.source_links(phrase.source), static_cast<std::uint32_t>(p)});
  }
  const std::size_t words = frontier_.source_length();
  first_hole_.assign(words + 2, static_cast<std::uint32_t>(holes_.size()));
  for (std::size_t h = holes_.size(); h-- > 0;)
    first_hole_[holes_[h].phrase.source.begin] = static_cast<std::uint32_t>(h);
  for (std::size_t w = words + 1; w-- > 0;) first_hole_[w] = std::min(first_hole_[w], first_hole_[w + 1]);
}

bool PairExtractor::fits(const PhrasePair& phrase, const Hole& hole, std::span<const std::uint32_t> chosen) const {
  if (hole.phrase.source.end > phrase.source.end || !phrase.target.contains(hole.phrase.target)) return false;
  // Source sides are apart by the order in which holes are chosen; loose target sides may still overlap.
  return std::ranges::all_of(chosen, [&](std::uint32_t other) {
    const Span taken = holes_[other].phrase.target;
    return hole.phrase.target.end <= taken.begin || taken.end <= hole.phrase.target.begin;
  });
}

// All ways to choose holes in `phrase` such that the limits hold and a pair of linked words remains. From left to
// right, depth first; the stack is chosen_, each of whose elements is a hole.
void PairExtractor::choose_holes(const PhrasePair& phrase) {
  choices_.clear();
  choice_ends_.assign(1, 0);
  chosen_.clear();
  const std::uint32_t last = first_hole_[phrase.source.end];
  std::uint32_t links = frontier_.source_links(phrase.source);
  std::uint32_t symbols = phrase.source.size();
  const auto remove = [&] {
    const Hole& hole = holes_[chosen_.back()];
    links += hole.links;
    symbols += hole.phrase.source.size() - 1;
    const std::uint32_t next = chosen_.back() + 1;
    chosen_.pop_back();
    return next;
  };
  std::uint32_t next = first_hole_[phrase.source.begin];
  while (true) {
    if (next >= last || chosen_.size() == options_.max_nonterminals) {
      if (chosen_.empty()) return;
      next = remove();
      continue;
    }
    const Hole& hole = holes_[next];
    if (hole.links >= links || !fits(phrase, hole, chosen_)) {  // no link left for the rule's own words
      ++next;
      continue;
    }
    chosen_.push_back(next);
    links -= hole.links;
    symbols -= hole.phrase.source.size() - 1;
    if (symbols <= options_.max_symbols) {
      choices_.insert(choices_.end(), chosen_.begin(), chosen_.end());
      choice_ends_.push_back(static_cast<std::uint32_t>(choices_.size()));
    }
    const std::uint32_t from = hole.phrase.source.end + (options_.adjacent ? 0 : 1);
    next = from < phrase.source.end ? first_hole_[from] : last;
  }
}

// The codes of a rule's labels and its variables', in source order.
std::string_view PairExtractor::note_labels(std::size_t index, std::span<const std::uint32_t> holes) {
  constexpr std::size_t kRoom = sizeof(LabelCode::bytes);
  if (notes_.size() < (1 + holes.size()) * kRoom) notes_.resize((1 + holes.size()) * kRoom);
  char* end = notes_.data();
  const auto put = [&](const LabelCode& label) {
    std::memcpy(end, label.bytes.data(), kRoom);  // the next label overwrites the excess
    end += label.size;
  };
  put(label_codes_[index]);
  for (const std::uint32_t hole : holes) put(label_codes_[holes_[hole].index]);
  return {notes_.data(), static_cast<std::size_t>(end - notes_.data())};
}

void PairExtractor::give(std::size_t index, std::span<const std::uint32_t> holes, std::uint32_t units,
                         Occurrences& out) {
  variables_.clear();
  bool ill_formed = labels_[index].ill_formed;
  for (const std::uint32_t h : holes) {
    const Hole& hole = holes_[h];
    variables_.push_back({hole.phrase.source, hole.phrase.target, labels_[hole.index].hard});
    ill_formed = ill_formed || labels_[hole.index].ill_formed;
  }
  writer_.write(labels_[index].hard, phrases_[index], variables_);
  if (ill_formed) writer_.mark_ill_formed();
  CodedRule rule = writer_.rule();
  if (noted_) rule.labels = note_labels(index, holes);
  out.add(rule, units);
}

bool PairExtractor::begin(std::size_t pair, HieroCounts& counts) {
  ++counts.pairs;
  const std::span<const Symbol> source = bitext_.source(pair), target = bitext_.target(pair);
  const std::span<const Link> links = bitext_.links(pair);
  if (links.empty()) {
    ++counts.unlinked;
    return false;
  }
  frontier_.assign(links, source.size(), target.size());
  tags_.clear();
  const Heads heads = given_.structure(pair, tags_);
  writer_.assign({source, target, links, &frontier_, heads, tags_, bitext_.weights(pair), bitext_.share(pair)});
  find_phrases(pair, counts);
  find_holes();
  return true;
}

PairExtractor::Taken PairExtractor::take(std::size_t index, bool core) {
  const PhrasePair& phrase = phrases_[index];
  const std::uint32_t loose_s = loose_source(frontier_, phrase), loose_t = loose_target(frontier_, phrase);
  const bool flat = phrase.source.size() <= options_.max_symbols && loose_s <= options_.phrase_loose_source &&
                    loose_t <= options_.phrase_loose_target;
  const bool gappy = core && loose_s <= options_.loose_source && loose_t <= options_.loose_target;
  if (gappy) choose_holes(phrase);
  const std::size_t gappy_rules = gappy ? choice_ends_.size() - 1 : 0;
  const std::size_t rules = gappy_rules + (flat ? 1 : 0);
  // Each initial phrase counts 1, shared equally among the rules taken from it.
  return {flat, gappy_rules, rules == 0 ? 0 : count_units(1.0 / static_cast<double>(rules))};
}

void PairExtractor::extract(std::size_t pair, Occurrences& out, HieroCounts& counts) {
  if (!begin(pair, counts)) return;
  const bool core = pair < options_.core;
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    if (labels_[p].hard == PhraseLabel::kRefused) continue;
    const Taken taken = take(p, core);
    if (taken.flat) give(p, {}, taken.units, out);
    for (std::size_t r = 0; r < taken.gappy_rules; ++r) {
      give(p, std::span<const std::uint32_t>(choices_).subspan(choice_ends_[r], choice_ends_[r + 1] - choice_ends_[r]),
           taken.units, out);
    }
    counts.flat += taken.flat ? 1 : 0;
    counts.gappy += taken.gappy_rules;
  }
}

void PairExtractor::count_phrases(std::size_t pair, std::vector<CountedPhrase>& out) {
  out.clear();
  HieroCounts counts;
  if (!begin(pair, counts)) return;
  auto hole = holes_.begin();
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    const Taken taken = take(p, pair < options_.core);
    const bool is_hole = hole != holes_.end() && hole->index == p;
    if (is_hole) ++hole;
    out.push_back({phrases_[p], taken.units, taken.flat, taken.gappy_rules > 0, is_hole});
  }
}

}  // namespace

PhraseLabels::View PhraseLabels::of(std::size_t /*pair*/, const Frontier& frontier, const PhraseLimits& limits,
                                    LabelledPhrases& room) const {
  room.phrases.clear();
  append_phrase_pairs(frontier, limits, room.phrases);
  room.labels.assign(room.phrases.size(), {});
  return {room.phrases, room.labels};
}

Strings PhraseLabels::labels() const {
  Strings out;
  out.append("X");
  return out;
}

HieroExtractor::HieroExtractor(std::shared_ptr<const Bitext> bitext, const HieroOptions& options,
                               std::shared_ptr<PhraseLabels> labels)
    : CountingExtractor(std::move(bitext)),
      options_(options),
      labels_(labels ? std::move(labels) : std::make_shared<PhraseLabels>()) {
  if (options.max_symbols == 0) throw std::invalid_argument("max_symbols is 0: a rule has at least one source symbol");
}

NamedCounts HieroExtractor::counts() const {
  NamedCounts out = CountingExtractor::counts();
  labels_->append_counts(out);
  return out;
}

void HieroExtractor::prepare(std::size_t begin, std::size_t end, unsigned threads) {
  labels_->prepare(bitext(), begin, end, phrase_limits(options_), threads);
}

void visit_counted_phrases(const Bitext& bitext, const HieroOptions& options,
                           const std::function<void(std::size_t, std::span<const CountedPhrase>)>& visit) {
  const PhraseLabels all;
  PairExtractor extractor(bitext, options, all);
  std::vector<CountedPhrase> phrases;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    extractor.count_phrases(pair, phrases);
    visit(pair, phrases);
  }
}

HieroExtractor::Worker HieroExtractor::worker() const { return work_of(PairExtractor(bitext(), options_, *labels_)); }

}  // namespace treeglot
