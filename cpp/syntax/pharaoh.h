// Pharaoh links: a line for each sentence pair, SOURCE-TARGET positions from 0, one blank between links.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/alignment.h"
#include "syntax/reader.h"

namespace treeglot {

class PharaohReader : public Reader<Alignment> {
 public:
  using Reader::Reader;
  using Lengths = std::pair<std::uint32_t, std::uint32_t>;  // of the source and the target sentence

  // Checks the lines to come against the lengths of their sentences: one pair for each line, in order. Once this has
  // been called, a line for which there is none is an error.
  void expect(const std::vector<Lengths>& lengths);

 protected:
  void read_line(std::string_view line) override;
  void end_of_file() override;

 private:
  bool checked_ = false;
  std::deque<Lengths> lengths_;
  std::size_t dropped_ = 0;  // the front is for line dropped_ + 1
};

Alignment parse_pharaoh(std::string_view text);  // one line; refuses with std::invalid_argument
std::string write_pharaoh(const Alignment& alignment);

}  // namespace treeglot
