// Which source word a target word is affiliated with (Devlin et al. 2014, section 2.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "syntax/alignment.h"

namespace treeglot {

// For each of the target words the position of a source word. A linked word has the middle one of its links, rounded
// down. A word without links has that of the nearest linked word; of two equally near, that of the right one. Without
// any links every word has `none`.
std::vector<std::uint32_t> affiliations(std::span<const Link> links, std::size_t target_words, std::uint32_t none);

}  // namespace treeglot
