#include "lm/ngram_list.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lm/ngram_words.h"

namespace treeglot {
namespace {

// The n-grams of one order, in the order of their words' numbers.
struct Ngrams {
  unsigned order = 1;
  std::vector<WordId> words;
  std::vector<NgramKey> keys;
  std::vector<NgramValue> values;

  std::size_t size() const { return keys.size(); }
  const WordId* at(std::size_t i) const { return words.data() + i * order; }
};

template <class Search>
Ngrams all_unigrams(const Search& search) {
  Ngrams out;
  for (WordId word = 0; word < search.vocabulary(); ++word) {
    out.words.push_back(word);
    out.keys.push_back(key_of(word));
    out.values.push_back(search.unigram(word));
  }
  return out;
}

Ngrams sorted(const Ngrams& given) {
  std::vector<std::size_t> order(given.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(given.at(a), given.at(a) + given.order, given.at(b), given.at(b) + given.order);
  });
  Ngrams out{given.order, {}, {}, {}};
  for (const std::size_t i : order) {
    out.words.insert(out.words.end(), given.at(i), given.at(i) + given.order);
    out.keys.push_back(given.keys[i]);
    out.values.push_back(given.values[i]);
  }
  return out;
}

// By the bucket where a search begins: the marks of all keys that it could find. Almost all pairs of words are in no
// table, and the marks, an eighth of its size, say so sooner than the table does.
template <class Table>
std::vector<std::uint64_t> marks_of(const Table& table) {
  std::vector<std::uint64_t> out(table.size());
  for (std::size_t at = 0; at < out.size(); ++at) out[at] = table.marks(at);
  for (std::size_t left = 2 * out.size(); left-- > 0;) {  // twice: the last bucket continues in the first
    const std::size_t at = left % out.size();
    if (table.continues(at)) out[at] |= out[table.after(at)];
  }
  return out;
}

// The n-grams of `table` whose first words and whose last words are in `lower`.
template <class Table>
Ngrams longer(const Ngrams& lower, const Table& table) {
  const unsigned n = lower.order, shared = n - 1;
  std::vector<std::size_t> heads, tails;  // n-grams that may stand first, and last
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (NgramValue::extends_right(lower.values[i].backoff)) heads.push_back(i);
    if (lower.values[i].extends_left()) tails.push_back(i);  // sorted by their first words, as `lower` is
  }
  const auto compare = [&](const WordId* a, const WordId* b) {
    return std::lexicographical_compare(a, a + shared, b, b + shared);
  };
  std::ranges::stable_sort(heads, compare, [&](std::size_t i) { return lower.at(i) + 1; });
  const std::vector<std::uint64_t> marks = marks_of(table);
  Ngrams out{n + 1, {}, {}, {}};
  auto head = heads.begin();
  for (auto tail = tails.begin(); tail != tails.end();) {
    const WordId* const middle = lower.at(*tail);
    const auto end = std::find_if(tail, tails.end(), [&](std::size_t i) { return compare(middle, lower.at(i)); });
    while (head != heads.end() && compare(lower.at(*head) + 1, middle)) ++head;
    const auto last = std::find_if(head, heads.end(), [&](std::size_t i) { return compare(middle, lower.at(i) + 1); });
    for (; tail != end; ++tail) {
      for (auto first = head; first != last; ++first) {
        NgramValue value;
        const NgramKey key = extend_key(lower.keys[*tail], *lower.at(*first));
        if ((marks[table.home(key)] & table.mark(key)) == 0 || !find(table, key, value)) continue;
        out.words.push_back(*lower.at(*first));
        out.words.insert(out.words.end(), lower.at(*tail), lower.at(*tail) + n);
        out.keys.push_back(key);
        out.values.push_back(value);
      }
    }
    head = last;
  }
  return sorted(out);
}

// The n-grams whose words the model lists.
template <class Table>
Ngrams listed(const NgramModel& model, unsigned n, const Table& table) {
  Ngrams out{n, NgramWords::read(model.listed(n), n, model.vocabulary().size()), {}, {}};
  for (auto words = out.words.begin(); words != out.words.end(); words += n) {
    NgramKey key = key_of(words[n - 1]);
    for (unsigned i = n - 1; i > 0; --i) key = extend_key(key, words[i - 1]);
    NgramValue value;
    if (!find(table, key, value)) throw std::invalid_argument("its list of n-grams has one that it does not have");
    out.keys.push_back(key);
    out.values.push_back(value);
  }
  out = sorted(out);
  for (std::size_t i = 1; i < out.size(); ++i)
    if (std::equal(out.at(i), out.at(i) + n, out.at(i - 1)))
      throw std::invalid_argument("its list of n-grams has one twice");
  return out;
}

void append_number(float value, std::string& out) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, std::end(buffer), value == 0 ? 0.0f : value).ptr);
}

std::string section(const NgramModel& model, const Ngrams& ngrams, std::size_t first) {
  std::string out = "\n\\" + std::to_string(ngrams.order) + "-grams:\n";
  for (std::size_t i = first; i < ngrams.size(); ++i) {
    append_number(ngrams.values[i].log10(), out);
    for (unsigned k = 0; k < ngrams.order; ++k)
      out.append(k == 0 ? "\t" : " ").append(model.vocabulary().word(ngrams.at(i)[k]));
    if (ngrams.order < model.order()) {
      out += '\t';
      append_number(ngrams.values[i].backoff, out);
    }
    out += '\n';
  }
  return out;
}

std::vector<Ngrams> all_ngrams(const NgramModel& model) {
  const NgramFacts& facts = model.facts();
  std::vector<Ngrams> orders;
  model.with_search([&](const auto& search) {
    orders.push_back(all_unigrams(search));
    for (unsigned n = 2; n <= model.order(); ++n) {
      const auto found = [&](const auto& table) {
        return model.lists_words() ? listed(model, n, table) : longer(orders.back(), table);
      };
      orders.push_back(n == model.order() ? found(search.last()) : found(search.middle(n)));
      const std::uint64_t expected = facts.counts[n - 1] + facts.blanks[n - 1];
      if (facts.layout == NgramLayout::fast && orders.back().size() != expected)
        throw std::invalid_argument("found " + std::to_string(orders.back().size()) + " of " +
                                    std::to_string(expected) + " n-grams of order " + std::to_string(n) +
                                    ": the model is damaged");
    }
  });
  return orders;
}

}  // namespace

std::vector<std::vector<WordId>> list_words(const NgramModel& model) {
  std::vector<std::vector<WordId>> words;
  for (Ngrams& ngrams : all_ngrams(model)) words.push_back(std::move(ngrams.words));
  return words;
}

void write_arpa(const NgramModel& model, const std::function<void(std::string_view)>& write) {
  const std::vector<Ngrams> orders = all_ngrams(model);
  const std::size_t first = model.facts().unknown_added != 0 ? 1 : 0;  // an <unk> that was not given
  std::string header = "\\data\\\n";
  for (const Ngrams& ngrams : orders)
    header += "ngram " + std::to_string(ngrams.order) + "=" +
              std::to_string(ngrams.size() - (ngrams.order == 1 ? first : 0)) + "\n";
  write(header);
  for (const Ngrams& ngrams : orders) write(section(model, ngrams, ngrams.order == 1 ? first : 0));
  write("\n\\end\\\n");
}

}  // namespace treeglot
