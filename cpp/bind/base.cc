#include <nanobind/stl/string.h>

#include "bind/core.h"

#include "base/error.h"

namespace nb = nanobind;

namespace treeglot {

void bind_base(nb::module_&) {
  // The exception classes live in Python; they are looked up when an error happens, not at import.
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const FormatError& e) {
      const nb::object type = nb::module_::import_("treeglot.base.errors").attr("FormatError");
      const nb::object value = type(e.file(), e.line(), e.problem());
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
}

}  // namespace treeglot
