#include "base/ending.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"

namespace treeglot {
namespace {

namespace fs = std::filesystem;

// Removes what this process holds open aside; where there is no /proc, the next writer removes it.
void remove_asides() {
  std::error_code problem, ignored;
  for (fs::directory_iterator at("/proc/self/fd", problem), end; !problem && at != end; at.increment(problem)) {
    const fs::path path = fs::read_symlink(at->path(), ignored);
    if (is_aside(path.filename().string())) fs::remove_all(path, ignored);
  }
}

[[noreturn]] void end_process(int code, const std::string& word) {
  remove_asides();
  // A progress display may have hidden the cursor of the terminal.
  const std::string line = (isatty(STDERR_FILENO) != 0 ? "\x1b[?25h" : "") + word + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  _exit(code);
}

}  // namespace

Ending::Ending(std::map<int, std::string> words, double grace) : words_(std::move(words)), grace_(grace) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw FileError("a pipe", errno);
  ear_ = ends[0];
  mouth_ = ends[1];
  fcntl(mouth_, F_SETFL, O_NONBLOCK);
  // Signals must reach Python's main thread, which may be waiting in a system call.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Ending::~Ending() {
  close(mouth_);
  thread_.join();
  close(ear_);
}

void Ending::watch() const {
  using Clock = std::chrono::steady_clock;
  unsigned char said = 0, more = 0;
  while (read(ear_, &said, 1) == 1) {
    const auto found = words_.find(said);
    if (found == words_.end()) continue;
    const auto end = Clock::now() + std::chrono::duration<double>(grace_);
    for (bool twice = false; !twice; twice = words_.contains(more)) {
      const double left = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
      pollfd again{ear_, POLLIN, 0};
      if (poll(&again, 1, std::max(0, static_cast<int>(left))) == 0) break;
      if (read(ear_, &more, 1) != 1) return;  // the command has ended by itself
    }
    end_process(128 + said, found->second);
  }
}

}  // namespace treeglot
