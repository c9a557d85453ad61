// Work on other threads while the calling one watches.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace treeglot {

// Calls task(k, stop) for every k in [0, count) on `threads` threads, and watch() on this one, ten times a second and
// at the end. What watch throws sets `stop`, which tasks look at, and is thrown when they have ended; so is what a
// task throws.
template <class Task, class Watch>
void run_watched(std::size_t count, unsigned threads, Task&& task, Watch&& watch) {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stop = false;
  std::size_t next = 0, running = 0;
  std::exception_ptr error;
  const auto fail = [&] {  // with the lock held
    if (!error) error = std::current_exception();
    stop = true;
  };
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (next < count && !stop) {
      const std::size_t k = next++;
      lock.unlock();
      try {
        task(k, static_cast<const std::atomic<bool>&>(stop));
        lock.lock();
      } catch (...) {
        lock.lock();
        fail();
      }
    }
    --running;
    changed.notify_one();
  };
  std::vector<std::thread> workers;
  std::unique_lock lock(mutex);
  const auto guarded_call = [&](auto&& call) {
    try {
      call();
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      fail();
    }
  };
  guarded_call([&] {
    while (workers.size() < std::min<std::size_t>(std::max(threads, 1u), count)) {
      workers.emplace_back(work);
      ++running;
    }
  });
  for (bool ended = false; !ended;) {
    ended = changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; });
    if (stop) continue;
    lock.unlock();
    guarded_call([&] {
      watch();
      lock.lock();
    });
  }
  lock.unlock();
  for (std::thread& worker : workers) worker.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace treeglot
