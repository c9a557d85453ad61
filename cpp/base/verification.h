// A check of a whole file on a thread of its own, while readers verify for themselves what they use.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

namespace treeglot {

// How the checks of a file are made.
enum class Opening {
  trusted,     // not at all
  verified,    // before it opens
  on_use,      // of what is used, each time
  background,  // of what is used, until it pays that a thread checks all
};

// Tells a check to stop, because nobody waits for it any more.
using Stop = std::atomic<bool>;
struct Stopped {};
inline void stop_here(const Stop* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Stopped{};
}

class Verification {
 public:
  using Check = std::function<void(const Stop*)>;  // throws what is wrong

  // With `background`, the check begins on a thread of its own after so many uses.
  Verification(Check check, std::uint64_t uses, bool background);
  ~Verification() { shared_->stop = true; }
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  // Counts a sentence that used the file.
  void used() const {
    if (uses_that_pay_ > 0 && uses_.fetch_add(1, std::memory_order_relaxed) + 1 == uses_that_pay_) start();
  }
  // Whether everything was found sound. Throws the error if something was found wrong.
  bool sound() const {
    const int state = shared_->state.load(std::memory_order_acquire);
    if (state == kDamaged) std::rethrow_exception(shared_->error);
    return state == kSound;
  }
  // Checks all here if no thread has done so: there may be none, as in a forked process. Throws what is wrong.
  void complete() const;

 private:
  enum State { kPending, kSound, kDamaged };
  struct Shared {
    Check check;
    Stop stop = false;
    std::atomic<int> state = kPending;
    std::exception_ptr error;
  };

  void start() const;

  std::shared_ptr<Shared> shared_;
  std::uint64_t uses_that_pay_;  // 0: no number of them does
  mutable std::atomic<std::uint64_t> uses_ = 0;
};

}  // namespace treeglot
