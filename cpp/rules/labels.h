// The labels of an extraction by number, as rules' codes have them: 0 is X.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/symbols.h"

namespace treeglot {

class Labels {
 public:
  Labels() { symbols_.intern("X"); }

  Symbol intern(std::string_view text) { return symbols_.intern(text); }
  Symbol find(std::string_view text) const { return symbols_.find(text); }
  std::string_view text(Symbol label) const { return symbols_.text(label); }
  std::size_t size() const { return symbols_.size(); }

 private:
  Symbols symbols_;
};

}  // namespace treeglot
