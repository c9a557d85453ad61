// Work shared among threads so that nobody can tell how many there were: results are taken in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace treeglot {

inline constexpr std::size_t kMostThreads = 1024;

// Calls make(i) for every i in [0, count) on `threads` threads, and take(i, result) with the results in order of i, on
// the calling thread. At most `ahead` results per thread are made before they are taken, so memory does not grow with
// `count`. More than kMostThreads threads are not started. An exception from make(i) or take(i, …) ends the work and is
// thrown here; of several, the one with least i. So is the failure to start a thread. One thread means the calling one:
// no other is started.
template <class Make, class Take>
void ordered_map(std::size_t count, unsigned threads, Make&& make, Take&& take, std::size_t ahead = 4) {
  using Result = std::invoke_result_t<Make&, std::size_t>;
  if (threads <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) take(i, make(i));
    return;
  }
  struct Made {
    bool done = false;
    std::optional<Result> result;
    std::exception_ptr error;
  };
  // Result i goes to made[i % window]: nothing that a worker does outside make(i) can throw.
  const std::size_t workers_needed = std::min({std::size_t{threads}, count, kMostThreads});
  const std::size_t window = workers_needed * ahead;
  std::vector<Made> made(window);
  std::mutex mutex;
  std::condition_variable made_changed, taken_changed;
  std::size_t next = 0, taken = 0;
  bool stop = false;

  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (true) {
      taken_changed.wait(lock, [&] { return stop || next >= count || next < taken + window; });
      if (stop || next >= count) return;
      const std::size_t i = next++;
      Made& one = made[i % window];
      lock.unlock();
      try {
        one.result.emplace(make(i));
      } catch (...) {
        one.error = std::current_exception();
      }
      lock.lock();
      one.done = true;
      if (i == taken) made_changed.notify_one();
    }
  };

  std::vector<std::thread> workers;
  const auto join = [&] {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    taken_changed.notify_all();
    for (std::thread& worker : workers) worker.join();
  };
  try {
    while (workers.size() < workers_needed) workers.emplace_back(work);
    for (std::size_t i = 0; i < count; ++i) {
      Made one;
      {
        std::unique_lock lock(mutex);
        made_changed.wait(lock, [&] { return made[i % window].done; });
        one = std::exchange(made[i % window], {});
        taken = i + 1;
      }
      taken_changed.notify_all();
      if (one.error) std::rethrow_exception(one.error);
      take(i, std::move(*one.result));
    }
  } catch (...) {
    join();
    throw;
  }
  join();
}

}  // namespace treeglot
