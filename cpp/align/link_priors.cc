#include "align/link_priors.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "align/aligner.h"
#include "base/utf8.h"

namespace treeglot {
namespace {

// Where the character at `at` ends; a byte that is no UTF-8 is a character.
std::size_t next_character(std::string_view text, std::size_t at) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  return at + std::max<std::size_t>(utf8_character(bytes + at, text.size() - at), 1);
}

std::vector<std::uint32_t> characters(std::string_view text) {
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = next_character(text, at);
    std::uint32_t value = 0;
    for (std::size_t k = at; k < end; ++k) value = value << 8 | static_cast<unsigned char>(text[k]);
    out.push_back(value >= 'A' && value <= 'Z' ? value + ('a' - 'A') : value);
  }
  return out;
}

// The targets of each source word in a lexicon, in rising order, with their weights; words that a corpus lacks are
// left out.
using Entries = std::map<Symbol, std::map<Symbol, float>>;

Entries entries_of(const SentencePairs& pairs, const std::vector<LexiconEntry>& lexicon) {
  Entries out;
  for (const LexiconEntry& entry : lexicon) {
    const Symbol source = pairs.source_words().find(entry.source), target = pairs.target_words().find(entry.target);
    if (source == Symbols::kNone || target == Symbols::kNone) continue;
    float& weight = out[source][target];
    weight = std::max(weight, static_cast<float>(entry.weight));
  }
  return out;
}

// Of each word, what part of its stem's tokens it is.
std::vector<float> stem_shares(const SentencePairs& pairs, bool targets, int letters) {
  const Symbols& words = targets ? pairs.target_words() : pairs.source_words();
  std::vector<float> tokens(words.size());
  for (std::size_t p = 0; p < pairs.size(); ++p)
    for (const Symbol word : targets ? pairs.target(p) : pairs.source(p)) ++tokens[word];
  std::unordered_map<std::string_view, float> all;
  for (Symbol word = 0; word < words.size(); ++word) all[stem(words.text(word), letters)] += tokens[word];
  for (Symbol word = 0; word < words.size(); ++word)
    tokens[word] /= std::max(all[stem(words.text(word), letters)], 1.0f);
  return tokens;
}

}  // namespace

double cognate_similarity(std::string_view source, std::string_view target) {
  constexpr std::size_t kShortest = 4;
  constexpr double kLeast = 0.7;
  if (source == target) return 1;
  const std::size_t most = std::max(source.size(), target.size()), few = std::min(source.size(), target.size());
  if (few < kShortest || 4 * few < most) return 0;  // a character has up to four bytes
  const auto a = characters(source), b = characters(target);
  const double longer = static_cast<double>(std::max(a.size(), b.size()));
  const std::size_t shorter = std::min(a.size(), b.size());
  if (shorter < kShortest || static_cast<double>(shorter) < kLeast * longer) return 0;
  std::vector<std::size_t> row(b.size() + 1, 0);  // longest common subsequences of what is before
  for (const std::uint32_t x : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = x == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  const double found = static_cast<double>(row.back()) / longer;
  return found >= kLeast ? found : 0;
}

std::string_view stem(std::string_view word, int letters) {
  std::size_t end = 0;
  for (int k = 0; k < letters && end < word.size(); ++k) end = next_character(word, end);
  return word.substr(0, end);
}

SentencePairs stemmed(const SentencePairs& pairs, int letters) {
  SentencePairs out(0xffff);
  std::vector<std::string_view> source, target;
  const auto fill = [&](std::span<const Symbol> words, const Symbols& names, std::vector<std::string_view>& to) {
    to.clear();
    for (const Symbol word : words) to.push_back(stem(names.text(word), letters));
  };
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    fill(pairs.source(p), pairs.source_words(), source);
    fill(pairs.target(p), pairs.target_words(), target);
    out.append(source, target);
  }
  return out;
}

Cells make_cells(const SentencePairs& pairs, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                 const LinkPriorOptions& options, const Aligner* stems, const std::atomic<bool>& stop) {
  const Entries entries = entries_of(pairs, lexicon);
  std::vector<Symbol> joined;
  const auto others = [&](Symbol source) {
    joined.clear();
    if (before != nullptr) std::ranges::copy(before->targets_of(source), std::back_inserter(joined));
    if (const auto found = entries.find(source); found != entries.end()) {
      std::vector<Symbol> both, more;
      for (const auto& [target, weight] : found->second) more.push_back(target);
      std::ranges::set_union(joined, more, std::back_inserter(both));
      joined.swap(both);
    }
    return std::span<const Symbol>(joined);
  };
  const auto alike = [&](Symbol source, Symbol target) {
    const std::string_view word = pairs.source_words().text(source), other = pairs.target_words().text(target);
    if (options.cognates > 0 && cognate_similarity(word, other) > 0) return true;
    constexpr float kLeast = 0.01f;  // of two stems' links: fewer are chance
    if (stems == nullptr) return false;
    const auto linked = stems->probabilities(stem(word, options.stem_letters), stem(other, options.stem_letters));
    return std::max(linked[0], linked[1]) >= kLeast;
  };
  const bool any = options.cognates > 0 || stems != nullptr;
  return Cells(pairs, false, others, any ? Cells::Wanted(alike) : Cells::Wanted(), &stop);
}

namespace {

// The weight of a word pair in the lexicon; 0 without an entry.
float entry_weight(const Entries& entries, Symbol source, Symbol target) {
  const auto known = entries.find(source);
  if (known == entries.end()) return 0;
  const auto entry = known->second.find(target);
  return entry != known->second.end() ? entry->second : 0;
}

// How strongly the stems of two words are linked. Only other forms of the stems tell what the text itself does not:
// `own` is the share of the two words themselves.
std::array<float, 2> stem_links(const Aligner& stems, int letters, std::string_view word, std::string_view other,
                                float own) {
  std::array<float, 2> linked = stems.probabilities(stem(word, letters), stem(other, letters));
  for (float& x : linked) x *= 1 - own;
  return linked;
}

}  // namespace

LinkPriors make_priors(const Cells& cells, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                       const LinkPriorOptions& options, const Aligner* stems) {
  const SentencePairs& pairs = cells.pairs();
  LinkPriors out = {std::vector<float>(cells.size()), std::vector<float>(cells.size())};
  const Entries entries = entries_of(pairs, lexicon);
  std::array<std::vector<float>, 2> shares;
  for (const int side : {0, 1})
    if (stems != nullptr) shares[side] = stem_shares(pairs, side == 1, options.stem_letters);
  for (Symbol source = 0; source < pairs.source_words().size(); ++source) {
    const std::string_view word = pairs.source_words().text(source);
    for (std::uint32_t n = cells.first(source); n < cells.first(source + 1); ++n) {
      const Symbol target = cells.target(n);
      const std::string_view other = pairs.target_words().text(target);
      float both = entry_weight(entries, source, target);
      if (options.cognates > 0) both += static_cast<float>(options.cognates * cognate_similarity(word, other));
      std::array<float, 2> linked = {};
      if (stems != nullptr)
        linked = stem_links(*stems, options.stem_letters, word, other, shares[0][source] * shares[1][target]);
      for (const int d : {0, 1}) {
        out[d][n] = both + static_cast<float>(options.stems) * linked[d];
        // What an updated aligner was told before does not count twice.
        if (before != nullptr) out[d][n] = std::max(out[d][n], before->prior(d == 1, source, target));
      }
    }
  }
  return out;
}

}  // namespace treeglot
