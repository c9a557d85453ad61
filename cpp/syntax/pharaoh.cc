#include "syntax/pharaoh.h"

#include <charconv>
#include <stdexcept>
#include <utility>
#include <vector>

namespace treeglot {

Alignment parse_pharaoh(std::string_view text) {
  std::vector<Link> links;
  if (text.ends_with(' ')) text.remove_suffix(1);  // aligners print a blank after every link
  for (bool more = !text.empty(); more;) {
    const std::size_t blank = text.find(' ');
    more = blank != std::string_view::npos;
    const std::string_view token = text.substr(0, blank);
    text.remove_prefix(more ? blank + 1 : text.size());
    if (token.empty()) throw std::invalid_argument("an empty link; expected links separated by one blank");
    Link link;
    const char* end = token.data() + token.size();
    const auto [dash, source_error] = std::from_chars(token.data(), end, link.source);
    if (source_error == std::errc() && dash != end && *dash == '-') {
      const auto [last, target_error] = std::from_chars(dash + 1, end, link.target);
      if (target_error == std::errc() && last == end) {
        links.push_back(link);
        continue;
      }
    }
    throw std::invalid_argument(quoted(token) + " is not a link; expected SOURCE-TARGET such as 3-0");
  }
  return Alignment(std::move(links));
}

void PharaohReader::read_line(std::string_view line) {
  give_parsed([&] { return parse_pharaoh(line); });
}

std::string write_pharaoh(const Alignment& alignment) {
  std::string out;
  for (const Link link : alignment.links()) {
    if (!out.empty()) out += ' ';
    out += std::to_string(link.source) + "-" + std::to_string(link.target);
  }
  return out;
}

}  // namespace treeglot
