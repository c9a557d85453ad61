#include "syntax/pharaoh.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/words.h"

namespace treeglot {

namespace {

// Takes digits off the front of [at, end). Positions have one or two, for which std::from_chars is slow.
bool take_position(const char*& at, const char* end, std::uint32_t& position) {
  const char* const begin = at;
  std::uint64_t value = 0;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
    if (value > std::numeric_limits<std::uint32_t>::max()) return false;
  }
  position = static_cast<std::uint32_t>(value);
  return at != begin;
}

// The link at the beginning of a text; `size` is that of its token.
std::optional<Link> parse_link(std::string_view text, std::size_t& size) {
  Link link;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (!take_position(at, end, link.source) || at == end || *at++ != '-' || !take_position(at, end, link.target))
    return {};
  size = static_cast<std::size_t>(at - text.data());
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
  if (!text.empty()) links.reserve(expected_words(text));
  for (bool more = !text.empty(); more;) {
    std::size_t size = 0;
    const std::optional<Link> link = parse_link(text, size);
    more = size < text.size();
    if (!link || (more && text[size] != ' ')) {
      const std::string_view token = text.substr(0, text.find(' '));
      if (token.empty()) throw std::invalid_argument("an empty link; expected links separated by one blank");
      throw std::invalid_argument(quoted(token) + " is not a link; expected SOURCE-TARGET such as 3-0");
    }
    links.push_back(*link);
    text.remove_prefix(size + more);
  }
  return Alignment(std::move(links));
}

std::vector<float> link_posteriors(const Alignment& alignment, std::span<const std::string_view> tokens,
                                   std::size_t source_length, std::size_t target_length) {
  std::vector<float> out(alignment.size());
  const std::span<const Link> links = alignment.links();
  for (const std::string_view token : tokens) {
    const std::size_t first = std::min(token.find(':'), token.size()), last = token.rfind(':');
    std::size_t size = 0;
    const std::optional<Link> link = parse_link(token, size);
    std::optional<double> forward, backward;
    if (link && size == first && first < last && last < token.size()) {
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
