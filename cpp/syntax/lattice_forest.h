// A forest whose words may be read in other ways: a parse of one path of a lattice, and variants of its words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/strings.h"
#include "syntax/forest.h"
#include "syntax/lattice.h"

namespace treeglot {

// A variant stands for words of the forest. Its score is that of its arcs, less that of the path that was parsed.
struct Variant {
  Span span;                        // of the forest's words
  std::uint32_t first_word, words;  // among those of all variants
  double score;                     // natural log
  Span nodes;                       // of the lattice, where it begins and ends
  std::vector<EdgeId> arcs;

  friend bool operator==(const Variant&, const Variant&) = default;
};

// Variants begin and end at nodes of the path that was parsed, and have no other nodes of it. So every path of the
// lattice consists of words of the forest and of variants. Three ways are no variants, and are counted. They insert
// words between two words of the forest, leave words out, or begin before an empty arc of the path.
class LatticeForest {
 public:
  static constexpr std::size_t kMostArcs = 1000, kMostSteps = 1'000'000;  // of a variant, and to find all of them

  // Refuses with std::invalid_argument a lattice without a path that has the forest's words, and one with more arcs.
  LatticeForest(std::shared_ptr<const ParseForest> forest, std::shared_ptr<const Lattice> lattice);

  const std::shared_ptr<const ParseForest>& forest() const { return forest_; }
  const std::shared_ptr<const Lattice>& lattice() const { return lattice_; }
  std::span<const Variant> variants() const { return variants_; }  // by their begin
  const Strings& words() const { return words_; }                  // of all variants
  const Variant& variant_of(std::uint32_t word) const;             // that has this one of words()
  // The arcs of the path with these variants, by number, in place of what they stand for.
  std::vector<EdgeId> path_with(std::span<const std::uint32_t> variants) const;
  std::size_t left_out() const { return left_out_; }

 private:
  struct ParsedPath;
  ParsedPath parsed_path() const;
  void follow(const ParsedPath& path, std::uint32_t begin, std::uint32_t node);
  void add(const ParsedPath& path, Span nodes);

  std::shared_ptr<const ParseForest> forest_;
  std::shared_ptr<const Lattice> lattice_;
  std::vector<Variant> variants_;
  Strings words_;
  std::size_t left_out_ = 0;
  std::vector<EdgeId> parsed_arcs_;
  std::vector<EdgeId> arcs_;  // of the variant that is being found
  std::size_t steps_ = 0;
};

}  // namespace treeglot
