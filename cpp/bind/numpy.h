// NumPy arrays across the border, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace treeglot {

// An array that comes in: contiguous, of one dimension, read alone. Another type of number is converted (and so copied).
template <class T>
using ArrayIn = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// An array that goes out; Array<const T> is read-only in Python.
template <class T>
using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

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
  nanobind::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return Array<T>(data, {size}, std::move(owner));
}

// A view on memory of the object whose property it is: bind it with rv_policy::reference_internal.
template <class T>
Array<const T> as_view(std::span<const T> values) {
  return Array<const T>(values.data(), {values.size()});
}

// work() with the GIL released.
template <class Work>
auto without_gil(Work&& work) {
  const nanobind::gil_scoped_release released;
  return std::forward<Work>(work)();
}

}  // namespace treeglot
