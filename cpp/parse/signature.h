// What an unknown word looks like: the class of words whose statistics stand in for its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

enum class SignatureKind : std::uint8_t {
  english,  // capitals, digits, dashes and suffixes, as the Berkeley parser's grammars name them: UNK-LC-ing
  german,   // capitals, digits, dashes and the last three letters
  chinese,  // what script it is in, its length and its last character
};

// Names of classes from the narrowest to the widest, which is always UNK. `position` is the word's in its sentence;
// `known_lower` says whether it is known without its first capital.
std::vector<std::string> signatures(SignatureKind kind, std::string_view word, std::size_t position, bool known_lower);

// The name of such a class for those of its words that are in a word class, too: UNK-LC-ing/17.
std::string in_word_class(std::string_view signature, std::uint32_t number);

// The word with its first letter in lower case, if that is one of A to Z, or in German of Latin-1's.
std::string lower_first(SignatureKind kind, std::string_view word);

}  // namespace treeglot
