#include "decode/features/labels.h"

#include <memory>
#include <stdexcept>

namespace treeglot {

void add_labels(FeatureSet& features) {
  features.check_one_grammar();
  const Symbol unlabelled = features.table().labels().find("X");
  if (unlabelled == Symbols::kNone) throw std::invalid_argument("the rule table has no label X");
  FeatureSpace& space = features.space();
  const auto family = [&](const std::string& prefix, const std::string& separator) {
    return features.families().add(std::make_shared<LabelFamily>(features.shared_table(), prefix, separator));
  };
  const auto side = [&](const std::string& name) {
    return LabelFeatureIds{space.add("match_" + name), space.add("nomatch_" + name), family("subst_" + name, "→")};
  };
  const LabelFeatureIds source = side("f"), target = side("e");
  const std::uint32_t root = family("root", ",");
  features.add([=] { return std::make_unique<LabelFeature>(unlabelled, source, target, root); });
}

}  // namespace treeglot
