#include "rules/expanded_features.h"

#include <algorithm>

#include "rules/rule_text.h"

namespace treeglot {
namespace {

bool is_in(const std::vector<bool>& flags, std::size_t number) { return number < flags.size() && flags[number]; }

// Counts a feature among those behind `first`.
void increase(std::vector<SparseFeature>& out, std::size_t first, std::uint32_t feature) {
  const auto at =
      std::ranges::find(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), feature, &SparseFeature::feature);
  if (at != out.end()) {
    at->value += 1;
  } else {
    out.push_back({feature, 1.0f});
  }
}

std::vector<bool> flags(std::span<const Symbol> words) {
  std::vector<bool> out;
  for (const Symbol word : words) {
    if (word >= out.size()) out.resize(word + 1, false);
    out[word] = true;
  }
  return out;
}

// Appends one letter for a run of words; `in_run` says whether one is being written.
void append_word(std::string& out, bool& in_run) {
  if (!in_run) out += 'w';
  in_run = true;
}

// Into room that is used again and again.
void write_shape(std::span<const Symbol> source, std::span<const std::int32_t> target, std::string& out) {
  out = "shape=";
  std::uint32_t variable = 0;
  bool in_run = false;
  for (const Symbol symbol : source) {
    if (!is_nonterminal(symbol)) {
      append_word(out, in_run);
      continue;
    }
    out += std::to_string(++variable);
    in_run = false;
  }
  out += "→";
  in_run = false;
  for (const std::int32_t symbol : target) {
    if (symbol >= 0) {
      append_word(out, in_run);
      continue;
    }
    out += std::to_string(-symbol);
    in_run = false;
  }
}

}  // namespace

std::string shape_name(std::span<const Symbol> source, std::span<const std::int32_t> target) {
  std::string out;
  write_shape(source, target, out);
  return out;
}

std::string pair_name(std::string_view source_word, std::string_view target_word) {
  return std::string("pair=").append(source_word).append("→").append(target_word);
}

std::string deletion_name(std::string_view source_word) {
  return std::string(kDeletion).append("=").append(source_word);
}

std::string insertion_name(std::string_view target_word) {
  return std::string(kInsertion).append("=").append(target_word);
}

ExpandedFeatures::ExpandedFeatures(const ExpandedOptions& options)
    : shapes_(options.shapes),
      unlinked_(options.unlinked),
      deleted_{flags(options.deleted), {}},
      inserted_{flags(options.inserted), {}},
      source_words_(flags(options.source_words)),
      target_words_(flags(options.target_words)) {}

void ExpandedFeatures::append(std::span<const Symbol> source, std::span<const std::int32_t> target,
                              std::span<const RuleLink> links, const Names& names, std::vector<SparseFeature>& out) {
  if (shapes_) {
    write_shape(source, target, shape_);
    auto at = shape_numbers_.find(shape_);
    if (at == shape_numbers_.end()) at = shape_numbers_.emplace(shape_, names.feature(shape_)).first;
    out.push_back({at->second, 1.0f});
  }
  append_pairs(source, target, links, names, out);
  if (!unlinked_) return;
  const std::size_t first = out.size();
  const auto count = [&](Unlinked& words, Symbol word, const auto& find) {
    if (word >= words.numbers.size()) words.numbers.resize(word + 1, kUnseen);
    if (words.numbers[word] == kUnseen) words.numbers[word] = find(is_in(words.frequent, word));
    if (words.numbers[word] != kNone) increase(out, first, words.numbers[word]);
  };
  for_each_unlinked(
      source, target, links,
      [&](Symbol f) {
        count(deleted_, f, [&](bool frequent) {
          const std::string_view text = names.source_word(f);
          if (is_bracket(text)) return kNone;
          return frequent ? names.feature(deletion_name(text)) : names.feature(kDeletion);
        });
      },
      [&](Symbol e) {
        count(inserted_, e, [&](bool frequent) {
          return frequent ? names.feature(insertion_name(names.target_word(e))) : names.feature(kInsertion);
        });
      });
}

void ExpandedFeatures::append_pairs(std::span<const Symbol> source, std::span<const std::int32_t> target,
                                    std::span<const RuleLink> links, const Names& names,
                                    std::vector<SparseFeature>& out) {
  const std::size_t first = out.size();
  for (const RuleLink link : links) {
    if (link.source >= source.size() || link.target >= target.size()) continue;  // refused later
    const Symbol f = source[link.source];
    const std::int32_t e = target[link.target];
    if (!is_in(source_words_, f) || e < 0 || !is_in(target_words_, static_cast<std::size_t>(e))) continue;
    const auto [at, added] = pairs_.try_emplace(std::uint64_t{f} << 32 | static_cast<std::uint32_t>(e), 0);
    if (added) {
      at->second = names.feature(pair_name(names.source_word(f), names.target_word(static_cast<Symbol>(e))));
    }
    increase(out, first, at->second);
  }
}

}  // namespace treeglot
