// Lattices as JSON lines, our own format. One object a line:
//
//   {"arcs": [[0, 1, "das", -0.1], [0, 2, "dashaus", -2.5], [1, 2, "haus", 0]]}
//
// An arc is the node that it leaves, the node that it leads to, its word and its score (natural log). The word of an
// arc without one is "".
#pragma once

#include <string>
#include <string_view>

#include "syntax/lattice.h"
#include "syntax/reader.h"

namespace treeglot {

class LatticeJsonReader : public Reader<Lattice> {
 public:
  using Reader::Reader;

 protected:
  void read_line(std::string_view line) override;
};

Lattice parse_lattice_json(std::string_view text);  // refuses with std::invalid_argument
std::string write_lattice_json(const Lattice& lattice);

}  // namespace treeglot
