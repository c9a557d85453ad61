#include "syntax/pharaoh.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/numbers.h"

namespace treeglot {

namespace {

std::optional<Link> parse_link(std::string_view token) {
  Link link;
  const char* const end = token.data() + token.size();
  const auto [dash, source_error] = std::from_chars(token.data(), end, link.source);
  if (source_error != std::errc() || dash == end || *dash != '-') return {};
  const auto [last, target_error] = std::from_chars(dash + 1, end, link.target);
  if (target_error != std::errc() || last != end) return {};
  return link;
}

std::optional<double> parse_probability(std::string_view text) {
  const std::optional<double> value = parse_double(text);
  return value && *value >= 0 && *value <= 1 ? value : std::nullopt;
}

}  // namespace

Alignment parse_pharaoh(std::string_view text) {
  std::vector<Link> links;
  if (text.ends_with(' ')) text.remove_suffix(1);  // aligners print a blank after every link
  for (bool more = !text.empty(); more;) {
    const std::size_t blank = text.find(' ');
    more = blank != std::string_view::npos;
    const std::string_view token = text.substr(0, blank);
    text.remove_prefix(more ? blank + 1 : text.size());
    if (token.empty()) throw std::invalid_argument("an empty link; expected links separated by one blank");
    const std::optional<Link> link = parse_link(token);
    if (!link) throw std::invalid_argument(quoted(token) + " is not a link; expected SOURCE-TARGET such as 3-0");
    links.push_back(*link);
  }
  return Alignment(std::move(links));
}

std::vector<float> link_posteriors(const Alignment& alignment, std::span<const std::string_view> tokens,
                                   std::size_t source_length, std::size_t target_length) {
  std::vector<float> out(alignment.size());
  const std::span<const Link> links = alignment.links();
  for (const std::string_view token : tokens) {
    const std::size_t first = std::min(token.find(':'), token.size()), last = token.rfind(':');
    const std::optional<Link> link = parse_link(token.substr(0, first));
    std::optional<double> forward, backward;
    if (link && first < last && last < token.size()) {
      forward = parse_probability(token.substr(first + 1, last - first - 1));
      backward = parse_probability(token.substr(last + 1));
    }
    if (!forward || !backward)
      throw std::invalid_argument(quoted(token) +
                                  " is no posterior; expected SOURCE-TARGET:FORWARD:BACKWARD such as 3-0:0.9:0.75");
    Alignment({*link}).check(source_length, target_length);
    const auto at = std::ranges::lower_bound(links, *link);
    if (at != links.end() && *at == *link)
      out[static_cast<std::size_t>(at - links.begin())] = static_cast<float>((*forward + *backward) / 2);
  }
  return out;
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
