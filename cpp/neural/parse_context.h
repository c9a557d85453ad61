// What a parse says of each source word, as further inputs of a joint model.
//
// Four texts stand for a word. Of constituents, they are its tag, the label of the constituent around it, and the
// labels of the largest ones that begin and end there. A root that only holds the tree, such as ROOT, does not count.
// Of dependencies, they are its tag, the relation to its head, its head and the head's tag. The window of words shows
// what stands beside a word. These texts show what the word is a part of, however far that leads, and they need no head
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/dependency.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

// In the order of their numbers in files.
enum class ParseKind : std::uint16_t { none, constituents, dependencies };
constexpr std::size_t kParseKinds = 3;
std::string_view parse_kind_name(ParseKind kind);

constexpr std::uint32_t kParseInputs = 4;  // texts of a word

// Tags, labels and relations are texts that begin like this. No word does, for none has a blank. A head is a word.
constexpr std::string_view kLabel = "label ";
inline bool is_label(std::string_view text) { return text.starts_with(kLabel); }

struct ParseContext {
  ParseKind kind = ParseKind::none;
  std::vector<std::string> texts = {};  // of the first word, of the second, …; empty ones: there is no such thing

  std::size_t words() const { return texts.size() / kParseInputs; }
};

ParseContext parse_context(const Tree& tree);           // without words for a failed parse
ParseContext parse_context(const ParseForest& forest);  // that of its best tree; empty texts if there is none
ParseContext parse_context(const Dependency& tree);

}  // namespace treeglot
