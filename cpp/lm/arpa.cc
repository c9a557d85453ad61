#include "lm/arpa.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"

namespace treeglot {
namespace {

std::string grams(std::size_t n) { return std::to_string(n) + "-gram"; }
std::string header_of(std::size_t n) { return std::string("\\").append(grams(n)).append("s:"); }

bool blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

}  // namespace

void ArpaReader::read_line(std::string_view line) {
  switch (part_) {
    case Part::before:
      if (blank(line) || line.starts_with('#')) return;
      if (line != "\\data\\") fail(quoted(line) + " found; expected \\data\\");
      part_ = Part::counts;
      return;
    case Part::counts:
    case Part::ngrams:  // either ends with a blank line or the next header
      if (!blank(line) && !line.starts_with('\\')) return part_ == Part::ngrams ? read_ngram(line) : read_count(line);
      part_ == Part::ngrams ? end_section() : begin_sections();
      [[fallthrough]];
    case Part::header:
      if (!blank(line)) read_header(line);
      return;
    case Part::after:
      if (!blank(line)) fail(quoted(line) + " follows \\end\\; expected nothing");
      return;
  }
}

void ArpaReader::read_count(std::string_view line) {
  constexpr std::string_view kStart = "ngram ";
  const char* const end = line.data() + line.size();
  const std::string wanted = "expected ngram " + std::to_string(order() + 1) + "=COUNT";
  std::uint64_t n = 0, count = 0;
  const char* at = line.data() + (line.starts_with(kStart) ? kStart.size() : 0);
  const auto [sign, bad_order] = std::from_chars(at, end, n);
  if (at == line.data() || bad_order != std::errc() || sign == end || *sign != '=')
    fail(quoted(line) + " is not a count; " + wanted);
  const auto [last, bad_count] = std::from_chars(sign + 1, end, count);
  if (bad_count != std::errc() || last != end) fail(quoted(line) + " is not a count; " + wanted);
  if (n != order() + 1) fail("a count of " + grams(n) + "s; " + wanted);
  if (n > kMaxNgramOrder)
    fail("a model of order " + std::to_string(n) + "; orders 1 to " + std::to_string(kMaxNgramOrder) + " can be read");
  counts_.push_back(count);
}

void ArpaReader::begin_sections() {
  if (counts_.empty()) fail("\\data\\ without counts; expected ngram 1=COUNT");
  // A wrong count must not take all memory. An n-gram has n + 1 fields of one byte or more and what separates them.
  constexpr std::uint64_t kAlways = 1 << 22;
  std::vector<std::uint64_t> expected;
  for (std::size_t n = 1; n <= order(); ++n)
    expected.push_back(std::min(counts_[n - 1], std::max(kAlways, bytes_ / (2 * n + 2))));
  spills_ = memory_ != 0 && NgramBuilder::table_bytes(counts_) > memory_;
  builder_.emplace(expected, spills_ ? folder_ : std::string(), memory_);
  part_ = Part::header;
}

void ArpaReader::read_header(std::string_view line) {
  const std::string wanted = section_ == order() ? "\\end\\" : header_of(section_ + 1);
  if (line != wanted) fail(quoted(line) + " found; expected " + wanted);
  part_ = section_ == order() ? Part::after : Part::ngrams;
  ++section_;
  seen_ = 0;
}

void ArpaReader::end_section() {
  if (seen_ != counts_[section_ - 1])
    fail(std::to_string(seen_) + " " + grams(section_) + "s end here; \\data\\ promises " +
         std::to_string(counts_[section_ - 1]));
  part_ = Part::header;
  if (section_ == 1) return;
  try {
    builder_->end_order();
  } catch (const NgramError& error) {
    fail_at(error.line(), error.what());
  }
}

// Gives the number of fields. Only the first `most` are kept.
inline std::size_t ArpaReader::split(std::string_view line, std::size_t most, Fields& fields) const {
  std::size_t count = 0;
  for (std::size_t at = 0; at <= line.size();) {
    std::size_t end = at;
    while (end < line.size() && line[end] != ' ' && line[end] != '\t') ++end;
    if (count < most) fields[count] = line.substr(at, end - at);
    if (end == at) fail("an empty field in " + quoted(line) + "; expected single tabs or spaces between fields");
    ++count;
    at = end + 1;
  }
  return count;
}

inline void ArpaReader::check_size(float log10, std::string_view field) const {
  // Sums of them are stored, too, so they are far below what a file may have.
  constexpr float kMost = kMostLog10 / 1000;
  if (std::abs(log10) > kMost) fail("the log10 value " + std::string(field) + " is too large; expected -1e6 to 1e6");
}

void ArpaReader::read_ngram(std::string_view line) {
  const std::size_t n = section_;
  if (seen_ == counts_[n - 1])
    fail("more than the " + std::to_string(seen_) + " " + grams(n) + "s that \\data\\ promises");
  Fields fields;
  const std::size_t count = split(line, n + 2, fields);
  if (count != n + 1 && count != n + 2)
    fail(quoted(line) + " has " + std::to_string(count) + " fields; expected a log10 probability, " +
         std::to_string(n) + (n == 1 ? " word" : " words") + (n < order() ? " and a backoff" : ""));
  const std::optional<float> log10 = parse_float(fields[0]);
  if (!log10) fail(quoted(fields[0]) + " is not a finite number; expected a log10 probability");
  if (*log10 > 0) fail("the log10 probability " + std::string(fields[0]) + " is above 0");
  check_size(*log10, fields[0]);
  std::optional<float> backoff = 0.0f;
  if (count == n + 2) {
    backoff = parse_float(fields[n + 1]);
    if (!backoff) fail(quoted(fields[n + 1]) + " is not a finite number; expected a log10 backoff");
    check_size(*backoff, fields[n + 1]);
    if (n == order() && *backoff != 0)
      fail("the backoff " + std::string(fields[n + 1]) + " of a " + grams(n) + "; the highest order has none");
  }
  for (std::size_t i = 0; n > 1 && i < n; ++i) {
    // N-grams one after the other share words; <unk> (0) may be spelled in two ways.
    if (words_[i] != 0 && fields[i + 1] == builder_->text(words_[i])) continue;
    const std::optional<WordId> word = builder_->find(fields[i + 1]);
    if (!word) fail("the word " + quoted(fields[i + 1]) + " is not among the 1-grams");
    words_[i] = *word;
  }
  try {
    if (n == 1) {
      builder_->add_unigram(fields[1], *log10, *backoff, line_number());
    } else {
      builder_->add({words_.data(), n}, *log10, *backoff, line_number());
    }
  } catch (const NgramError& error) {
    fail_at(error.line(), error.what());
  }
  ++seen_;
}

void ArpaReader::end_of_file() {
  if (part_ == Part::ngrams) end_section();
  if (part_ == Part::before) fail("ends without \\data\\");
  if (part_ == Part::counts) fail("ends within the counts");
  if (part_ == Part::header) fail("ends before " + (section_ == order() ? "\\end\\" : header_of(section_ + 1)));
}

template <class Make>
auto ArpaReader::finished(const Make& make) {
  LineSink::finish();
  if (!builder_) throw std::logic_error("the reading of " + file() + " has ended; expected one end");
  NgramBuilder builder = *std::exchange(builder_, {});
  try {
    return make(builder);
  } catch (const std::invalid_argument& problem) {
    throw FormatError(file(), 0, problem.what());
  }
}

NgramModel ArpaReader::finish(NgramLayout layout, const WordClasses* classes) {
  if (spills_) throw std::logic_error("the tables of " + file() + " are in files; expected write()");
  return finished([&](NgramBuilder& builder) { return NgramModel(builder.finish(layout, classes)); });
}

void ArpaReader::write(const std::string& path, NgramLayout layout, const WordClasses* classes) {
  if (!spills_) return finish(layout, classes).write(path);
  finished([&](NgramBuilder& builder) { builder.write(path, layout, classes); });
}

}  // namespace treeglot
