#include "rules/fuzzy.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace treeglot {
namespace {

bool crosses(Span a, Span b) {
  return (a.begin < b.begin && b.begin < a.end && a.end < b.end) ||
         (b.begin < a.begin && a.begin < b.end && b.end < a.end);
}

// Numbers the categories of a few pairs, from 1; keys().text(number - 1) is a category's key.
class ChunkLabels {
 public:
  Symbol number(const Category& category) {
    if (!category.simple()) return intern(category);
    const Symbol label = category.labels.front();
    if (simple_.size() <= label) simple_.resize(label + 1, 0);
    if (simple_[label] == 0) simple_[label] = intern(category);
    return simple_[label];
  }
  const Symbols& keys() const { return keys_; }

 private:
  Symbol intern(const Category& category) {
    key_.clear();
    append_key(category, key_);
    return keys_.intern(key_) + 1;
  }

  Symbols keys_;
  std::vector<Symbol> simple_;  // by label: constituents are half of all categories
  std::string key_;
};

// One side of a pair: its tree, and the numbers of its spans' categories, found once each.
class Side {
 public:
  struct Found {
    Symbol label;
    bool simple;
  };

  // `tree_label(label)` numbers the tree's labels in the common numbering.
  template <class Number>
  void assign(std::span<const Bracket> brackets, std::size_t words, const Number& tree_label) {
    brackets_.assign(brackets.begin(), brackets.end());
    for (Bracket& bracket : brackets_) bracket.label = tree_label(bracket.label);
    finder_.assign(brackets_, words);
    words_ = words;
    seen_.assign(words <= kDense ? words * (words + 1) : 0, {Symbols::kNone, false});
  }

  bool missing() const { return finder_.empty(); }
  std::uint32_t crossed(Span span) const { return missing() ? 0 : finder_.crossed(span); }

  Found category(Span span, ChunkLabels& labels) {
    if (missing()) return {0, false};
    if (seen_.empty()) return find(span, labels);
    Found& found = seen_[span.begin * (words_ + 1) + span.end];
    if (found.label == Symbols::kNone) found = find(span, labels);
    return found;
  }

 private:
  static constexpr std::size_t kDense = 128;  // words, up to which every span has a place

  Found find(Span span, ChunkLabels& labels) {
    finder_.find(span, category_);
    return {labels.number(category_), category_.simple()};
  }

  CategoryFinder finder_;
  std::vector<Bracket> brackets_;
  std::vector<Found> seen_;
  std::size_t words_ = 0;
  Category category_;
};

bool punctuated(std::span<const Symbol> words, Span span, const std::vector<std::uint8_t>& flags) {
  const auto is = [&](std::uint32_t at) { return words[at] < flags.size() && flags[words[at]] != 0; };
  return is(span.begin) || is(span.end - 1);
}

}  // namespace

std::vector<std::uint8_t> select_nesting(std::span<const PhrasePair> phrases, std::span<const PhraseRank> ranks) {
  std::vector<std::uint32_t> order(phrases.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t p) {
      return std::tuple(ranks[p].complex, ranks[p].crossed, ranks[p].punctuated);
    };
    // Right to left: by where the source side begins, then ends, then the target side likewise.
    const auto place = [&](std::uint32_t p) {
      const PhrasePair& pair = phrases[p];
      return std::tuple(pair.source.begin, pair.source.end, pair.target.begin, pair.target.end);
    };
    return key(a) != key(b) ? key(a) < key(b) : place(a) > place(b);
  });
  std::vector<std::uint8_t> accepted(phrases.size(), 0);
  std::vector<Span> source, target;  // accepted so far, each once: nested spans are few
  const auto free = [](const std::vector<Span>& spans, Span span) {
    return std::ranges::none_of(spans, [&](Span other) { return crosses(other, span); });
  };
  const auto keep = [](std::vector<Span>& spans, Span span) {
    if (std::ranges::find(spans, span) == spans.end()) spans.push_back(span);
  };
  for (const std::uint32_t p : order) {
    if (!free(source, phrases[p].source) || !free(target, phrases[p].target)) continue;
    accepted[p] = 1;
    keep(source, phrases[p].source);
    keep(target, phrases[p].target);
  }
  return accepted;
}

// The phrases of a few pairs, with labels numbered by themselves.
struct FuzzyLabels::Chunk {
  ChunkLabels numbers;
  std::vector<PhrasePair> phrases;
  std::vector<PhraseLabel> labels;
  std::vector<std::size_t> ends;
};

