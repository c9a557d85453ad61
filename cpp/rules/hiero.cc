#include "rules/hiero.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rules/code.h"
#include "rules/coded_sentence.h"
#include "rules/frontier.h"
#include "rules/tally_pairs.h"

namespace treeglot {
namespace {

class Extractor {
 public:
  Extractor(const Bitext& bitext, std::span<const std::uint8_t> core, const HieroOptions& options,
            const PhraseLabels* labels)
      : bitext_(bitext), core_(core), options_(options), given_(labels), noted_(labels != nullptr && labels->noted()) {}

  void extract(std::size_t pair, Occurrences& out, HieroCounts& counts);

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

  void find_phrases(std::size_t pair, HieroCounts& counts);
  void find_holes();
  void choose_holes(const PhrasePair& phrase);
  bool fits(const PhrasePair& phrase, const Hole& hole, std::span<const std::uint32_t> chosen) const;
  std::string_view note_labels(std::size_t index, std::span<const std::uint32_t> holes);
  void give(std::size_t index, std::span<const std::uint32_t> holes, std::uint32_t units, Occurrences& out);

  const Bitext& bitext_;
  std::span<const std::uint8_t> core_;
  const HieroOptions& options_;
  const PhraseLabels* given_;
  bool noted_;

  // Of the pair at hand.
  std::size_t pair_ = 0;
  std::span<const Link> links_;
  Frontier frontier_;
  CodedSentence source_code_, target_code_;
  std::vector<PhrasePair> own_phrases_;  // where they are not given with their labels
  std::vector<PhraseLabel> own_labels_;
  std::span<const PhrasePair> phrases_;
  std::span<const PhraseLabel> labels_;    // beside phrases_
  std::vector<LabelCode> label_codes_;     // likewise, where they are noted
  std::vector<Hole> holes_;                // by source begin, source end
  std::vector<std::uint32_t> first_hole_;  // that begins at a word or after it
  // Of the phrase at hand.
  std::vector<std::uint32_t> choices_, choice_ends_;  // lists of holes, one after another
  std::vector<std::uint32_t> chosen_;
  // Of the rule at hand.
  std::vector<std::uint32_t> by_target_, source_places_, target_places_;
  std::vector<Span> target_holes_;
  std::string source_, target_, alignment_, notes_;
};

PhraseLimits phrase_limits(const HieroOptions& o) {
  return {o.max_phrase, o.max_target_phrase, std::max(o.loose_source, o.phrase_loose_source),
          std::max(o.loose_target, o.phrase_loose_target)};
}

void Extractor::find_phrases(std::size_t pair, HieroCounts& counts) {
  if (given_ != nullptr) {
    const PhraseLabels::Labelled given = given_->of(pair);
    phrases_ = given.phrases;
    labels_ = given.labels;
  } else {
    own_phrases_.clear();
    append_phrase_pairs(frontier_, phrase_limits(options_), own_phrases_);
    own_labels_.assign(own_phrases_.size(), {});
    phrases_ = own_phrases_;
    labels_ = own_labels_;
  }
  label_codes_.resize(noted_ ? labels_.size() : 0);
  for (std::size_t p = 0; p < label_codes_.size(); ++p) {
    char* const bytes = label_codes_[p].bytes.data();
    const char* const end = code::put(code::put(bytes, labels_[p].source), labels_[p].target);
    label_codes_[p].size = static_cast<std::uint32_t>(end - bytes);
  }
  counts.phrases += phrases_.size();
  counts.refused += static_cast<std::uint64_t>(std::ranges::count(labels_, PhraseLabel::kRefused, &PhraseLabel::hard));
}

void Extractor::find_holes() {
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

bool Extractor::fits(const PhrasePair& phrase, const Hole& hole, std::span<const std::uint32_t> chosen) const {
  if (hole.phrase.source.end > phrase.source.end || !phrase.target.contains(hole.phrase.target)) return false;
  // Source sides are apart by the order in which holes are chosen; loose target sides may still overlap.
  return std::ranges::all_of(chosen, [&](std::uint32_t other) {
    const Span taken = holes_[other].phrase.target;
    return hole.phrase.target.end <= taken.begin || taken.end <= hole.phrase.target.begin;
  });
}

// All ways to choose holes in `phrase` such that the limits hold and a pair of linked words remains. From left to
// right, depth first; the stack is chosen_, each of whose elements is a hole.
void Extractor::choose_holes(const PhrasePair& phrase) {
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
std::string_view Extractor::note_labels(std::size_t index, std::span<const std::uint32_t> holes) {
  constexpr std::size_t kRoom = sizeof(LabelCode::bytes);
  if (notes_.size() < (1 + holes.size()) * kRoom) notes_.resize((1 + holes.size()) * kRoom);
  char* end = notes_.data();
  const auto put = [&](const LabelCode& label) {
    std::memcpy(end, label.bytes.data(), kRoom);  // all of it, of which the next overwrites what is too much
    end += label.size;
  };
  put(label_codes_[index]);
  for (const std::uint32_t hole : holes) put(label_codes_[holes_[hole].index]);
  return {notes_.data(), static_cast<std::size_t>(end - notes_.data())};
}

void Extractor::give(std::size_t index, std::span<const std::uint32_t> holes, std::uint32_t units, Occurrences& out) {
  const PhrasePair& phrase = phrases_[index];
  const auto put_variable = [&](std::string& side, std::uint32_t variable) {
    char bytes[3 * code::kLongest];
    side.append(bytes, code::put_variable(bytes, variable, labels_[holes_[holes[variable]].index].hard));
  };
  // A side is the words between the holes, and variables for them; places_ say where each word has gone.
  const auto build = [&](std::string& side, Span span, const CodedSentence& words, auto&& span_of,
                         std::span<const std::uint32_t> order, std::vector<std::uint32_t>& places) {
    std::uint32_t at = span.begin, symbol = 0;
    const auto put_words = [&](std::uint32_t end) {
      side.append(words.words({at, end}));
      for (; at < end; ++at) places[at - span.begin] = symbol++;
    };
    places.resize(std::max<std::size_t>(places.size(), span.size()));
    for (const std::uint32_t variable : order) {
      const Span hole = span_of(holes_[holes[variable]].phrase);
      put_words(hole.begin);
      put_variable(side, variable);
      for (; at < hole.end; ++at) places[at - span.begin] = kNoLimit;
      ++symbol;
    }
    put_words(span.end);
  };
  const auto source_of = [](const PhrasePair& p) { return p.source; };
  const auto target_of = [](const PhrasePair& p) { return p.target; };

  by_target_.resize(holes.size());
  for (std::uint32_t i = 0; i < holes.size(); ++i) by_target_[i] = i;
  source_.clear();
  if (const Symbol label = labels_[index].hard; label != 0) {
    code::append(source_, code::kLeftHandSide);
    code::append(source_, label);
  }
  build(source_, phrase.source, source_code_, source_of, by_target_, source_places_);
  std::ranges::sort(by_target_, [&](std::uint32_t a, std::uint32_t b) {
    return holes_[holes[a]].phrase.target.begin < holes_[holes[b]].phrase.target.begin;
  });
  target_.clear();
  build(target_, phrase.target, target_code_, target_of, by_target_, target_places_);

  alignment_.clear();
  const std::uint32_t first = frontier_.source_links({0, phrase.source.begin});
  for (const Link link : links_.subspan(first, frontier_.source_links(phrase.source))) {
    const std::uint32_t place = source_places_[link.source - phrase.source.begin];
    if (place == kNoLimit) continue;
    code::append(alignment_, place);
    code::append(alignment_, target_places_[link.target - phrase.target.begin]);
  }
  std::string_view notes;
  if (noted_) {
    notes = note_labels(index, holes);
  } else if (given_ != nullptr) {
    target_holes_.clear();
    for (const std::uint32_t variable : by_target_) target_holes_.push_back(holes_[holes[variable]].phrase.target);
    notes_.clear();
    given_->complete(pair_, phrase.target, target_holes_, target_, notes_);
    notes = notes_;
  }
  out.add({source_, target_, alignment_, notes}, units);
}

void Extractor::extract(std::size_t pair, Occurrences& out, HieroCounts& counts) {
  ++counts.pairs;
  pair_ = pair;
  links_ = bitext_.links(pair);
  if (links_.empty()) {
    ++counts.unlinked;
    return;
  }
  frontier_.assign(links_, bitext_.source(pair).size(), bitext_.target(pair).size());
  source_code_.assign(bitext_.source(pair));
  target_code_.assign(bitext_.target(pair));
  find_phrases(pair, counts);
  find_holes();
  const bool core = core_.empty() || core_[pair] != 0;
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    if (labels_[p].hard == PhraseLabel::kRefused) continue;
    const PhrasePair& phrase = phrases_[p];
    const std::uint32_t loose_s = loose_source(frontier_, phrase), loose_t = loose_target(frontier_, phrase);
    const bool flat = phrase.source.size() <= options_.max_symbols && loose_s <= options_.phrase_loose_source &&
                      loose_t <= options_.phrase_loose_target;
    const bool gappy = core && loose_s <= options_.loose_source && loose_t <= options_.loose_target;
    if (gappy) choose_holes(phrase);
    const std::size_t gappy_rules = gappy ? choice_ends_.size() - 1 : 0;
    const std::size_t rules = gappy_rules + (flat ? 1 : 0);
    if (rules == 0) continue;
    // Each initial phrase counts 1, shared equally among the rules taken from it.
    const std::uint32_t units = count_units(1.0 / static_cast<double>(rules));
    if (flat) give(p, {}, units, out);
    for (std::size_t r = 0; r < gappy_rules; ++r) {
      give(p, std::span<const std::uint32_t>(choices_).subspan(choice_ends_[r], choice_ends_[r + 1] - choice_ends_[r]),
           units, out);
    }
    counts.flat += flat ? 1 : 0;
    counts.gappy += gappy_rules;
  }
}

}  // namespace

HieroCounts& HieroCounts::operator+=(const HieroCounts& other) {
  pairs += other.pairs;
  unlinked += other.unlinked;
  phrases += other.phrases;
  refused += other.refused;
  flat += other.flat;
  gappy += other.gappy;
  return *this;
}

std::size_t extract_hiero(const Bitext& bitext, std::size_t begin, std::span<const std::uint8_t> core,
                          const HieroOptions& options, PhraseLabels* labels, Tally& tally, std::size_t memory,
                          unsigned threads, HieroCounts& counts) {
  if (!core.empty() && core.size() != bitext.size())
    throw std::invalid_argument("the core must be marked for every pair");
  if (options.max_symbols == 0) throw std::invalid_argument("max_symbols is 0: a rule has at least one source symbol");
  return tally_batches(begin, bitext.size(), tally, memory, [&](std::size_t first, std::size_t end) {
    if (labels != nullptr) labels->prepare(bitext, first, end, phrase_limits(options), threads);
    tally_pairs(first, end, threads, tally, counts, [&] {
      return [extractor = Extractor(bitext, core, options, labels)](
                 std::size_t pair, Occurrences& out, HieroCounts& seen) mutable { extractor.extract(pair, out, seen); };
    });
  });
}

}  // namespace treeglot
