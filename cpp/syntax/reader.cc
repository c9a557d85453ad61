#include "syntax/reader.h"

#include <algorithm>
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

// What is wrong with the bytes of a line, or nothing.
std::string bad_text(std::string_view line) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(line.data());
  std::size_t at = 0;
  while (at < line.size()) {
    if (line.size() >= 8) {
      std::uint64_t word;  // the last one may begin with bytes that have been looked at
      std::memcpy(&word, bytes + std::min(at, line.size() - 8), 8);
      if ((word & 0x8080808080808080u) == 0 && !has_byte(word, 0) && !has_byte(word, '\r')) {
        at += 8;
        continue;
      }
    }
    const std::size_t length = bytes[at] == 0 || bytes[at] == '\r' ? 0 : utf8_character(bytes + at, line.size() - at);
    if (length == 0) {
      const std::string place = " at byte " + std::to_string(at + 1);
      if (bytes[at] == 0) return "a NUL" + place + "; expected text";
      if (bytes[at] == '\r') return "a carriage return" + place + " within the line; expected one at its end only";
      constexpr char kHex[] = "0123456789abcdef";
      return std::string("the byte 0x") + kHex[bytes[at] >> 4] + kHex[bytes[at] & 15] + place + " is not UTF-8";
    }
    at += length;
  }
  return {};
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
    if (const std::string problem = bad_text(line); !problem.empty()) fail(problem);
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
