// The words that every model has, under the numbers that they have in training.
#pragma once

#include <string_view>

#include "base/symbols.h"

namespace treeglot {

constexpr Symbol kUnknownWord = 0;
constexpr Symbol kSentenceBegin = 1;
constexpr Symbol kSentenceEnd = 2;
constexpr std::string_view kSpecialWords[] = {"<unk>", "<s>", "</s>"};
constexpr std::string_view kOwnWord = "is a word of the model itself; expected text without it";

}  // namespace treeglot
