// Errors that reach a user: each gives the place, what was found and what was wanted.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace treeglot {

// Bad input in a file. `line` counts from 1; 0 means that the file has no lines (a binary file).
// Refusals that have no file throw std::invalid_argument, which Python sees as ValueError.
class FormatError : public std::runtime_error {
 public:
  FormatError(std::string file, std::size_t line, std::string problem)
      : std::runtime_error(line == 0 ? file + ": " + problem : file + ":" + std::to_string(line) + ": " + problem),
        file_(std::move(file)),
        line_(line),
        problem_(std::move(problem)) {}

  const std::string& file() const { return file_; }
  std::size_t line() const { return line_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string file_;
  std::size_t line_;
  std::string problem_;
};

// The system refused a file: `number` is its errno. Python sees the OSError that belongs to it.
class FileError : public std::runtime_error {
 public:
  FileError(std::string file, int number);

  const std::string& file() const { return file_; }
  int number() const { return number_; }

 private:
  std::string file_;
  int number_;
};

// `text` in single quotes, made printable and cut to a readable length: the "what was found" of a message.
std::string quoted(std::string_view text);

}  // namespace treeglot
