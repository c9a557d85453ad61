#include "syntax/lattice_json.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"

namespace treeglot {

Lattice parse_lattice_json(std::string_view text) {
  JsonCursor json(text);
  std::string word;
  std::vector<LatticeArc> arcs;
  Strings words;
  json.expect('{');
  json.key(word);
  if (word != "arcs") throw std::invalid_argument("the key " + quoted(word) + " in a lattice; expected arcs alone");
  json.expect('[');
  for (bool more = !json.skip(']'); more; more = json.next(']')) {
    LatticeArc& arc = arcs.emplace_back();
    json.expect('[');
    arc.from = json.count();
    json.expect(',');
    arc.to = json.count();
    json.expect(',');
    json.string(word);
    words.append(word);
    json.expect(',');
    arc.score = json.number();
    json.expect(']');
  }
  json.expect('}');
  json.end();
  return Lattice(std::move(arcs), words);
}

void LatticeJsonReader::read_line(std::string_view line) {
  give_parsed([&] { return line.empty() ? Lattice({}, {}) : parse_lattice_json(line); });
}

std::string write_lattice_json(const Lattice& lattice) {
  std::string out = "{\"arcs\": [";
  for (std::size_t i = 0; i < lattice.arcs().size(); ++i) {
    const LatticeArc& arc = lattice.arcs()[i];
    out.append(i == 0 ? "[" : ", [").append(std::to_string(arc.from)).append(", ").append(std::to_string(arc.to));
    out += ", ";
    append_json(lattice.words()[i], out);
    out += ", ";
    append_double(arc.score, out);
    out += ']';
  }
  return out + "]}";
}

}  // namespace treeglot
