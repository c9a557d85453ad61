#include "base/aside.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace treeglot {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".part";

std::string prefix_of(const fs::path& target) { return "." + target.filename().string() + "."; }

bool is_drawn(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_aside_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix) || name.size() < prefix.size() + kSuffix.size())
    return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSuffix.size());
  // Six characters here, eight where Python draws them; a dot would belong to a longer NAME.
  return (name.size() == 6 || name.size() == 8) && is_drawn(name);
}

}  // namespace

bool is_aside(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot < 2 || !is_drawn(name.substr(dot + 1))) return false;
  const std::size_t size = name.size() - dot - 1;
  return size == 6 || size == 8 || size == 12;  // keys of an experiment's steps have twelve
}

Aside new_aside(const std::string& target) {
  remove_leftovers(target);
  const fs::path place = target;
  while (true) {
    std::string path = (place.parent_path() / (prefix_of(place) + "XXXXXX")).string().append(kSuffix);
    const int descriptor = mkostemps(path.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
    if (descriptor < 0) throw FileError(target, errno);
    // Another writer may have seen the file before it was locked, taken it for a leftover and removed it: then another
    // one is made. Where there are no locks (some network file systems) nobody can remove it either.
    const bool refused = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status;
    if (!refused && fstat(descriptor, &status) == 0 && status.st_nlink > 0) return {descriptor, std::move(path)};
    close(descriptor);
  }
}

void remove_leftovers(const std::string& target) {
  const fs::path place = target;
  const std::string prefix = prefix_of(place);
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    const fs::path path = at->path();
    if (!is_aside_of(path.filename().string(), prefix)) continue;
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;  // not ours to remove, or gone
    std::error_code ignored;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
    close(descriptor);
  }
}

}  // namespace treeglot
