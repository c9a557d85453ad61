// Packed forests as the Egret parser prints them (-printForest):
//
//   sentence 1 :
//   time flies
//   NN[0,0] => time ||| -0.1
//   VBZ[1,1] => flies ||| -0.4
//   S^g[0,1] => NN[0,0] VBZ[1,1] ||| -0.25
//
// and an empty line; a sentence without a parse has no edges and one more empty line. Spans are inclusive here and half
// open in a ParseForest. Scores are log posteriors. The edges may come in any order; the goal is the node over all
// words that is no tail. Egret marks labels of phrases with ^g, which is taken off: a phrase X^g[2,2] and a tag X[2,2]
// stay two nodes, both labelled X. So are further nodes of one label and span, which we print X^g2[2,2], X^g3[2,2] and
// so on. Brackets in words are escaped as in Penn Treebank brackets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "syntax/forest.h"
#include "syntax/plain.h"
#include "syntax/reader.h"

namespace treeglot {

// A label without ^g, which Egret marks phrases with, or ^g2, ^g3 …, which tell further nodes of one label and span
// apart.
std::string_view without_egret_mark(std::string_view label);

class EgretReader : public Reader<ParseForest> {
 public:
  // Scores are multiplied by `unit`: ln 2 makes natural logarithms of those to the base 2.
  EgretReader(std::string file, bool skip_bad, bool keep_suffix, double unit)
      : Reader(std::move(file), skip_bad), keep_suffix_(keep_suffix), unit_(unit) {}

 protected:
  void read_line(std::string_view line) override;
  void end_of_file() override;
  void forget() override;
  Resume resume(std::string_view line) const override;

 private:
  void header(std::string_view line);
  void words(std::string_view line);
  void edge(std::string_view line);
  NodeId node(std::string_view token);  // by what is printed, NP^g[0,3]; kNoNode when it is no node
  NodeId goal();
  void complete();

  enum class Expect { header, words, edges };

  bool keep_suffix_;
  double unit_;
  Expect expect_ = Expect::header;
  std::size_t began_ = 0;
  Sentence tokens_;
  std::string unescaped_;
  Strings printed_;  // what is printed for each node that is not a word
  HashIndex index_;  // of printed_
  ForestBuilder builder_;
  std::vector<NodeId> tails_;       // of the edge at hand
  std::vector<std::size_t> lines_;  // where a node came first
  std::vector<std::uint8_t> is_head_, is_tail_;
};

// The record with its number and the empty line after it. Refuses what the format cannot hold: scores of another kind
// than posteriors, words beside other tails, labels that end in ^g or ^g2.
std::string write_egret(const ParseForest& forest, std::size_t number);

}  // namespace treeglot
