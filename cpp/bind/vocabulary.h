// The words of language models of any kind.
#pragma once

#include <cstddef>
#include <string_view>

#include "bind/core.h"
#include "lm/ngram_table.h"

namespace treeglot {

template <class Model>
std::size_t word_count(const Model& model) {
  return model.vocabulary().size();
}

template <class Model>
std::string_view word_of(const Model& model, WordId id) {
  if (id >= model.vocabulary().size()) throw nb::index_error("no word has this number");
  return model.vocabulary().word(id);
}

}  // namespace treeglot
