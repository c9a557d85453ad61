// Soft syntax ("Features" of the t2t page). The features say whether the category of a rule matches its site of
// substitution, and which category goes into which. Labels are the notes Yf Ye X1f X1e … of rules; they forbid nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "decode/feature.h"
#include "decode/feature_set.h"
#include "decode/glue.h"

namespace treeglot {

struct LabelState {
  Symbol source, target;  // the root's
};

// What the features of one side are called by.
struct LabelFeatureIds {
  FeatureId match, no_match;
  std::uint32_t substitution;  // a family
};

class LabelFeature final : public Feature<LabelFeature, LabelState> {
 public:
  // `unlabelled` is the label of sites and rules that have none: unknown words, rules of sentences without trees.
  LabelFeature(Symbol unlabelled, LabelFeatureIds source, LabelFeatureIds target, std::uint32_t root)
      : unlabelled_(unlabelled), source_(source), target_(target), root_(root) {}

  void begin_sentence(const SearchedSentence&) override {}

  // Substitutions into glue are neither match nor mismatch: `glue` counts them.
  void score(const Application& application, TailStates<LabelState> tails, LabelState& out, Sink& sink) const {
    if ((application.rule & kLocalRule) != 0) {
      out = {unlabelled_, unlabelled_};
      return;
    }
    const TargetSide& rule = application.target;
    for (const std::int32_t symbol : rule) {
      if (symbol >= 0) continue;
      const auto tail = static_cast<std::size_t>(-1 - symbol);
      substitute(source_, label(rule, 2 + 2 * tail), tails[tail].source, sink);
      substitute(target_, label(rule, 3 + 2 * tail), tails[tail].target, sink);
    }
    out = {label(rule, 0), label(rule, 1)};
    sink.add_dynamic(dynamic_feature(root_, out.source, out.target), 1);
  }

  void expect(const Application& application, Sink& sink) const {
    if ((application.rule & kLocalRule) != 0) return;
    const TargetSide& rule = application.target;
    sink.add_dynamic(dynamic_feature(root_, label(rule, 0), label(rule, 1)), 1);
  }

 private:
  Symbol label(const TargetSide& rule, std::size_t at) const {
    return at < rule.label_count ? rule.labels[at] : unlabelled_;
  }
  static void substitute(const LabelFeatureIds& ids, Symbol site, Symbol root, Sink& sink) {
    sink.add(site == root ? ids.match : ids.no_match, 1);
    sink.add_dynamic(dynamic_feature(ids.substitution, site, root), 1);
  }

  Symbol unlabelled_;
  LabelFeatureIds source_, target_;
  std::uint32_t root_;
};

// Adds match_f, nomatch_f, match_e, nomatch_e, and the families subst_f[X→Y], subst_e[X→Y] and root[X,Y]. Refuses a
// table that has no label X for what is unlabelled.
void add_labels(FeatureSet& features);

}  // namespace treeglot
