// What is being written stands aside, as .NAME.RANDOM.part beside NAME, until it is complete. Its writer holds a lock
// on it (flock) as long as it lives: whatever carries such a name and is locked by nobody was left by a process that
// was killed, and the next writer of NAME removes it.
#pragma once

#include <string>
#include <string_view>

namespace treeglot {

struct Aside {
  int descriptor;  // open to write, and locked until it is closed
  std::string path;
};

// A new file aside of `target`. Throws FileError, which names `target`.
Aside new_aside(const std::string& target);

// Whether a file or folder of that name stands aside of another.
bool is_aside(std::string_view name);

// Removes files and folders aside of `target` that nobody writes any more.
void remove_leftovers(const std::string& target);

}  // namespace treeglot
