// A dependency analysis of a sentence: a head for every word. It need not be a tree: parsers give several roots,
// missing arcs and cycles; the checks say what it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/span.h"
#include "base/strings.h"

namespace treeglot {

class Dependency {
 public:
  static constexpr std::int32_t kRoot = -1;    // depends on nothing: a root of the sentence
  static constexpr std::int32_t kNoHead = -2;  // the parser gave no head

  // tags and relations are empty or as long as words; a head is a position, kRoot or kNoHead, never the word itself.
  Dependency(Strings words, std::vector<std::int32_t> heads, Strings tags = {}, Strings relations = {});

  std::size_t size() const { return heads_.size(); }
  std::int32_t head(std::size_t word) const { return heads_[word]; }
  std::span<const std::int32_t> heads() const { return heads_; }
  const Strings& words() const { return words_; }
  const Strings& tags() const { return tags_; }
  const Strings& relations() const { return relations_; }

  friend bool operator==(const Dependency&, const Dependency&) = default;

 private:
  Strings words_, tags_, relations_;
  std::vector<std::int32_t> heads_;
};

}  // namespace treeglot
