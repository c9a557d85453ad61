// JSON, strictly (RFC 8259), a value at a time: for formats whose shape is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace treeglot {

// Walks through `text`, which is UTF-8. Refuses with std::invalid_argument, naming the byte, what was found and what
// was expected.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Lists and objects: expect('['); for (bool more = !skip(']'); more; more = next(']')) item();
  void expect(char c);
  bool skip(char c);     // whether `c` comes next; then it is taken
  bool next(char last);  // after an item: takes a comma (true) or `last` (false)

  void key(std::string& out);  // "key":
  void string(std::string& out);
  double number();
  std::uint32_t count();  // an integer from 0
  bool skip_null();
  void end();  // nothing but blanks is left

  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  void blanks();
  std::string_view number_text();
  std::uint32_t hex();
  void escape(std::string& out);  // what follows a backslash

  std::string_view text_;
  std::size_t at_ = 0;
};

// `text` in quotes; only what must be escaped is.
void append_json(std::string_view text, std::string& out);

}  // namespace treeglot
