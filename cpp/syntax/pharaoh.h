// Pharaoh links: a line for each sentence pair, SOURCE-TARGET positions from 0, one blank between links.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/alignment.h"
#include "syntax/reader.h"

namespace treeglot {

class PharaohReader : public Reader<Alignment> {
 public:
  using Reader::Reader;

 protected:
  void read_line(std::string_view line) override;
};

Alignment parse_pharaoh(std::string_view text);  // one line; refuses with std::invalid_argument
std::string write_pharaoh(const Alignment& alignment);

// The posterior of each link of an alignment: the mean of the two directions. It comes from the tokens of a line with
// SOURCE-TARGET:FORWARD:BACKWARD for likely links. A link that the line lacks has none, and gets 0. Refuses other
// tokens, and a link outside a pair of these lengths, with std::invalid_argument.
std::vector<float> link_posteriors(const Alignment& alignment, std::span<const std::string_view> tokens,
                                   std::size_t source_length, std::size_t target_length);

}  // namespace treeglot
