// Plain tokenised text: one sentence per line, tokens separated by blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/reader.h"

namespace treeglot {

using Sentence = std::vector<std::string>;

// The tokens of a line. Several blanks count as one, and those at its ends do not count: real corpora have them, and
// every aligner numbers words this way. A tab is refused with std::invalid_argument: it stands in tables, not in text.
Sentence split_tokens(std::string_view line);

class PlainReader : public Reader<Sentence> {
 public:
  using Reader::Reader;

 protected:
  void read_line(std::string_view line) override;
};

// A line without its newline; refuses tokens that would be read differently.
std::string write_plain(const Sentence& sentence);

}  // namespace treeglot
