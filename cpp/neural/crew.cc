#include "neural/crew.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"

namespace treeglot::neural {

Crew::Crew(unsigned threads) {
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, kMostThreads); ++i)
      workers_.emplace_back([this] { work(); });
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    begun_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    throw;
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Crew::take() {
  try {
    for (std::size_t i = next_++; i < pieces_; i = next_++) (*piece_)(i);
  } catch (...) {
    next_ = pieces_;  // nobody begins another piece
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void Crew::work() {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stop_ || task_ != seen; });
    if (stop_) return;
    seen = task_;
    lock.unlock();
    take();
    lock.lock();
    if (--busy_ == 0) ended_.notify_one();
  }
}

void Crew::run(std::size_t pieces, const std::function<void(std::size_t)>& piece) {
  if (workers_.empty() || pieces <= 1) {
    for (std::size_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    piece_ = &piece;
    pieces_ = pieces;
    next_ = 0;
    busy_ = workers_.size();
    ++task_;
  }
  begun_.notify_all();
  take();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return busy_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace treeglot::neural
