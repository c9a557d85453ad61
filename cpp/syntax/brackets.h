// Penn Treebank brackets: (S (NP (PRP I)) (VP (VBP run))).
//
// A tree stands on one line or on several. A line with ( in its first column begins a tree; other lines continue one.
// An outer bracket without a label is taken off; (()) and () are the empty tree. Lines that are blank or begin with #
// between trees are skipped. In words -LRB- -RRB- -LSB- -RSB- -LCB- -RCB- stand for ( ) [ ] { }, alone or inside a
// word; labels are taken as they are.
#pragma once

#include <string>
#include <string_view>

#include "syntax/reader.h"
#include "syntax/tree.h"

namespace treeglot {

// ( ) [ ] { } in a word as -LRB- … and back; append to `out`.
void escape_brackets(std::string_view word, std::string& out);
void unescape_brackets(std::string_view word, std::string& out);
// Refuses, with what and why, a word that would not come back from the escapes or that is cut by blanks.
void check_writable_word(std::string_view word);

class BracketReader : public Reader<Tree> {
 public:
  using Reader::Reader;

 protected:
  void read_line(std::string_view line) override;
  void end_of_file() override;
  void forget() override;
  Resume resume(std::string_view line) const override;

 private:
  void opening();
  void closing();
  void atom(std::string_view text);

  TreeBuilder builder_;
  std::string unescaped_;    // a buffer
  std::size_t began_ = 0;    // the line of the open tree's first bracket; 0 between trees
  bool unlabelled_ = false;  // the last bracket has no label yet
  bool wrapped_ = false;     // the outer bracket has no label
  bool unwrapped_ = false;   // and what it holds is complete
  bool complete_ = false;    // the tree has been closed
};

Tree parse_brackets(std::string_view text);    // one tree; refuses with std::invalid_argument
std::string show_brackets(const Tree& tree);   // for the eye: never refuses
std::string write_brackets(const Tree& tree);  // a line without its newline; refuses what would be read differently

}  // namespace treeglot
