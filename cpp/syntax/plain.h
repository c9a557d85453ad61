// Plain tokenised text: a sentence a line, tokens separated by one blank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/reader.h"

namespace treeglot {

using Sentence = std::vector<std::string>;

// The tokens of a line. One blank at the end is dropped, since many tools print one; a blank at the beginning, two
// blanks together and a tab are refused with std::invalid_argument.
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
