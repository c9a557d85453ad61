// Hierarchical rules by subtracting phrase pairs from phrase pairs (Chiang 2007; "Hiero" of the t2t page).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rules/extractor.h"
#include "rules/frontier.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

// Declared, with defaults, help and ranges, in treeglot.rules.hiero.
struct HieroOptions {
  Limit max_phrase;         // source words of an initial phrase
  Limit max_target_phrase;  // and its target words
  Limit max_symbols;        // source symbols of a rule, its "final size"
  Limit max_nonterminals;
  Limit min_hole;         // source words that a nonterminal stands for
  bool adjacent = false;  // nonterminals side by side on the source side
  // Unaligned words at the ends: of phrases that rules with nonterminals are made from, their holes among them …
  Limit loose_source, loose_target;
  // … and of phrases that are rules themselves.
  Limit phrase_loose_source, phrase_loose_target;
  Limit core;  // the first so many pairs alone give rules with nonterminals
};

struct PhraseLabel {
  static constexpr Symbol kRefused = 0xffffffffu;
  Symbol hard = 0;  // part of the rules: of left-hand sides and variables; 0 is X. kRefused: not to be used
  Symbol source = 0, target = 0;  // noted beside them
  bool ill_formed = false;        // its dependency structure; rules that it is part of are marked
};

struct LabelledPhrases {
  std::vector<PhrasePair> phrases;  // as append_phrase_pairs gives them
  std::vector<PhraseLabel> labels;  // as many
};

// Decides which phrases of a pair may be used, and with which labels. This base class takes all phrases as X.
class PhraseLabels : public Exclusive {
 public:
  struct View {
    std::span<const PhrasePair> phrases;
    std::span<const PhraseLabel> labels;
  };

  virtual ~PhraseLabels() = default;
  // Called for a batch of pairs before any of them is asked for, so that labels can be numbered in the order of pairs.
  virtual void prepare(const Bitext& /*bitext*/, std::size_t /*begin*/, std::size_t /*end*/,
                       const PhraseLimits& /*limits*/, unsigned /*threads*/) {}
  // The phrases of a pair; many threads ask, each with a `room` of its own for the answer.
  virtual View of(std::size_t pair, const Frontier& frontier, const PhraseLimits& limits, LabelledPhrases& room) const;
  // Whether the rule's labels are noted, then those of its variables in source order: Yf Ye X1f X1e X2f X2e.
  virtual bool noted() const { return false; }
  // The dependency structure that target sides keep, none by default; and the labels of their words, to be noted.
  virtual Heads structure(std::size_t /*pair*/, std::vector<Symbol>& /*tags*/) const { return {}; }

  virtual Strings labels() const;              // by number; X first
  virtual Strings keys() const { return {}; }  // as extractors have them
  virtual void number_keys(const Strings& /*keys*/) {}
  virtual void append_counts(NamedCounts& /*counts*/) const {}
};

// An initial phrase with what it gives where every phrase is an X.
struct CountedPhrase {
  PhrasePair phrase;
  std::uint32_t units;     // each of its rules counts so much (rules/tally.h); 0 if it gives none
  bool flat, gappy, hole;  // is a rule; gives rules with variables; can be replaced by a variable
};

// Calls visit(pair, phrases) for all pairs, with the phrases in the order in which extraction takes them.
void visit_counted_phrases(const Bitext& bitext, const HieroOptions& options,
                           const std::function<void(std::size_t, std::span<const CountedPhrase>)>& visit);

struct HieroCounts {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"pairs", "unlinked", "phrases", "refused", "flat", "gappy"});
  std::uint64_t pairs = 0;     // sentence pairs read
  std::uint64_t unlinked = 0;  // of them without links, which give nothing
  std::uint64_t phrases = 0;   // initial phrase pairs
  std::uint64_t refused = 0;   // of them refused by the labels
  std::uint64_t flat = 0;      // rules taken, without nonterminals
  std::uint64_t gappy = 0;     // and with
};

class HieroExtractor final : public CountingExtractor<HieroCounts> {
 public:
  // Without `labels` every phrase is an X.
  HieroExtractor(std::shared_ptr<const Bitext> bitext, const HieroOptions& options,
                 std::shared_ptr<PhraseLabels> labels = nullptr);

  NamedCounts counts() const override;
  Strings labels() const override { return labels_->labels(); }
  Strings keys() const override { return labels_->keys(); }
  void number_keys(const Strings& keys) override { labels_->number_keys(keys); }

 private:
  Worker worker() const override;
  void prepare(std::size_t begin, std::size_t end, unsigned threads) override;

  HieroOptions options_;
  std::shared_ptr<PhraseLabels> labels_;
};

}  // namespace treeglot
