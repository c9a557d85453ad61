#include "syntax/reader.h"

#include <cstdint>
#include <cstring>

namespace treeglot {
namespace {

// True when some byte of `word` equals `byte`.
constexpr bool has_byte(std::uint64_t word, std::uint64_t byte) {
  const std::uint64_t difference = word ^ (0x0101010101010101u * byte);
  return ((difference - 0x0101010101010101u) & ~difference & 0x8080808080808080u) != 0;
}

// The length of the UTF-8 character at `at`, by table 3-7 of the Unicode standard; 0 when there is none.
std::size_t character(const unsigned char* at, std::size_t left) {
  const unsigned lead = at[0];
  const auto continued = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < left && at[i] >= low && at[i] <= high;
  };
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continued(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    return continued(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && continued(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return continued(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && continued(2) && continued(3) ? 4 : 0;
  }
  return 0;
}

// What is wrong with the bytes of a line, or nothing.
std::string bad_text(std::string_view line) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(line.data());
  std::size_t at = 0;
  while (at < line.size()) {
    if (line.size() - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + at, 8);
      if ((word & 0x8080808080808080u) == 0 && !has_byte(word, 0) && !has_byte(word, '\r')) {
        at += 8;
        continue;
      }
    }
    const std::size_t length = bytes[at] == 0 || bytes[at] == '\r' ? 0 : character(bytes + at, line.size() - at);
    if (length == 0) {
      const std::string place = " at byte " + std::to_string(at + 1);
      if (bytes[at] == 0) return "a NUL" + place + "; expected text";
      if (bytes[at] == '\r') return "a carriage return" + place + "; expected lines that end in a line feed alone";
      constexpr char kHex[] = "0123456789abcdef";
      return std::string("the byte 0x") + kHex[bytes[at] >> 4] + kHex[bytes[at] & 15] + place + " is not UTF-8";
    }
    at += length;
  }
  return {};
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
    recover();
  }
}

void LineReader::take_line(std::string_view line) {
  ++line_number_;
  guarded([&] {
    if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) fail("begins with a byte order mark; expected text");
    if (const std::string problem = bad_text(line); !problem.empty()) fail(problem);
    read_line(line);
  });
}

void LineReader::consume(std::string_view chunk) {
  while (!chunk.empty() && !error_) {
    const std::size_t newline = chunk.find('\n');
    if (newline == std::string_view::npos) {
      partial_.append(chunk);
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
