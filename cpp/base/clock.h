// Time that a thread has worked.
#pragma once

#include <time.h>

namespace treeglot {

// CPU time of the calling thread: what other work on the machine does not change.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace treeglot
