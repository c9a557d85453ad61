// The way back from words to text: learns from text what stands between two words, and needs no more than the words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sections.h"
#include "text/tagger.h"
#include "text/tokens.h"
#include "text/word_rules.h"

namespace treeglot {

class Spacer {
 public:
  static Spacer open(const std::string& path);
  static Spacer train(std::span<const Tokens* const> sentences);
  void write(const std::string& path) const { sections_.write(path); }

  // The text of the words, with the span of each.
  Tokens join(const std::vector<std::string>& words) const;

 private:
  explicit Spacer(Sections sections);

  Sections sections_;
  Tagger tagger_;
  std::vector<std::string> spaces_;  // by tag; the first is nothing
};

// The same by rules that suit most languages: marks lean on words, clitics and elisions likewise. Between other words
// there is a blank if the language has `spaces`; otherwise only between words of other scripts.
Tokens join_by_rules(const std::vector<std::string>& words, const WordRules& rules, bool spaces);

}  // namespace treeglot
