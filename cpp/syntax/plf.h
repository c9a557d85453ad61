// Lattices as Moses and cdec read them (Python Literal Format): one on each line, a tuple of nodes. A node is a tuple
// of the arcs that leave it. An arc is a word in quotes, a score, and how many nodes further it leads.
//
//   ((('a',1.0,1),('b',0.5,2),),(('c',1.0,1),),)
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "syntax/lattice.h"
#include "syntax/reader.h"

namespace treeglot {

// What the scores of a file are.
enum class ArcScores { probability, log, cost };

// Refuses with std::invalid_argument, naming the byte, what was found and what was expected.
Lattice parse_plf(std::string_view line, ArcScores scores);

class PlfReader : public Reader<Lattice> {
 public:
  PlfReader(std::string file, bool skip_bad, ArcScores scores) : Reader(std::move(file), skip_bad), scores_(scores) {}

 protected:
  void read_line(std::string_view line) override;

 private:
  ArcScores scores_;
};

}  // namespace treeglot
