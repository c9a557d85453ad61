// Forests as JSON lines: our own format, which holds everything that a forest can be. One object a line:
//
//   {"words": ["time", "flies"], "scores": "posterior", "goal": 3,
//    "nodes": [{"label": "N", "span": [0, 1], "edges": [[-0.1, 0]]},
//              {"label": "S", "span": [0, 2], "edges": [[-1.5, 2, 1], [-0.25, 0, 1]]}]}
//
// Nodes are numbered: first the words, then "nodes" in their order. An edge is a score and the numbers of its tails,
// from left to right. They are all smaller than the node's own number. Spans are half open. "goal" is null, and "nodes"
// empty, without a parse. The keys may come in any order; each is there once and no other is.
#pragma once

#include <string>
#include <string_view>

#include "syntax/forest.h"
#include "syntax/reader.h"

namespace treeglot {

class ForestJsonReader : public Reader<ParseForest> {
 public:
  using Reader::Reader;

 protected:
  void read_line(std::string_view line) override;
};

ParseForest parse_forest_json(std::string_view text);  // refuses with std::invalid_argument
std::string write_forest_json(const ParseForest& forest);

const char* score_kind_name(ScoreKind kind);

}  // namespace treeglot
