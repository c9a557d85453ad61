// Forest matching (Mi et al. 2008): every fragment of a table at every node of a packed parse forest, without
// enumerating its trees.
//
// A fragment's source side is a string of the trie like any other. The token " IP(" opens a node and " )" closes it (no
// word has a blank). Words and variables stand between them. The walk goes through the trie and the forest at once, so
// it meets only what some rule begins with.
#pragma once

#include <cstdint>
#include <memory>

#include "decode/feature_set.h"
#include "decode/match_chart.h"
#include "decode/matcher.h"
#include "syntax/forest_stages.h"
#include "syntax/head_table.h"

namespace treeglot {

struct ForestOptions {
  double margin = kDecodingMargin;     // the forest is pruned so far below its best tree, by its scores as given
  std::uint32_t step_limit = 100'000;  // of the walk at one node, which bounds its matches; 0: none
  bool sequences = true;               // phrases on neighbouring children also in pseudo rules
  bool crossing = false;               // phrases on spans that are neither nodes nor neighbouring children
  bool pseudo_nodes = false;           // pseudo rules only where no fragment is rooted, as Travatar has them
};

// The translation forest has the parse forest's nodes. Into a node lead, beside its fragments:
// - phrases: rules with the left-hand side X and words alone, on the node's span. Its best parse stands below them;
// - hierarchical phrases on the node's span, and phrases with variants of its words (see ForestPhrases);
// - a pseudo rule, in source order, for each hyperedge that no fragment begins with: the other children hang on the
//   head child (Magerman 1995). The paper has them for the nodes where matching fails. Hyperedges, as on the c2d page,
//   include those, and no tree of the forest is out of reach;
// - a word that nothing translates, as it is.
//
// An edge's value is the log probability of the hyperedges that it uses, so a derivation has P(T_c(o)) of its tree.
// These are conditional probabilities in the forest as given, before pruning (see prune_conditional).
//
// A line, and a forest without a parse, is left to the chart: phrases and glue.
class ForestMatcher final : public Matcher {
 public:
  // Adds the features "parse" and "pseudo". Without a head table pseudo rules have no dependency structure.
  ForestMatcher(FeatureSet& features, std::shared_ptr<const HeadTable> heads, const ForestOptions& options,
                const ChartOptions& fallback);

  bool reads_variants() const override { return true; }

  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override;

 private:
  std::shared_ptr<const RuleTable> table_;
  std::shared_ptr<const HeadTable> heads_;
  ForestOptions options_;
  std::uint32_t span_limit_;  // words of a hierarchical phrase
  ChartMatcher fallback_;
  FeatureId parse_, pseudo_;
};

}  // namespace treeglot
