// Objects that many threads may read or one thread may change, but never both at once. Violations are refused.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace treeglot {

// The name of a class without its namespaces, for messages.
std::string class_name(const std::type_info& type);

// The base of a class whose objects say when they are in use. Copying or moving gives an object that is not.
class Exclusive {
 public:
  Exclusive() = default;
  Exclusive(const Exclusive&) noexcept {}
  Exclusive& operator=(const Exclusive&) noexcept { return *this; }

 private:
  template <class T>
  friend class Use;
  static constexpr int kChanged = -1;
  mutable std::atomic<int> users_ = 0;  // readers, or kChanged
};

// Reads a const object, or changes another, during the lifetime of this guard. Throws if another use is in the way. It
// does not wait for others, because results would then depend on the order of threads.
template <class T>
class Use {
 public:
  explicit Use(T& object) : object_(object) {
    int users = 0;
    while (!object.users_.compare_exchange_weak(users, std::is_const_v<T> ? users + 1 : Exclusive::kChanged)) {
      if (users == Exclusive::kChanged || (!std::is_const_v<T> && users != 0)) refuse();
    }
  }
  ~Use() {
    if (std::is_const_v<T>) {
      --object_.users_;
    } else {
      object_.users_ = 0;
    }
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  [[noreturn]] static void refuse() {
    throw std::runtime_error(class_name(typeid(T)) +
                             " is in use by another call; give each thread its own, or use it behind a lock");
  }

  T& object_;
};

}  // namespace treeglot
