// Memory in whole pages: a file's, mapped to read, or fresh and zeroed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace treeglot {

// An unfinished file stands aside, as .NAME.RANDOM.part beside NAME, until it is complete. Its writer holds a lock on
// it (flock) as long as it lives. So a file of such a name without a lock was left by a killed process. The next writer
// of NAME removes it.
struct Aside {
  int descriptor;  // open to write, and locked until it is closed
  std::string path;
};

// Makes a new file beside `target`. Throws FileError, which names `target`.
Aside new_aside(const std::string& target);

// Whether a name is that of an unfinished file or folder.
bool is_aside(std::string_view name);

// Removes unfinished files and folders of `target` that no process writes any more.
void remove_leftovers(const std::string& target);

class Pages {
 public:
  Pages() = default;
  Pages(Pages&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Pages();

  // A file's content, shared with every process that maps it and read from the disk when it is touched.
  // Throws FileError when it cannot be opened. A file that is cut while it is mapped ends the process, as ever.
  static Pages map(const std::string& path);
  // Zeroed memory, in huge pages where the system has them: random access then misses the TLB less.
  static Pages fresh(std::size_t size);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::span<std::byte> writable() { return {data_, size_}; }  // of fresh pages alone

 private:
  Pages(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A new file that appears under its name only when it is complete: written aside, synchronised, renamed. A symbolic
// link is followed; a device or a pipe is written as it is.
class NewFile {
 public:
  explicit NewFile(std::string path);  // throws FileError, as do all
  ~NewFile();                          // without finish() nothing is left behind
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_;    // as the user named it
  std::string target_;  // where it leads to
  std::string aside_;   // empty: nothing has to be renamed
  int descriptor_ = -1;
};

}  // namespace treeglot
