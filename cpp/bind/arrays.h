// Arrays between Python and the core: NumPy views on the core's memory, and bytes for pickles.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/span.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "base/utf8.h"
#include "bind/core.h"

namespace treeglot {

// An array that comes in: contiguous, of one dimension, read alone. Another type of number is converted (and so
// copied).
template <class T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array that goes out, to be written by its new owner.
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>;

// To be returned with rv_policy::reference_internal, which keeps the owner of the memory alive.
template <class T>
View<T> view(std::span<const T> values) {
  return View<T>(values.data(), {values.size()});
}

template <class T>
std::span<const T> as_span(const ArrayIn<T>& array) {
  return {array.data(), array.size()};
}

// A vector becomes an array that owns it.
template <class T>
Array<T> as_array(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return Array<T>(data, {size}, std::move(owner));
}

// What the core gives, as Python gets it: vectors of numbers become arrays.
template <class T>
T crossing(T value) {
  return value;
}
template <class T>
  requires std::is_arithmetic_v<T>
Array<T> crossing(std::vector<T> values) {
  return as_array(std::move(values));
}

// Spans are pairs of numbers in Python.
using SpanPair = std::pair<std::uint32_t, std::uint32_t>;
inline SpanPair to_pair(Span span) { return {span.begin, span.end}; }
inline std::vector<SpanPair> to_pairs(std::span<const Span> spans) {
  std::vector<SpanPair> out;
  for (const Span span : spans) out.push_back(to_pair(span));
  return out;
}

using Sizes = std::vector<std::uint32_t>;  // how many of something belong to each of a list, as pickles have it

// work() with the GIL released.
template <class Work>
auto without_gil(Work&& work) {
  const nb::gil_scoped_release released;
  return std::forward<Work>(work)();
}

// A function of the core as one of the module. Arrays come in as spans, and vectors of numbers go out as arrays. The
// GIL is released meanwhile.
template <auto kFunction>
struct Released;
template <class R, class... Args, R (*kFunction)(Args...)>
struct Released<kFunction> {
  static auto call(Args... args) {
    return crossing(without_gil([&] { return kFunction(std::forward<Args>(args)...); }));
  }
};
template <auto kFunction>
inline constexpr auto released = &Released<kFunction>::call;

template <class T>
nb::bytes to_bytes(std::span<const T> values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
template <class T>
nb::bytes to_bytes(const std::vector<T>& values) {
  return to_bytes(std::span<const T>(values));
}

inline std::string_view bytes_view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

template <class T>
std::vector<T> from_bytes(const nb::bytes& bytes) {
  if (bytes.size() % sizeof(T) != 0) throw nb::value_error("a pickle with an array of the wrong size");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.c_str(), bytes.size());
  return values;
}

using PickledStrings = std::tuple<nb::bytes, nb::bytes>;

inline PickledStrings to_pickle(const Strings& strings) {
  return {nb::bytes(strings.bytes().data(), strings.bytes().size()), to_bytes(strings.ends())};
}
inline Strings from_pickle(const PickledStrings& state) {
  Strings out(std::string(bytes_view(std::get<0>(state))), from_bytes<std::uint32_t>(std::get<1>(state)));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!is_utf8(out[i])) throw nb::value_error("a pickle with text that is not UTF-8");
  return out;
}

// For __eq__: what is of another type is not equal.
template <class T>
bool equal(const T& a, nb::handle b) {
  return nb::isinstance<T>(b) && a == nb::cast<const T&>(b);
}

// The values of a sequence, without None unless kNone. It owns them: they live as long as the call, whatever other
// threads do to the sequence while the GIL is released.
template <class T, bool kNone = false>
struct Given {
  std::vector<const T*> values;
  std::vector<nb::object> owners;
};

template <class T>
std::uint64_t hash_of(std::span<const T> values, std::uint64_t seed) {
  return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, seed);
}
inline std::uint64_t hash_of(const Strings& strings, std::uint64_t seed) {
  return hash_of(std::span<const std::uint32_t>(strings.ends()), hash_bytes(strings.bytes(), seed));
}

inline nb::list to_list(const Strings& strings) {
  nb::list out;
  for (std::size_t i = 0; i < strings.size(); ++i) out.append(strings[i]);
  return out;
}
inline Strings to_strings(const std::vector<std::string_view>& list) {
  Strings out;
  for (const std::string_view text : list) out.append(text);
  return out;
}

}  // namespace treeglot

template <class T, bool kNone>
struct nb::detail::type_caster<treeglot::Given<T, kNone>> {
  using Given = treeglot::Given<T, kNone>;
  NB_TYPE_CASTER(Given, const_name("collections.abc.Sequence[") + make_caster<T>::Name +
                            const_name<kNone>(" | None", "") + const_name("]"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::vector<object>> items;
    if (!items.from_python(source, flags, cleanup)) return false;
    value.owners = std::move(items.value);
    for (const object& item : value.owners) {
      make_caster<T> one;
      if ((item.is_none() && !kNone) || !one.from_python(item, flags, cleanup)) return false;
      value.values.push_back(one.operator T*());
    }
    return true;
  }
};

// A span is read from an array, which lives as long as the call.
template <class T>
struct nb::detail::type_caster<std::span<const T>, nb::detail::enable_if_t<std::is_arithmetic_v<T>>> {
  using Inner = make_caster<treeglot::ArrayIn<T>>;
  static constexpr auto Name = Inner::Name;
  template <class>
  using Cast = std::span<const T>;

  bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
    return inner.from_python(source, flags, cleanup);
  }
  template <class>
  bool can_cast() const noexcept {
    return true;
  }
  explicit operator std::span<const T>() { return treeglot::as_span(inner.value); }

  Inner inner;
};
