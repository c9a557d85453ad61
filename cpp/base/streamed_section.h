// Files of sections (base/sections.h) that do not fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/sections.h"

namespace treeglot {

struct StreamedSection {
  using Give = std::function<void(std::span<const std::byte>)>;

  std::string name;
  std::uint64_t size;  // in bytes
  // Produces all bytes in order. It is called once, and may destroy its source.
  std::function<void(const Give&)> produce;
};

// Writes a file with the sections of `first`, then the others, in order. Gives the size of the file, which appears
// under its name when it is complete.
std::uint64_t write_sections(const std::string& path, std::string_view kind, std::uint32_t version,
                             const Sections& first, std::span<const StreamedSection> streamed);

}  // namespace treeglot
