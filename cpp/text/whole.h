// What no tokeniser takes apart: addresses of pages and of mail, and tags.
#pragma once

#include <string_view>
#include <vector>

#include "base/span.h"

namespace treeglot {

std::vector<Span> whole_spans(std::u32string_view text);  // in order, without overlaps

}  // namespace treeglot
