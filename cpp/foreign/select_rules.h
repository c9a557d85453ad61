// The rules that a model uses: of each source side the best, and of all source sides those that an input can meet.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature_set.h"

namespace treeglot {

struct RuleSelection {
  std::uint32_t per_source = 0;  // target sides of a source side, as the decoder keeps them; 0: all
  // The source symbols of each sentence, brackets of tree fragments among them. A source side stays if one sentence
  // has all of its words. Without `filtered` all source sides stay.
  std::vector<std::vector<std::string>> sentences;
  bool filtered = false;
};

// The rules that stay, in the order of the table.
std::vector<RuleId> select_rules(const FeatureSet& features, std::span<const std::pair<std::string, float>> weights,
                                 const RuleSelection& selection);

}  // namespace treeglot
