#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "lm/dependency_lm.h"
#include "lm/ngram_build.h"

namespace treeglot {
namespace {

// The units of three models: the special words, then the others as they come.
class Units {
 public:
  Units() {
    for (const std::string_view word : kSpecialWords) symbols_.intern(word);
  }

  void add(const Symbols& vocabulary) {
    for (Symbol word = 0; word < vocabulary.size(); ++word) symbols_.intern(unit_of(vocabulary.text(word)));
  }
  std::size_t size() const { return symbols_.size(); }
  std::string_view text(Symbol unit) const { return symbols_.text(unit); }
  // The number that a word has in the tables: a unit's as child or as head.
  WordId number(std::string_view word) const {
    const Symbol unit = symbols_.find(unit_of(word));
    return word.starts_with(kHeadMark) ? unit + static_cast<WordId>(size()) : unit;
  }

 private:
  static std::string_view unit_of(std::string_view word) {
    return word.starts_with(kHeadMark) ? word.substr(kHeadMark.size()) : word;
  }
  Symbols symbols_;
};

// A model of order 3 or 1 under the common numbers, in the sections that an n-gram model of its own would have.
Sections compile_part(const EstimatedNgrams& model, const Units& units) {
  const std::size_t order = model.orders.size();
  const std::size_t words = order == 1 ? units.size() : 2 * units.size();
  std::vector<std::uint64_t> expected;
  for (const NgramBatch& batch : model.orders) expected.push_back(batch.size());
  std::vector<WordId> numbers;
  for (Symbol word = 0; word < model.vocabulary.size(); ++word) {
    numbers.push_back(units.number(model.vocabulary.text(word)));
  }

  // What the estimate has not as a 1-gram is never predicted, and as a context it is one that was not seen.
  struct Unigram {
    float log10 = -99, backoff = 0;
  };
  std::vector<Unigram> unigrams(words);
  const NgramBatch& ones = model.orders[0];
  for (std::size_t i = 0; i < ones.size(); ++i) {
    const WordId number = numbers[ones.words[i]];
    if (number < words) unigrams[number] = {ones.log10_probability[i], order == 1 ? 0.0f : ones.log10_backoff[i]};
  }
  NgramBuilder builder(expected);
  std::string text;
  for (std::size_t number = 0; number < words; ++number) {
    const bool head = number >= units.size();
    text.assign(head ? kHeadMark : "").append(units.text(static_cast<Symbol>(number - (head ? units.size() : 0))));
    builder.add_unigram(text, unigrams[number].log10, unigrams[number].backoff, number + 1);
  }
  for (std::size_t n = 2; n <= order; ++n) {
    const NgramBatch& batch = model.orders[n - 1];
    for (std::size_t i = 0; i < batch.size(); ++i) {
      WordId window[3];
      for (std::size_t k = 0; k < n; ++k) window[k] = numbers[batch.words[i * n + k]];
      builder.add({window, n}, batch.log10_probability[i], n == order ? 0.0f : batch.log10_backoff[i], i + 1);
    }
    builder.end_order();
  }
  return builder.finish(NgramLayout::fast);
}

template <class T>
void copy_section(const Sections& from, std::string_view name, Sections& to, const std::string& new_name) {
  const std::span<const T> values = from.array<T>(name);
  std::copy(values.begin(), values.end(), to.add<T>(new_name, values.size()).begin());
}

}  // namespace

DependencyModel compile_dependency(DependencyUnit unit, DependencyConditioning conditioning,
                                   const EstimatedNgrams& left, const EstimatedNgrams& right,
                                   const EstimatedNgrams& root) {
  struct Part {
    std::string name;
    const EstimatedNgrams& model;
    std::size_t order;
  };
  const Part parts[] = {{"left", left, 3}, {"right", right, 3}, {"root", root, 1}};
  DependencyFacts facts;
  facts.unit = static_cast<std::uint32_t>(unit);
  facts.conditioning = static_cast<std::uint32_t>(conditioning);
  Units units;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const auto& [name, model, order] = parts[i];
    if (model.orders.size() != order)
      throw std::invalid_argument("the model of " + quoted(name) + " has order " + std::to_string(model.orders.size()) +
                                  "; expected order " + std::to_string(order));
    units.add(model.vocabulary);
    for (std::size_t n = 0; n < order; ++n) facts.counts[i][n] = model.orders[n].size();
  }
  if (units.size() > Symbols::kNone / 2) throw std::length_error("a dependency model has fewer than 2^31 words");

  Sections sections(DependencyModel::kKind, DependencyModel::kVersion);
  sections.add<DependencyFacts>("model", 1)[0] = facts;
  Strings texts;
  for (Symbol word = 0; word < units.size(); ++word) texts.append(units.text(word));
  Vocabulary::add_sections(texts, sections);
  const std::string longest = "." + std::string(DependencyModel::kLongest[facts.conditioning]);
  for (const auto& [name, model, order] : parts) {
    const Sections part = compile_part(model, units);
    copy_section<NgramValue>(part, "unigrams", sections, name + ".unigrams");
    if (order == 1) continue;
    copy_section<FastBucket>(part, "table.2", sections, name + ".pairs");
    copy_section<FastLastBucket>(part, "table.3", sections, name + longest);
  }
  return DependencyModel(std::move(sections));
}

}  // namespace treeglot
