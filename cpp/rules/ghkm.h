// Rules of packed forests and their translations (Galley et al. 2004, 2006; Mi and Huang 2008; the c2d page).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rules/bitext.h"
#include "rules/dependency_bank.h"
#include "rules/ghkm_fragments.h"
#include "rules/labels.h"
#include "rules/tally.h"
#include "syntax/forest.h"
#include "syntax/forest_stages.h"

namespace treeglot {

struct GhkmOptions {
  bool well_formed = false;  // cut only where the target side's dependency structure is well-formed: c2d
  bool structure = false;    // target sides keep their dependency structures, and words their tags as notes
  enum class Phrases : std::uint8_t { none, all, well_formed };
  Phrases phrases = Phrases::none;        // over the spans of nodes, with the left-hand side X
  std::uint32_t max_phrase = 7;           // source words
  std::uint32_t phrase_loose = kNoLimit;  // unaligned target words at a phrase's ends
  double margin = kTrainingMargin;        // of pruning the forest
  std::uint32_t max_composed = 3;         // minimal rules that one is glued of
  FragmentLimits minimal, composed;
  // Ways to attach unaligned target words that a rule may have, its count shared between them; 1: to the highest node.
  std::uint32_t max_attachments = 1;
  bool skip_bad = false;  // count pairs whose forest or dependency has other words than the sentence, and go on
};

struct GhkmCounts {
  std::uint64_t pairs = 0;     // read
  std::uint64_t unparsed = 0;  // of them without a forest that has a parse,
  std::uint64_t unlinked = 0;  // without links,
  std::uint64_t no_tree = 0;   // without a dependency tree, or with one that is not well-formed,
  std::uint64_t bad = 0;       // whose forest or tree has other words: all of which give nothing
  std::uint64_t nodes = 0;     // of pruned forests, words not counted
  std::uint64_t frontier = 0;  // of them in the frontier set
  std::uint64_t minimal = 0;   // rules taken
  std::uint64_t composed = 0;
  std::uint64_t phrases = 0;
  std::uint64_t phrases_well_formed = 0;  // of them, where dependencies are given
  FragmentCuts minimal_cuts, composed_cuts;
  std::uint64_t attachments_capped = 0;  // rules with more ways to attach unaligned words than are allowed

  GhkmCounts& operator+=(const GhkmCounts& other);
};

// Adds the rules of the pairs `first_pair`, `first_pair` + 1, … with these forests to the tally; a forest may be null.
// `dependencies` of the target sides are needed for structures. Labels of forests and tags are numbered as they come.
// The same for any number of threads.
void extract_ghkm(const Bitext& bitext, std::size_t first_pair, std::span<const ParseForest* const> forests,
                  const DependencyBank* dependencies, const GhkmOptions& options, Labels& labels, Tally& tally,
                  unsigned threads, GhkmCounts& counts);

}  // namespace treeglot
