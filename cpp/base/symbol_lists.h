// Between tables of strings and lists of them.
#pragma once

#include <cstddef>

#include "base/strings.h"
#include "base/symbols.h"

namespace treeglot {

inline Strings texts_of(const Symbols& symbols) {  // by number
  Strings out;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) out.append(symbols.text(symbol));
  return out;
}

inline void intern_all(const Strings& texts, Symbols& symbols) {
  for (std::size_t i = 0; i < texts.size(); ++i) symbols.intern(texts[i]);
}

}  // namespace treeglot