FuzzyLabels::FuzzyLabels(const Bitext& bitext, std::shared_ptr<const TreeBatch> source,
                         std::shared_ptr<const TreeBatch> target, Punctuation punctuation, const FuzzyOptions& options)
    : source_(std::move(source)),
      target_(std::move(target)),
      punctuation_(std::move(punctuation)),
      options_(options),
      labels_(*source_, *target_) {
  bitext.check_size(source_->size(), "trees");
  bitext.check_size(target_->size(), "trees");
}

FuzzyLabels::Chunk FuzzyLabels::label_chunk(const Bitext& bitext, std::size_t begin, std::size_t end,
                                            const PhraseLimits& limits) const {
  Chunk out;
  Frontier frontier;
  Side source, target;
  std::vector<PhraseRank> ranks;
  for (std::size_t pair = begin; pair < end; ++pair) {
    const std::size_t first = out.phrases.size();
    const auto source_words = bitext.source(pair), target_words = bitext.target(pair);
    frontier.assign(bitext.links(pair), source_words.size(), target_words.size());
    append_phrase_pairs(frontier, limits, out.phrases);
    const auto phrases = std::span<const PhrasePair>(out.phrases).subspan(first);
    out.ends.push_back(out.phrases.size());
    if (phrases.empty()) continue;
    source.assign((*source_)[pair], source_words.size(), [&](Symbol l) { return labels_.source(l); });
    target.assign((*target_)[pair], target_words.size(), [&](Symbol l) { return labels_.target(l); });
    ranks.clear();
    for (const PhrasePair& phrase : phrases) {
      const Side::Found f = source.category(phrase.source, out.numbers),
                        e = target.category(phrase.target, out.numbers);
      out.labels.push_back({options_.hard ? e.label : 0, f.label, e.label});
      if (!options_.nesting) continue;
      const std::uint32_t crossed = source.crossed(phrase.source) + target.crossed(phrase.target);
      ranks.push_back({(f.simple ? 0u : 1u) + (e.simple ? 0u : 1u), crossed,
                       punctuated(source_words, phrase.source, punctuation_.source) ||
                           punctuated(target_words, phrase.target, punctuation_.target)});
    }
    if (!options_.nesting) continue;
    const std::vector<std::uint8_t> accepted = select_nesting(phrases, ranks);
    for (std::size_t p = 0; p < accepted.size(); ++p)
      if (accepted[p] == 0) out.labels[first + p].hard = PhraseLabel::kRefused;
  }
  return out;
}

void FuzzyLabels::prepare(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits,
                          unsigned threads) {
  first_ = begin;
  ends_.assign(1, 0);
  prepared_.phrases.clear();
  prepared_.labels.clear();
  const auto make = [&](std::size_t first, std::size_t last) { return label_chunk(bitext, first, last, limits); };
  map_chunks(begin, end, threads, make, [&](std::size_t, std::size_t, Chunk&& chunk) {
    std::vector<Symbol> number = {0};
    const Symbols& keys = chunk.numbers.keys();
    for (Symbol key = 0; key < keys.size(); ++key) number.push_back(keys_.intern(keys.text(key)) + 1);
    for (PhraseLabel& label : chunk.labels) {
      if (label.hard != PhraseLabel::kRefused) label.hard = number[label.hard];
      label.source = number[label.source];
      label.target = number[label.target];
    }
    const std::size_t before = prepared_.phrases.size();
    for (const std::size_t phrase_end : chunk.ends) ends_.push_back(before + phrase_end);
    prepared_.phrases.insert(prepared_.phrases.end(), chunk.phrases.begin(), chunk.phrases.end());
    prepared_.labels.insert(prepared_.labels.end(), chunk.labels.begin(), chunk.labels.end());
  });
}

Strings FuzzyLabels::labels() const {
  Strings out = PhraseLabels::labels();
  for (Symbol key = 0; key < keys_.size(); ++key) out.append(key_text(keys_.text(key), labels_));
  return out;
}

PhraseLabels::View FuzzyLabels::of(std::size_t pair, const Frontier& /*frontier*/, const PhraseLimits& /*limits*/,
                                   LabelledPhrases& /*room*/) const {
  const std::size_t begin = ends_[pair - first_], size = ends_[pair - first_ + 1] - begin;
  return {std::span(prepared_.phrases).subspan(begin, size), std::span(prepared_.labels).subspan(begin, size)};
}

}  // namespace treeglot
