// Pharaoh links: a line for each sentence pair, SOURCE-TARGET positions from 0, one blank between links.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace treeglot
