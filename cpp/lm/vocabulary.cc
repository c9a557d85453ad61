#include "lm/vocabulary.h"

namespace treeglot {

void Vocabulary::add_sections(const Strings& words, Sections& sections) {
  MappedStrings<Layout>::add(sections, "words", words.size(), [&](Symbol word) { return words[word]; });
}

Vocabulary::Vocabulary(const Sections& sections) : words_(sections, "words") {
  if (words_.size() == 0) sections.fail("is damaged: it has no words");
}

}  // namespace treeglot
