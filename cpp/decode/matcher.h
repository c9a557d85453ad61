// What a matcher is: the rules of a table met with one input. There is one for strings, one for forests, one for
// dependency trees; nothing after them knows the formalism.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "decode/glue.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "syntax/dependency.h"
#include "syntax/forest.h"
#include "syntax/lattice.h"
#include "syntax/lattice_forest.h"

namespace treeglot {

// A part of the input whose translation is given (see Mark).
struct Constraint {
  Span span;
  std::vector<std::vector<std::int32_t>> translations;  // target words
  bool required = true;                                 // no rule may use its words
  float bonus = 0;                                      // of one that is not
};

struct Input {
  std::vector<std::string_view> words;     // at least one; of a lattice by arc, empty for an arc without a word
  std::vector<Constraint> constraints;     // sorted, without overlap
  const ParseForest* forest = nullptr;     // of these words, where the input is one
  const Dependency* dependency = nullptr;  // likewise
  const Lattice* lattice = nullptr;        // likewise
  bool lenient = false;  // every word may pass through, and every structure stay in source order, whatever rules match
  const LatticeForest* variants = nullptr;  // of the words, beside their forest
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  // Alternatives come from `cache`; rules that the sentence needs beyond the table's from `glue`. Throws
  // std::invalid_argument for an input that it cannot use.
  virtual TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const = 0;
  // Whether it takes lattices; others must not reach it.
  virtual bool reads_lattices() const { return false; }
  // The number of rules of the table that are never used, because they would close a cycle of labels.
  virtual std::size_t left_out() const { return 0; }
  // Whether it takes variants of a forest's words; others must not reach it.
  virtual bool reads_variants() const { return false; }
};

}  // namespace treeglot
