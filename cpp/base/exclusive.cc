#include "base/exclusive.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace treeglot {

std::string class_name(const std::type_info& type) {
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                         &std::free);
  const std::string full = name ? name.get() : type.name();
  const std::size_t end = full.rfind("::");
  return end == std::string::npos ? full : full.substr(end + 2);
}

}  // namespace treeglot
