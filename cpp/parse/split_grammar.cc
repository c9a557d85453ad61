#include "parse/split_grammar.h"

#include "syntax/brackets.h"

namespace treeglot {

void Level::number_states() {
  first.assign(1, 0);
  for (const std::uint32_t number : states) first.push_back(first.back() + number);
}

std::vector<std::uint8_t> SplitGrammar::parts() const {
  std::vector<std::uint8_t> out(labels.size(), 0);
  for (Symbol label = 0; label < labels.size(); ++label)
    out[label] = label != root && labels.text(label).size() > 1 && labels.text(label).front() == '@';
  for (const Level& level : levels) {
    for (const LexicalRule& rule : level.tags) out[rule.tag] = 0;
  }
  return out;
}

std::string_view SplitGrammar::shown(Symbol label) const {
  const std::string_view text = labels.text(label);
  return text.substr(0, text.find('^', 1));
}

Symbol SplitGrammar::lookup(std::string_view word, std::size_t position) const {
  const Level& level = levels.back();
  const auto known = [&](Symbol number) {
    return number != Symbols::kNone && number + 1 < level.first_tag.size() &&
           level.first_tag[number] < level.first_tag[number + 1];
  };
  std::string plain;
  unescape_brackets(word, plain);
  if (const Symbol found = words.find(plain); known(found)) return found;
  const std::string lowered = lower_first(signature, plain);
  const bool known_lower = known(words.find(lowered));
  const std::uint32_t number = classes == nullptr ? WordClasses::kNone : classes->find(plain);
  for (const std::string& candidate : signatures(signature, plain, position, known_lower)) {
    const Symbol found = words.find(candidate);
    if (!known(found)) continue;
    const Symbol both = number == WordClasses::kNone ? Symbols::kNone : words.find(in_word_class(candidate, number));
    return known(both) ? both : found;
  }
  return Symbols::kNone;
}

}  // namespace treeglot
