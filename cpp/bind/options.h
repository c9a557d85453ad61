// Structs of options, set by the names of their fields from a Python dataclass or a dict.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bind/core.h"

namespace treeglot {

template <class Struct, class Value>
struct OptionField {
  std::string_view name;
  Value Struct::* member;
};

// The fields of a struct, by the names that Python has for them. TREEGLOT_OPTIONS(PairOptions, samples, least) is for a
// struct whose fields have the names of the options. For others:
//   template <>
//   inline constexpr auto kFields<PairOptions> =
//       std::tuple{OptionField{"samples", &PairOptions::samples}, OptionField{"least", &PairOptions::least_gain}};
template <class Struct>
inline constexpr auto kFields = nullptr;

// A macro does not expand itself: each TREEGLOT_FIELD leaves the next one as a name and brackets, which TREEGLOT_AGAIN
// reads anew, 64 times.
#define TREEGLOT_BRACKETS ()
#define TREEGLOT_AGAIN(...) TREEGLOT_AGAIN_16(TREEGLOT_AGAIN_16(TREEGLOT_AGAIN_16(TREEGLOT_AGAIN_16(__VA_ARGS__))))
#define TREEGLOT_AGAIN_16(...) TREEGLOT_AGAIN_4(TREEGLOT_AGAIN_4(TREEGLOT_AGAIN_4(TREEGLOT_AGAIN_4(__VA_ARGS__))))
#define TREEGLOT_AGAIN_4(...) TREEGLOT_AGAIN_1(TREEGLOT_AGAIN_1(TREEGLOT_AGAIN_1(TREEGLOT_AGAIN_1(__VA_ARGS__))))
#define TREEGLOT_AGAIN_1(...) __VA_ARGS__
#define TREEGLOT_FIELD(Struct, name, ...) \
  OptionField{#name, &Struct::name} __VA_OPT__(, TREEGLOT_NEXT_FIELD TREEGLOT_BRACKETS(Struct, __VA_ARGS__))
#define TREEGLOT_NEXT_FIELD() TREEGLOT_FIELD
#define TREEGLOT_OPTIONS(Struct, ...)                   \
  template <>                                           \
  inline constexpr auto kFields<Struct> = std::tuple {  \
    TREEGLOT_AGAIN(TREEGLOT_FIELD(Struct, __VA_ARGS__)) \
  }

template <class Enum>
struct OptionName {
  std::string_view name;
  Enum value;
};

// The names of an enum's values: std::array{OptionName{"hope", Background::hope}, …}.
template <class Enum>
inline constexpr auto kNames = nullptr;

template <class Struct, class Fields>
void read_options(nb::handle given, Struct& out, const Fields& fields);
template <class Struct>
void read_options(nb::handle given, Struct& out) {
  read_options(given, out, kFields<Struct>);
}

template <class Struct>
Struct read_options(nb::handle given) {
  Struct out;
  read_options(given, out);
  return out;
}

namespace options_detail {

template <class T>
inline constexpr bool kHasFields = !std::is_same_v<std::remove_cvref_t<decltype(kFields<T>)>, std::nullptr_t>;

// A value in ASCII, which may be cut anywhere.
inline std::string shown(nb::handle value) {
  const nb::object text = nb::steal(PyObject_ASCII(value.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  const std::string out = nb::borrow<nb::str>(text).c_str();
  return out.size() > 60 ? out.substr(0, 57) + "..." : out;
}

// A string's text; nothing, which no option is called, for other values and for lone surrogates.
inline std::string_view text_of(nb::handle value) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return {text, static_cast<std::size_t>(size)};
}

[[noreturn]] inline void refuse(std::string_view name, nb::handle value, const std::string& expected) {
  throw std::invalid_argument(std::string(name) + " is " + shown(value) + "; expected " + expected);
}

template <class Value>
std::string wanted() {
  if constexpr (std::is_same_v<Value, bool>) {
    return "True or False";
  } else if constexpr (std::is_integral_v<Value>) {
    using Limits = std::numeric_limits<Value>;
    return "an integer from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max());
  } else if constexpr (std::is_floating_point_v<Value>) {
    return "a number";
  } else {
    return "a value of another type";
  }
}

template <class Value>
void read_value(std::string_view name, nb::handle value, Value& out) {
  if constexpr (std::is_enum_v<Value>) {
    std::string expected;
    for (const auto& [known, chosen] : kNames<Value>) {
      if (text_of(value) == known) {
        out = chosen;
        return;
      }
      expected += (expected.empty() ? "'" : " or '") + std::string(known) + "'";
    }
    refuse(name, value, expected);
  } else if constexpr (kHasFields<Value>) {
    read_options(value, out);
  } else {
    // A truth value is an int to Python, and converts to any number.
    const bool truth_for_number =
        std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool> && PyBool_Check(value.ptr());
    if (truth_for_number || !nb::try_cast(value, out)) refuse(name, value, wanted<Value>());
    if constexpr (std::is_floating_point_v<Value>) {
      if (std::isnan(out)) refuse(name, value, wanted<Value>());
    }
  }
}

inline std::string listed(const auto& fields) {
  std::string out;
  std::apply([&](const auto&... field) { ((out += (out.empty() ? "" : ", ") + std::string(field.name)), ...); },
             fields);
  return out;
}

}  // namespace options_detail

// A dataclass must have every field; what else it has belongs to others. A dict may leave fields as they are, but must
// not have others.
template <class Struct, class Fields>
void read_options(nb::handle given, Struct& out, const Fields& fields) {
  if (nb::isinstance<nb::dict>(given)) {
    for (const auto [key, value] : nb::borrow<nb::dict>(given)) {
      const std::string_view name = options_detail::text_of(key);
      const nb::handle found = value;
      const auto set = [&](const auto& field) {
        if (field.name != name) return false;
        options_detail::read_value(field.name, found, out.*field.member);
        return true;
      };
      if (!std::apply([&](const auto&... field) { return (set(field) || ...); }, fields)) {
        throw std::invalid_argument("unknown option " + options_detail::shown(key) +
                                    "; known: " + options_detail::listed(fields));
      }
    }
    return;
  }
  const auto set = [&](const auto& field) {
    const std::string name(field.name);
    if (!nb::hasattr(given, name.c_str())) {
      throw std::invalid_argument("option '" + name + "' is missing from " + options_detail::shown(given.type()) +
                                  "; expected: " + options_detail::listed(fields));
    }
    options_detail::read_value(field.name, nb::getattr(given, name.c_str()), out.*field.member);
  };
  std::apply([&](const auto&... field) { (set(field), ...); }, fields);
}

}  // namespace treeglot
