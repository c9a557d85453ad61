// Joint matching (Liu et al. 2009): what several matchers find for one input, each with its own grammar.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature_set.h"
#include "decode/join_forests.h"
#include "decode/matcher.h"

namespace treeglot {

class JointMatcher final : public Matcher {
 public:
  // A matcher for each part of the features.
  JointMatcher(const FeatureSet& features, std::vector<std::shared_ptr<const Matcher>> matchers)
      : matchers_(std::move(matchers)) {
    if (matchers_.size() != features.parts().size() || matchers_.empty())
      throw std::invalid_argument(std::to_string(matchers_.size()) + " matchers for " +
                                  std::to_string(features.parts().size()) + " grammars; expected one for each");
    for (const auto& matcher : matchers_)
      if (matcher == nullptr) throw std::invalid_argument("found no matcher for a grammar; expected one for each");
    for (const auto& part : features.parts()) {
      names_.push_back(part->grammar());
      tables_.push_back(part->shared_table());
    }
  }

  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override {
    std::vector<TranslationForest> parts;
    for (std::size_t part = 0; part < matchers_.size(); ++part) {
      if (cache.parts() != matchers_.size() || &cache.part(part).table() != tables_[part].get())
        throw std::invalid_argument("the matcher is for other grammars than the features");
      parts.push_back(matchers_[part]->match(input, cache.part(part), glue));
      for (std::string& note : parts.back().notes) note.insert(0, names_[part] + ": ");
    }
    return join_forests(std::move(parts));
  }

  std::size_t left_out() const override {
    std::size_t sum = 0;
    for (const auto& matcher : matchers_) sum += matcher->left_out();
    return sum;
  }

 private:
  std::vector<std::shared_ptr<const Matcher>> matchers_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const RuleTable>> tables_;
};

}  // namespace treeglot
