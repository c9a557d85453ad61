// Rules of packed forests and their translations (Galley et al. 2004, 2006; Mi and Huang 2008; the c2d page).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "rules/extractor.h"
#include "rules/forest_bank.h"
#include "rules/ghkm_fragments.h"
#include "rules/phrase_trees.h"

namespace treeglot {

// Declared, with defaults, help and ranges, in treeglot.rules.ghkm.
struct GhkmOptions {
  bool well_formed = false;  // cut only where the target side's dependency structure is well-formed: c2d
  bool structure = false;    // target sides keep their dependency structures, and words their tags as notes
  enum class Phrases : std::uint8_t { none, all, well_formed };
  Phrases phrases = Phrases::none;  // over the spans of nodes, with the left-hand side X
  bool all_spans = false;           // those without variables over any span
  Limit max_phrase;                 // source words
  Limit phrase_loose;               // unaligned target words at a phrase's ends
  bool sequences = false;           // phrases over neighbouring children of a node, too
  // Of hierarchical phrases: source words and symbols, and variables. Without variables there are none.
  std::uint32_t max_span = 0, max_symbols = 0, max_nonterminals = 0;
  Limit max_composed;  // the number of minimal rules composed
  Limit minimal_height, minimal_edges, minimal_leaves, minimal_fragments;
  Limit composed_height, composed_edges, composed_leaves, composed_fragments;
  // Ways to attach unaligned target words that a rule may have, its count shared between them; 1: to the highest node.
  Limit max_attachments;
};

struct GhkmCounts {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"pairs", "unparsed", "unlinked", "no_tree", "nodes", "frontier", "minimal", "composed", "phrases",
       "phrases_well_formed", "phrases_parsed", "phrases_on_nodes", "gappy", "minimal_too_large", "minimal_capped",
       "composed_too_large", "composed_capped", "attachments_capped"});
  std::uint64_t pairs = 0;     // read
  std::uint64_t unparsed = 0;  // of them without a forest that has a parse,
  std::uint64_t unlinked = 0;  // without links,
  std::uint64_t no_tree = 0;   // without a dependency tree, or with one that is not well-formed: all give nothing
  std::uint64_t nodes = 0;     // of pruned forests, words not counted
  std::uint64_t frontier = 0;  // of them in the frontier set
  std::uint64_t minimal = 0;   // rules taken
  std::uint64_t composed = 0;
  std::uint64_t phrases = 0;
  std::uint64_t phrases_well_formed = 0;  // of them, where dependencies are given
  std::uint64_t phrases_parsed = 0;       // of them, ill-formed ones with the tree of a parse of their own
  std::uint64_t phrases_on_nodes = 0;     // of them, on nodes or on neighbouring children
  std::uint64_t gappy = 0;                // hierarchical phrases
  std::uint64_t minimal_too_large = 0, minimal_capped = 0, composed_too_large = 0, composed_capped = 0;  // FragmentCuts
  std::uint64_t attachments_capped = 0;  // rules with more ways to attach unaligned words than are allowed
};

class GhkmExtractor final : public CountingExtractor<GhkmCounts> {
 public:
  // `dependencies` of the target sides are needed for structures, else they may be null. Extraction
  // refuses a forest or dependency tree with other words than its sentence. `phrases` are trees of target phrases that
  // were parsed on their own: an ill-formed phrase with the words of one has its structure and tags.
  GhkmExtractor(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const ForestBank> forests,
                std::shared_ptr<const DependencyBank> dependencies, const GhkmOptions& options,
                std::span<const Dependency* const> phrases = {});

  // X, the tags of dependencies and parsed phrases if structures are kept, labels of forests
  Strings labels() const override;

 private:
  Worker worker() const override;

  std::shared_ptr<const ForestBank> forests_;
  std::shared_ptr<const DependencyBank> dependencies_;
  GhkmOptions options_;
  PhraseTrees phrases_;
  Symbols labels_;
  std::vector<Symbol> tag_labels_, phrase_tag_labels_;  // the label of each tag
};

}  // namespace treeglot
