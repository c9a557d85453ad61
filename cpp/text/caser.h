// Gives words in lower case the case they have in text: learnt from text.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/sections.h"
#include "base/strings.h"
#include "text/tagger.h"

namespace treeglot {

// Sentences in words, and the same in lower case.
struct CasedText {
  std::vector<std::vector<std::string>> words, lower;
};

class Caser {
 public:
  static Caser open(const std::string& path);
  // `upper` has the pairs of characters that are the lower and upper case of each other.
  static Caser train(const CasedText& text, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& upper);
  void write(const std::string& path) const { sections_.write(path); }

  Strings restore(const std::vector<std::string>& words) const;

 private:
  explicit Caser(Sections sections);
  std::string cased(std::string_view word, Tag tag) const;

  Sections sections_;
  Tagger tagger_;
  std::map<std::uint32_t, std::uint32_t> upper_;
  std::unordered_map<std::string, std::string> forms_;  // with capitals inside, by what they are in lower case
};

}  // namespace treeglot
