#include "base/verification.h"

#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace treeglot {

Verification::Verification(Check check, std::uint64_t uses, bool background)
    : shared_(std::make_shared<Shared>()), uses_that_pay_(background ? uses : 0) {
  shared_->check = std::move(check);
}

void Verification::start() const {
  const auto run = [shared = shared_] {
    try {
      shared->check(&shared->stop);
      shared->state.store(kSound, std::memory_order_release);
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {  // what is used is verified on use, as before
    } catch (...) {
      shared->error = std::current_exception();
      shared->state.store(kDamaged, std::memory_order_release);
    }
  };
  try {
    // Detached: it holds all that it reads, and a process that ends must not wait for it.
    std::thread(run).detach();
  } catch (const std::system_error&) {  // no more threads: likewise
  }
}

void Verification::complete() const {
  if (sound()) return;
  shared_->check(nullptr);
  int pending = kPending;
  shared_->state.compare_exchange_strong(pending, kSound, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace treeglot
