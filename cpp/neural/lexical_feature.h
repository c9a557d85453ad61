// A lexical translation model as a feature of the search: the log probability of each source word's translation (Devlin
// et al. 2014). It needs no state: what a rule gives for its source words depends on nothing but the sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/affiliation.h"
#include "decode/feature.h"
#include "decode/feature_set.h"
#include "neural/joint_model.h"

namespace treeglot {

class LexicalFeature final : public StatefulFeature {
 public:
  // `ids` are the model's numbers of the words.
  LexicalFeature(std::shared_ptr<const JointModel> model, const TargetWords& words,
                 std::shared_ptr<const std::vector<std::uint32_t>> ids, FeatureId score);

  std::size_t state_bytes() const override { return 0; }
  void begin_sentence(const SearchedSentence& sentence) override;
  void apply(const Application& application, const std::byte* const* tails, std::size_t offset, std::byte* out,
             Sink& sink) const override;
  // The source words around a rule are not known yet, so nothing is expected of it.
  float estimate(const Application&, const FeatureWeights&) const override { return 0; }

 private:
  // The sum of one use of a rule. What falls on its slot replaces it.
  struct Sum {
    std::uint64_t sentence = 0;
    EdgeId edge = kNoEdge;
    std::uint32_t rule = 0;
    const std::int32_t* symbols = nullptr;
    float sum = 0;
  };
  static constexpr std::size_t kSums = std::size_t{1} << 14;

  float sum_of(const Application& application) const;
  std::uint32_t translation(std::span<const Link> links) const;  // of one source word, by its links
  std::string_view text(std::int32_t word) const;

  std::shared_ptr<const JointModel> model_;
  const TargetWords& words_;
  std::shared_ptr<const std::vector<std::uint32_t>> ids_;
  FeatureId score_;
  std::size_t units_;
  std::int32_t first_added_;
  std::uint64_t sentence_ = 0;  // of the sentences so far; 0: none
  std::vector<std::string> added_;
  std::vector<float> hidden_;  // of each source word
  EdgeSources sources_;
  // A thread has its own feature.
  mutable std::vector<Sum> sums_;
  mutable std::vector<std::int32_t> own_words_;
  mutable std::vector<Link> links_;
};

}  // namespace treeglot
