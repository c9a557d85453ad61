#include "syntax/reader.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/utf8.h"

namespace treeglot {
namespace {

// True when some byte of `word` equals `byte`.
constexpr bool has_byte(std::uint64_t word, std::uint64_t byte) {
  const std::uint64_t difference = word ^ (0x0101010101010101u * byte);
  return ((difference - 0x0101010101010101u) & ~difference & 0x8080808080808080u) != 0;
}

// As utf8_character; most characters that are not ASCII have three bytes, which are looked at together.
std::size_t character(const unsigned char* at, std::size_t left) {
  std::uint32_t word = 0;
  if (left >= sizeof word) std::memcpy(&word, at, sizeof word);
  if ((word & 0x00c0c0f0u) != 0x008080e0u) return utf8_character(at, left);
  const std::uint32_t high = word & 0x0000200fu;  // without these it is too long, with 0x200d a surrogate
  return high == 0 || high == 0x200du ? 0 : 3;
}

// Whether the next eight of at least eight bytes are ASCII that can be in a line. If a character that is not ASCII
// follows them, it is the next.
inline bool skip_ascii(const unsigned char* bytes, std::size_t size, std::size_t& at) {
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  const bool last = size - at < 8;  // the last word may begin with bytes that have been looked at
  std::uint64_t word;
  std::memcpy(&word, bytes + (last ? size - 8 : at), 8);
  if (has_byte(word, 0) || has_byte(word, '\r')) return false;
  if ((word & kHigh) == 0) {
    at += 8;
    return true;
  }
  if (!last) at += static_cast<std::size_t>(std::countr_zero(word & kHigh)) / 8;
  return false;
}

// Where the first byte is that cannot be in a line: a NUL, a carriage return or what is not UTF-8. The line's size if
// there is none.
std::size_t first_bad(std::string_view line) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(line.data());
  const std::size_t size = line.size();
  for (std::size_t at = 0; at < size;) {
    if (size >= 8 && skip_ascii(bytes, size, at)) continue;
    if (bytes[at] < 0x80) {
      if (bytes[at] == 0 || bytes[at] == '\r') return at;
      ++at;
    }
    while (at < size && bytes[at] >= 0x80) {
      const std::size_t length = character(bytes + at, size - at);
      if (length == 0) return at;
      at += length;
    }
  }
  return size;
}

// What is wrong with the byte that first_bad found.
std::string problem_of(std::string_view line, std::size_t at) {
  const auto byte = static_cast<unsigned char>(line[at]);
  const std::string place = " at byte " + std::to_string(at + 1);
  if (byte == 0) return "a NUL" + place + "; expected text";
  if (byte == '\r') return "a carriage return" + place + " within the line; expected one at its end only";
  constexpr char kHex[] = "0123456789abcdef";
  return std::string("the byte 0x") + kHex[byte >> 4] + kHex[byte & 15] + place + " is not UTF-8";
}

// The most bytes of a line or a record: a bomb of a few bytes, decompressed, must not fill the memory.
std::size_t longest() {
  static const std::size_t most = [] {
    const char* const given = std::getenv("TREEGLOT_LONGEST_LINE");
    return given == nullptr ? std::size_t{64} << 20 : std::strtoull(given, nullptr, 10);
  }();
  return most;
}

std::string too_long(const char* what) {
  return std::string(what) + " is longer than " + std::to_string(longest()) +
         " bytes; TREEGLOT_LONGEST_LINE sets another limit";
}

}  // namespace

void LineReader::skip(const FormatError& error) {
  if (!skip_bad_) throw FormatError(error);
  if (skipped_++ < kProblemsKept) problems_.push_back(error);
  give_hole();
}

template <class Action>
void LineReader::guarded(Action action) {
  try {
    action();
  } catch (const FormatError& error) {
    if (!skip_bad_) {
      error_ = error;
      return;
    }
    skip(error);
    forget();
    skipping_ = true;
  }
}

void LineReader::take_line(std::string_view line) {
  ++line_number_;
  if (line.ends_with('\r')) line.remove_suffix(1);  // Windows ends lines in CR LF
  if (skipping_) {
    const Resume where = resume(line);
    if (where == Resume::not_yet) return;
    skipping_ = false;
    if (where == Resume::after) return;
  }
  guarded([&] {
    record_ += line.size();
    if (record_ > longest()) {
      if (line.size() > longest()) fail(too_long("the line"));
      if (has_records()) fail(too_long("the record"));
    }
    if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) fail("begins with a byte order mark; expected text");
    if (const std::size_t bad = first_bad(line); bad < line.size()) fail(problem_of(line, bad));
    read_line(line);
  });
}

void LineReader::consume(std::string_view chunk) {
  while (!chunk.empty() && !error_) {
    const std::size_t newline = chunk.find('\n');
    if (newline == std::string_view::npos) {
      partial_.append(chunk);
      if (partial_.size() > longest()) error_ = FormatError(file_, line_number_ + 1, too_long("the line"));
      return;
    }
    if (partial_.empty()) {
      take_line(chunk.substr(0, newline));
    } else {
      partial_.append(chunk.substr(0, newline));
      take_line(partial_);
      partial_.clear();
    }
    chunk.remove_prefix(newline + 1);
  }
}

void LineReader::close() {
  if (closed_ || error_) return;
  closed_ = true;
  if (!partial_.empty()) take_line(partial_);  // a last line without a newline is a line
  if (!error_) guarded([&] { end_of_file(); });
}

}  // namespace treeglot
