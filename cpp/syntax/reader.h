// What all text formats share. Bytes come in chunks of any size, and values go out as soon as they are complete. One
// record bounds the memory. A format sees one line at a time and says what is wrong with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/exclusive.h"

namespace treeglot {

class LineReader : public Exclusive {
 public:
  // Without skip_bad the first bad record ends the reading; with it, a bad record becomes a hole (see Reader).
  LineReader(std::string file, bool skip_bad) : file_(std::move(file)), skip_bad_(skip_bad) {}
  virtual ~LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  const std::string& file() const { return file_; }
  std::size_t skipped() const { return skipped_; }                        // bad records so far
  const std::vector<FormatError>& problems() const { return problems_; }  // the first kProblemsKept of them

  static constexpr std::size_t kProblemsKept = 100;

 protected:
  // For the formats. A line comes without its end, LF or CR LF, checked to be UTF-8 without NUL and CR.
  virtual void read_line(std::string_view line) = 0;
  virtual void end_of_file() {}  // the last chance to give a value or to fail
  // After a bad record: forget() it, then lines are skipped until resume() says that the next begins.
  enum class Resume { here, after, not_yet };
  virtual void forget() {}
  virtual Resume resume(std::string_view) const { return Resume::here; }
  virtual void give_hole() = 0;
  virtual bool has_records() const { return true; }  // each is limited as a whole
  void end_record() { record_ = 0; }

  std::size_t line_number() const { return line_number_; }
  [[noreturn]] void fail(const std::string& problem) const { fail_at(line_number_, problem); }
  [[noreturn]] void fail_at(std::size_t line, const std::string& problem) const {
    throw FormatError(file_, line, problem);
  }

  // A bad record that is noticed only where the next one begins: fails, or leaves a hole and returns.
  void skip_or_fail_at(std::size_t line, const std::string& problem) { skip(FormatError(file_, line, problem)); }

  void consume(std::string_view chunk);
  void close();
  // Call this with the values of consume and close: values before a bad record are given out before its error.
  void raise_unless(bool values) const {
    if (error_ && !values) throw FormatError(*error_);
  }

 private:
  void skip(const FormatError& error);
  template <class Action>
  void guarded(Action action);
  void take_line(std::string_view line);

  std::string file_;
  bool skip_bad_;
  bool skipping_ = false;
  bool closed_ = false;
  std::string partial_;  // the beginning of a line whose end has not come yet
  std::size_t line_number_ = 0;
  std::size_t record_ = 0;  // bytes of its lines so far
  std::size_t skipped_ = 0;
  std::vector<FormatError> problems_;
  std::optional<FormatError> error_;  // what ended the reading
};

// A format whose lines are taken up as they come: it yields nothing, and ends at the first bad record unless told to
// skip.
class LineSink : public LineReader {
 public:
  using LineReader::LineReader;

  void feed(std::string_view chunk) {
    consume(chunk);
    raise_unless(false);
  }
  void finish() {
    close();
    raise_unless(false);
  }

 protected:
  void give_hole() final {}
  bool has_records() const final { return false; }
};

// A format that yields Values. A hole (no value) stands where a bad record was skipped, so that files that are
// read side by side stay in step.
template <class Value>
class Reader : public LineReader {
 public:
  using LineReader::LineReader;
  using Values = std::vector<std::optional<Value>>;

  Values feed(std::string_view chunk) {
    consume(chunk);
    Values values = handed_out();
    ready_.reserve(values.size());  // chunks are alike
    return values;
  }
  Values finish() {
    close();
    return handed_out();
  }

 protected:
  void give(Value value) {
    ready_.emplace_back(std::move(value));
    end_record();
  }
  // For formats of one line a record: gives what `parse` returns; what it refuses is a bad record.
  template <class Parse>
  void give_parsed(Parse parse) {
    try {
      give(parse());
    } catch (const std::invalid_argument& problem) {
      skip_or_fail_at(line_number(), problem.what());  // a second exception would cost as much as the first
    }
  }
  void give_hole() final {
    ready_.emplace_back();
    end_record();
  }

 private:
  Values handed_out() {
    raise_unless(!ready_.empty());
    return std::exchange(ready_, {});
  }

  Values ready_;
};

}  // namespace treeglot
