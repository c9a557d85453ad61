#include "bind/arrays.h"
#include "bind/core.h"
#include "decode/consensus.h"

namespace treeglot {

void bind_decode_consensus(nb::module_& m) {
  m.def(
      "agreement",
      [](const std::vector<std::vector<std::pair<std::string, double>>>& lists, std::uint32_t order, double scale) {
        Agreement found = without_gil([&] {
          std::vector<std::vector<ScoredText>> given(lists.size());
          for (std::size_t l = 0; l < lists.size(); ++l) {
            for (const auto& [text, score] : lists[l]) given[l].push_back({text, score});
          }
          return agreement(given, {order, scale});
        });
        return std::pair(std::move(found.texts), as_array(std::move(found.values)));
      },
      "lists"_a, "order"_a, "scale"_a,
      "The texts of several k-best lists of one sentence, each once, and rows of numbers: how far each list agrees.");
}

}  // namespace treeglot
