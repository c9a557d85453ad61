// Threads that share the pieces of one task after another. They wait between tasks and end with the crew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace treeglot::neural {

class Crew {
 public:
  explicit Crew(unsigned threads);  // the calling thread is one of them
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls piece(i) for each i in [0, pieces), and returns when all have ended. The result of a piece
  // must not depend on others of the same task. Throws the first exception of a piece when all threads have ended; then
  // some pieces may not have been called.
  void run(std::size_t pieces, const std::function<void(std::size_t)>& piece);

 private:
  void take();
  void work();

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(std::size_t)>* piece_ = nullptr;
  std::size_t pieces_ = 0, busy_ = 0, task_ = 0;
  std::atomic<std::size_t> next_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;  // the first of the task
  std::vector<std::thread> workers_;
};

}  // namespace treeglot::neural
