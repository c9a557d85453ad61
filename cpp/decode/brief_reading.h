// The texts and features of a sentence's derivations, without their rules: what tuning needs of a k-best list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "decode/derivation.h"
#include "graph/derivation.h"

namespace treeglot {

// The derivations of a k-best list share most of their edges, so each edge is replayed once. All edges into a
// hypothesis give it the same state. The results are those of Reading::read, to the bit.
class BriefReading {
 public:
  explicit BriefReading(const Reading& reading);

  Hypothesis read(const Derivation& derivation);

 private:
  struct Value {
    std::uint32_t feature;  // a place in sums_
    float value;
  };
  struct Values {
    std::size_t begin = 0, end = 0;  // in values_; 0 until the edge is replayed
  };
  const Values& values_of(EdgeId edge);
  std::uint32_t place_of(FeatureId id);
  void append_words(const Derivation& derivation, std::string& text);

  const Reading& reading_;
  std::vector<Values> edges_;            // by edge of the search forest
  std::vector<Value> values_ = {{}};     // in the order of the replay, behind one that no edge has
  std::vector<std::uint32_t> state_of_;  // by hypothesis: its place in states_
  std::vector<std::byte> states_;
  std::vector<FeatureId> features_;   // by place
  std::vector<double> sums_;          // by place
  std::vector<std::uint32_t> order_;  // places by feature number
  HashIndex index_;                   // of places by feature number

  // Of the derivation at hand; kept for their memory.
  std::vector<FeatureValue> replayed_;
  std::vector<const std::byte*> tails_;
  std::vector<std::uint32_t> waiting_, first_child_, children_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open_;
};

}  // namespace treeglot
