// Sentences to trees and forests with several grammars together (rule_product.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/parser.h"

namespace treeglot {

class ProductParser {
 public:
  // Uses the levels of each grammar up to its `finest`. Refuses grammars whose roots have different labels, and those
  // that share no label of phrases or no tag with the first.
  ProductParser(std::span<const std::shared_ptr<const SplitGrammar>> grammars, std::span<const std::size_t> finest);

  // A grammar without a parse has no say. Limits hold for all grammars and their product together. Where one is
  // reached, the result is flat: the grammars that came first alone would be another parser. The log probability is the
  // mean of the grammars that have a parse.
  ParsedTree tree(std::span<const std::string_view> words, const ParseOptions& options) const;
  ParsedForest forest(std::span<const std::string_view> words, const ParseOptions& options) const;

  // Of each grammar the labels in trees that it lacks and another has. Trees may have them nevertheless.
  std::vector<std::vector<std::string>> lacking() const;

 private:
  // With the edges of the product within `margin`.
  ParsedForest join(std::span<const std::string_view> words, const ParseOptions& options, double margin) const;

  std::vector<SplitParser> parsers_;
};

}  // namespace treeglot
