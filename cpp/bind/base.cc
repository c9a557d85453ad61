#include <map>

#include "base/ending.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/sections.h"
#include "bind/core.h"

namespace treeglot {

void bind_base(nb::module_& m) {
  // The exception classes live in Python; they are looked up when an error happens, not at import.
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const FormatError& e) {
      const nb::object type = nb::module_::import_("treeglot.base.errors").attr("FormatError");
      const nb::object value = type(e.file(), e.line(), e.problem());
      PyErr_SetObject(type.ptr(), value.ptr());
    } catch (const std::bad_cast&) {  // as of text with lone surrogates
      PyErr_SetString(PyExc_TypeError, "a value is of another type than expected, or is not Unicode text");
    } catch (const FileError& e) {
      errno = e.number();
      PyErr_SetFromErrnoWithFilename(PyExc_OSError, e.file().c_str());
    }
  });

  m.def(
      "new_aside",
      [](const nb::bytes& target) {
        const Aside found = new_aside({target.c_str(), target.size()});
        return std::pair(found.descriptor, nb::bytes(found.path.data(), found.path.size()));
      },
      "target"_a, "A new file aside of `target`: its descriptor, locked until it is closed, and its path.");
  m.def(
      "remove_leftovers", [](const nb::bytes& target) { remove_leftovers({target.c_str(), target.size()}); },
      "target"_a, "Remove files and folders aside of `target` that nobody writes any more.");
  nb::class_<Ending>(m, "Ending", "Ends the process soon after a signal, whatever it is doing.")
      .def(nb::init<std::map<int, std::string>, double>(), "words"_a, "grace"_a,
           "Last words by signal; after one of these signals the process has `grace` seconds to end by itself.")
      .def_prop_ro("descriptor", &Ending::descriptor, "Where the numbers of signals are written, as bytes.");
  nb::enum_<Opening>(m, "Opening", "How the checks of a binary file are made.")
      .value("trusted", Opening::trusted, "Not at all.")
      .value("verified", Opening::verified, "All of them before it opens.")
      .value("on_use", Opening::on_use, "Those of what is used, each time.")
      .value(
          "background", Opening::background,
          "Those of what is used, until it pays that a thread checks all; a small file is verified before it opens.");
  m.def(
      "is_container", [](const nb::bytes& begin) { return Sections::begins({begin.c_str(), begin.size()}); }, "begin"_a,
      "Whether a file that begins with these bytes is a binary file of named sections.");
  m.def(
      "container_kind",
      [](const nb::bytes& begin) {
        const std::string_view kind = Sections::kind_of({begin.c_str(), begin.size()});
        return nb::bytes(kind.data(), kind.size());
      },
      "begin"_a, "The kind of the binary file that begins with these 64 bytes; empty if it is none.");
  m.def(
      "write_sections",
      [](const std::string& path, const std::string& kind, std::uint32_t version,
         const std::map<std::string, nb::bytes>& content) {
        Sections sections(kind, version);
        for (const auto& [name, bytes] : content) {
          const std::span<char> to = sections.add<char>(name, bytes.size());
          std::copy(bytes.c_str(), bytes.c_str() + bytes.size(), to.begin());
        }
        sections.write(path);
      },
      "path"_a, "kind"_a, "version"_a, "content"_a, "Write a binary file of named sections: aside, then renamed.");
  m.def(
      "read_sections",
      [](const std::string& path, const std::string& kind, std::uint32_t version, bool verify) {
        const Sections sections = Sections::open(path, kind, version, verify);
        std::map<std::string, nb::bytes> content;
        for (const std::string& name : sections.names()) {
          const std::span<const char> bytes = sections.array<char>(name);
          content.emplace(name, nb::bytes(bytes.data(), bytes.size()));
        }
        return content;
      },
      "path"_a, "kind"_a, "version"_a, "verify"_a = true,
      "Read a binary file of named sections; one that is damaged or of another kind or version is a FormatError.");
}

}  // namespace treeglot
