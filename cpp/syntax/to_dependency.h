// Dependencies from constituents: every word depends on the head word of the smallest constituent that it does not
// head.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "syntax/dependency.h"
#include "syntax/head_table.h"
#include "syntax/tree.h"

namespace treeglot {

// Where the head table is departed from, in the manner of Johansson and Nugues (2007). The labels are those of the Penn
// treebanks; what the table calls conjunctions and passes over (punctuation) is its own.
struct HeadStyle {
  enum class Coordination : std::uint8_t {
    table,
    chain,       // each conjunct hangs from the conjunction before it, that from the conjunct before (Mel'cuk)
    conjunction  // the last conjunction is the head of all (Prague)
  };

  enum class Word : std::uint8_t { as_in_table, hangs };

  Coordination coordination = Coordination::table;
  Word prepositions = Word::as_in_table;   // from their object
  Word auxiliaries = Word::as_in_table;    // and modals, from the verb
  Word infinitives = Word::as_in_table;    // "to", likewise
  Word subordinators = Word::as_in_table;  // words that introduce a clause, from it
  Word questions = Word::as_in_table;      // question words and relative pronouns, likewise
  Word possessives = Word::as_in_table;    // 's, from the noun
};

// One root, projective. A word's tag is the base of its parent's label. The tree without nodes (a failed parse) gives
// the dependency structure without words.
Dependency to_dependency(const Tree& tree, const HeadTable& heads, const HeadStyle& style = {});
std::vector<Dependency> to_dependency(std::span<const Tree* const> trees, const HeadTable& heads,
                                      const HeadStyle& style = {});

}  // namespace treeglot
