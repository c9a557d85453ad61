// Source context ("word context" of Chiang, Knight and Wang 2009). A feature is a pair of words that a rule links,
// together with the source word on the left or on the right. That word may belong to the rule, to one of its variables,
// or to neither. So the features depend on where a rule is used. They need no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "decode/affiliation.h"
#include "decode/feature.h"
#include "decode/feature_set.h"

namespace treeglot {

// The words that the features tell apart. All others are one class.
class ContextWords {
 public:
  static constexpr Symbol kOther = 0, kBegin = 1, kEnd = 2;
  static constexpr unsigned kBits = 20;  // of a word's number

  ContextWords(std::span<const std::string> source, std::span<const std::string> target);

  Symbol source(std::string_view word) const { return number(source_, word); }
  Symbol target(std::string_view word) const { return number(target_, word); }

  const Symbols& source_words() const { return source_; }
  const Symbols& target_words() const { return target_; }

 private:
  static Symbols interned(std::span<const std::string> words);
  static Symbol number(const Symbols& words, std::string_view word) {
    const Symbol found = words.find(word);
    return found == Symbols::kNone || found <= kEnd ? kOther : found;  // a word may look like a class
  }

  Symbols source_, target_;
};

// What a member of the families is.
struct WordContext {
  Symbol source, target, beside;

  std::uint64_t member() const {
    return (std::uint64_t{source} << ContextWords::kBits | target) << ContextWords::kBits | beside;
  }
  static WordContext of(std::uint64_t member);
};

// left=C|F→E or right=F→E|C: the target word E is linked to the source word F, with C beside it.
class ContextFamily final : public DynamicFamily {
 public:
  ContextFamily(std::shared_ptr<const ContextWords> words, bool left) : words_(std::move(words)), left_(left) {}

  std::string name(std::uint64_t member) const override;
  bool owns(std::string_view name) const override;
  std::optional<std::uint64_t> find(std::string_view name) const override;

 private:
  std::string_view prefix() const { return left_ ? "left=" : "right="; }

  std::shared_ptr<const ContextWords> words_;
  bool left_;
};

class ContextFeature final : public StatefulFeature {
 public:
  struct Families {
    std::uint32_t left, right;
  };
  // `ids` are the numbers of the model's target words.
  ContextFeature(std::shared_ptr<const ContextWords> words, std::shared_ptr<const std::vector<Symbol>> ids,
                 Families families)
      : words_(std::move(words)), ids_(std::move(ids)), families_(families), scores_(kScores) {}

  std::size_t state_bytes() const override { return 0; }
  void begin_sentence(const SearchedSentence& sentence) override;
  void apply(const Application& application, const std::byte* const* tails, std::size_t offset, std::byte* out,
             Sink& sink) const override;
  // Where a rule will stand is not known, so nothing is expected of it.
  float estimate(const Application&, const FeatureWeights&) const override { return 0; }

 private:
  // The score of one use of a rule. What falls on its slot replaces it.
  struct Score {
    std::uint64_t sentence = 0;
    EdgeId edge = kNoEdge;
    std::uint32_t rule = 0;
    const std::int32_t* symbols = nullptr;
    double score = 0;
  };
  static constexpr std::size_t kScores = std::size_t{1} << 14;

  template <class Visit>
  void visit(const Application& application, const Visit& visit) const;  // visit(feature) whenever one fires
  Symbol id(std::int32_t symbol) const {
    return symbol < first_ ? (*ids_)[static_cast<std::size_t>(symbol)]
                           : added_[static_cast<std::size_t>(symbol - first_)];
  }

  std::shared_ptr<const ContextWords> words_;
  std::shared_ptr<const std::vector<Symbol>> ids_;
  Families families_;
  std::int32_t first_ = 0;
  std::vector<Symbol> added_;   // words beyond the model's
  std::vector<Symbol> source_;  // the sentence, between its borders
  std::uint64_t sentence_ = 0;  // of the sentences so far; 0: none
  EdgeSources sources_;
  // A thread has its own feature.
  mutable std::vector<Score> scores_;
  mutable std::vector<Symbol> own_words_;
  mutable std::vector<Link> links_;
};

// Adds the families left=C|F→E and right=F→E|C for these words. Refuses words that no name can tell apart.
void add_context(FeatureSet& features, std::span<const std::string> source, std::span<const std::string> target);

}  // namespace treeglot
