// What a call with wrong arguments says, in our words. The message is nanobind's own: it calls PyErr_SetString and has
// no hook. So the module is linked with --wrap=PyErr_SetString.
#include <Python.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

// "columns() cannot take (Tally, int); expected columns(self, first: int, last: int)".
std::string in_our_words(std::string_view name, std::string_view expected, std::string_view found) {
  std::string out(name);
  out += "() cannot take (";
  out += found;
  out += "); expected ";
  bool first = true;
  while (!expected.empty()) {  // a line for each overload: "    1. columns(self, …)"
    const std::string_view line = expected.substr(0, expected.find('\n'));
    expected.remove_prefix(std::min(expected.size(), line.size() + 1));
    const std::size_t dot = line.find(". "), end = line.rfind(") -> ");
    if (dot == std::string_view::npos || end == std::string_view::npos) continue;
    out += first ? "" : " or ";
    out += line.substr(dot + 2, end - dot - 1);
    first = false;
  }
  constexpr std::string_view kModule = "treeglot._core.";
  for (std::size_t at = out.find(kModule); at != std::string::npos; at = out.find(kModule, at))
    out.erase(at, kModule.size());
  return out;
}

}  // namespace

extern "C" {

void __real_PyErr_SetString(PyObject* type, const char* message);

void __wrap_PyErr_SetString(PyObject* type, const char* message) {
  constexpr std::string_view kBegin =
      "(): incompatible function arguments. The following argument types are supported:\n";
  constexpr std::string_view kFound = "\n\nInvoked with types: ";
  const std::string_view text(message);
  const std::size_t begin = text.find(kBegin), found = text.find(kFound);
  if (begin == std::string_view::npos || found == std::string_view::npos) return __real_PyErr_SetString(type, message);
  const std::string_view expected = text.substr(begin + kBegin.size(), found - begin - kBegin.size());
  const std::string ours = in_our_words(text.substr(0, begin), expected, text.substr(found + kFound.size()));
  __real_PyErr_SetString(type, ours.c_str());
}

}  // extern "C"
