// A compiled n-gram model as an ARPA file again.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lm/ngram.h"

namespace treeglot {

// Writes the model in pieces. Its tables hold hashes of n-grams, not their words. The fast layout lists the words
// beside them, and the time is linear in the n-grams. The small layout has no room for that, so the words are found
// again. An n-gram begins and ends in n-grams of the next lower order, and all pairs that overlap are looked up. That
// is quadratic in the vocabulary. It also finds the false positives, which then have the scores that the compiled model
// gives them.
void write_arpa(const NgramModel& model, const std::function<void(std::string_view)>& write);

// The words of all n-grams, found in the same way: by order, and n for each n-gram of order n. <unk> is a 1-gram.
std::vector<std::vector<WordId>> list_words(const NgramModel& model);

}  // namespace treeglot
