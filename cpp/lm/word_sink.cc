#include "lm/word_sink.h"

#include "base/error.h"

namespace treeglot {

namespace {

// As in ARPA files.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

}  // namespace

void TrainingText::read_line(std::string_view line) {
  const Use use(*sink_);
  sink_->begin_sentence();
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) break;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    const std::string_view word(begin, static_cast<std::size_t>(at - begin));
    if (const std::string_view problem = sink_->add_word(word); !problem.empty())
      fail(quoted(word) + " " + std::string(problem));
  }
  sink_->end_sentence();
}

}  // namespace treeglot
