#include "text/whole.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/word_rules.h"

namespace treeglot {
namespace {

constexpr std::size_t kLongestTag = 200;
constexpr std::u32string_view kOpening = U"([{", kClosing = U")]}";

bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// Letters with accents, Greek and Cyrillic count. Letters of other scripts may touch an address without a blank.
bool is_alphanumeric(char32_t c) {
  return is_ascii_letter(c) || (c >= '0' && c <= '9') || (c >= 0xc0 && c < 0x530 && c != 0xd7 && c != 0xf7);
}
bool in(std::u32string_view set, char32_t c) { return set.find(c) != std::u32string_view::npos; }

// Where a page's address ends that begins at `at`, or `at`. Marks at the end belong to the sentence, as do closing
// brackets that the address does not open.
std::size_t address_end(std::u32string_view text, std::size_t at) {
  static constexpr std::u32string_view kBegins[] = {U"http://", U"https://", U"ftp://", U"www."};
  const auto begin = std::ranges::find_if(kBegins, [&](std::u32string_view start) {
    return std::ranges::equal(text.substr(at, start.size()), start, {}, plain_character);
  });
  if (begin == std::end(kBegins) || (at > 0 && is_alphanumeric(text[at - 1]))) return at;
  const std::size_t least = at + begin->size();
  std::size_t end = least;
  std::array<std::ptrdiff_t, 3> open = {};  // by kind of bracket
  const auto belongs = [](char32_t c) { return (c > ' ' && c < 0x7f && !in(U"<>\"`", c)) || is_alphanumeric(c); };
  for (; end < text.size() && belongs(text[end]); ++end) {
    if (const std::size_t kind = kOpening.find(text[end]); kind < open.size()) ++open[kind];
    if (const std::size_t kind = kClosing.find(text[end]); kind < open.size()) --open[kind];
  }
  for (; end > least; --end) {
    const std::size_t kind = kClosing.find(text[end - 1]);
    if (kind < open.size() ? open[kind]++ >= 0 : !in(U".,;:!?'", text[end - 1])) break;
  }
  return end > least ? end : at;
}

// The mail address around the sign at `at`; empty if there is none.
Span mail_address(std::u32string_view text, std::size_t at) {
  std::size_t begin = at, end = at + 1;
  while (begin > 0 && (is_alphanumeric(text[begin - 1]) || in(U"._%+-", text[begin - 1]))) --begin;
  while (begin < at && !is_alphanumeric(text[begin])) ++begin;
  while (end < text.size() && (is_alphanumeric(text[end]) || in(U".-", text[end]))) ++end;
  while (end > at + 1 && !is_alphanumeric(text[end - 1])) --end;
  const std::u32string_view domain = text.substr(at + 1, end - at - 1);
  if (begin == at || domain.find(U'.') == std::u32string_view::npos) return {};
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

// Where a tag such as <b>, </b> or <g id="1"> ends that begins at `at`, or `at`.
std::size_t tag_end(std::u32string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '/') ++i;
  if (i >= text.size() || !is_ascii_letter(text[i])) return at;
  const std::size_t most = std::min(text.size(), at + kLongestTag);
  while (i < most && !in(U"<>\n", text[i])) ++i;
  return i < most && text[i] == '>' ? i + 1 : at;
}

}  // namespace

std::vector<Span> whole_spans(std::u32string_view text) {
  std::vector<Span> out;
  std::size_t done = 0;  // nothing before it is looked at again
  for (std::size_t at = 0; at < text.size(); ++at) {
    Span found;
    std::size_t end = at;
    if (in(U"hfwHFW", text[at])) end = address_end(text, at);
    if (text[at] == '<') end = tag_end(text, at);
    if (end > at) found = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)};
    if (text[at] == '@') found = mail_address(text, at);
    if (found.empty() || found.begin < done) continue;
    out.push_back(found);
    done = found.end;
    at = done - 1;
  }
  return out;
}

}  // namespace treeglot
