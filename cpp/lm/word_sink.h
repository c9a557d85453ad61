// What takes the words of a text to learn from them, and the text that gives them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/exclusive.h"
#include "syntax/reader.h"

namespace treeglot {

class WordSink : public Exclusive {
 public:
  virtual ~WordSink() = default;
  virtual void begin_sentence() = 0;
  virtual std::string_view add_word(std::string_view text) = 0;  // what is wrong with it; empty: it was added
  virtual void end_sentence() = 0;
};

// A line is a sentence; the blanks of ASCII separate words.
class TrainingText final : public LineSink {
 public:
  TrainingText(std::string file, WordSink& sink) : LineSink(std::move(file), false), sink_(&sink) {}

 protected:
  void read_line(std::string_view line) override;

 private:
  WordSink* sink_;
};

}  // namespace treeglot
