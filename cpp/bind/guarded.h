// Calls on objects that may be shared among Python threads: other threads run while the GIL is released.
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/exclusive.h"

namespace treeglot {

// The guard that a call needs for one parameter: none, unless it is a reference to an exclusive object.
template <class Parameter>
struct Claim {
  explicit Claim(const std::remove_reference_t<Parameter>&) {}
};
template <class T>
  requires std::derived_from<T, Exclusive>
struct Claim<T&> : Use<T> {
  using Use<T>::Use;
};

template <class F, class Result, class... Parameters>
auto guarded_as(F f, Result (*)(Parameters...)) {
  return [f](Parameters... parameters) -> Result {
    const std::tuple<Claim<Parameters>...> claims(parameters...);
    return f(std::forward<Parameters>(parameters)...);
  };
}

// f, which refuses to run while another thread uses one of its exclusive arguments: const references are read, others
// changed. Each method of a bound class needs it as soon as one method releases the GIL.
template <class F>
auto guarded(F f) {
  return guarded_as(f, +f);
}
// Self is given where the method belongs to a base class.
template <class Self = void, class Class, class Result, class... Parameters>
auto guarded(Result (Class::*f)(Parameters...)) {
  using Object = std::conditional_t<std::is_void_v<Self>, Class, Self>;
  return guarded_as([f](Object& self, Parameters... p) -> Result { return (self.*f)(std::forward<Parameters>(p)...); },
                    static_cast<Result (*)(Object&, Parameters...)>(nullptr));
}
template <class Self = void, class Class, class Result, class... Parameters>
auto guarded(Result (Class::*f)(Parameters...) const) {
  using Object = const std::conditional_t<std::is_void_v<Self>, Class, Self>;
  return guarded_as([f](Object& self, Parameters... p) -> Result { return (self.*f)(std::forward<Parameters>(p)...); },
                    static_cast<Result (*)(Object&, Parameters...)>(nullptr));
}

// An object that nobody changes (as const T) or that nobody else uses (as T) for as long as the result lives.
template <class As, class T>
std::shared_ptr<As> held(std::shared_ptr<T> object) {
  if (!object) return nullptr;
  struct Held {
    std::shared_ptr<T> object;
    Use<As> use;
  };
  As* const raw = object.get();
  return {std::shared_ptr<Held>(new Held{std::move(object), Use<As>(*raw)}), raw};
}

}  // namespace treeglot
