#include "lm/ngram_text.h"

namespace treeglot {
namespace {

// The blanks of ASCII: what separates words in an ARPA file too.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

}  // namespace

void NgramText::read_line(std::string_view line) {
  const Use use(*trainer_);
  trainer_->begin_sentence();
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) break;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    const Symbol word = trainer_->add_word({begin, static_cast<std::size_t>(at - begin)});
    if (word < std::size(kSpecialWords)) {
      fail(quoted({begin, static_cast<std::size_t>(at - begin)}) +
           " is a word of the model itself; expected text without it");
    }
  }
  trainer_->end_sentence();
}

}  // namespace treeglot
