#include "lm/ngram_bulk.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treeglot {
namespace {

void check_ids(const NgramModel& model, std::span<const WordId> ids) {
  const auto words = static_cast<WordId>(model.vocabulary().size());
  WordId largest = 0;
  for (const WordId id : ids) largest = std::max(largest, id);
  if (!ids.empty() && largest >= words)
    throw std::invalid_argument("the number " + std::to_string(largest) + " is no word; the model has words 0 to " +
                                std::to_string(words - 1));
}

void check_offsets(std::span<const WordId> ids, std::span<const std::uint64_t> offsets) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != ids.size() ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    throw std::invalid_argument("offsets begin with 0, never decrease and end with the number of words, " +
                                std::to_string(ids.size()));
}

// Places in texts, one after another, answered together. All cache lines of an order are prefetched before the first is
// read. Results are recorded without branches, because no processor could predict these.
//
// The score of a word needs no state here. It is the probability of the longest n-gram found, plus backoffs. These are
// of the n-grams at the place before it that are at least as long.
template <class Search>
class Block {
 public:
  static constexpr unsigned kSize = 128;  // places; their lines fit into the first cache

  explicit Block(const Search& search) : search_(search) {}

  bool full() const { return size_ == kSize; }
  unsigned size() const { return size_; }
  // A word at a place, with `depth` words of its text before it at word[-1], word[-2], …
  void add(const WordId* word, std::size_t depth) {
    ++size_;
    words_[size_] = word;
    depths_[size_] = static_cast<unsigned>(std::min<std::size_t>(depth, search_.order() - 1));
  }

  // Gives the score of each place to use(place, log10, length), and begins anew.
  template <class Use>
  void answer(Use&& use) {
    look_up();
    for (unsigned i = 1; i <= size_; ++i) {
      float log10 = probs_[i];
      for (unsigned n = 1; n < Search::kContext + 1; ++n)
        log10 += n >= lengths_[i] && n <= depths_[i] ? backoffs_[n - 1][i - 1] : 0.0f;
      use(i - 1, log10, lengths_[i]);
    }
    for (auto& backoffs : backoffs_) backoffs[0] = backoffs[size_];  // the next block begins after this one
    size_ = 0;
  }

 private:
  void look_up() {
    active_ = 0;
    for (unsigned i = 1; i <= size_; ++i) {
      const NgramValue value = search_.unigram(*words_[i]);
      keys_[i] = key_of(*words_[i]);
      probs_[i] = value.log10();
      lengths_[i] = 1;
      backoffs_[0][i] = value.backoff;
      active_places_[active_] = i;
      active_ += value.extends_left() && depths_[i] > 0 ? 1 : 0;
    }
    for (unsigned n = 2; n <= search_.order(); ++n) {
      if (n < search_.order()) {
        look_up(search_.middle(n), n);
      } else {
        look_up(search_.last(), n);
      }
    }
  }

  template <class Table>
  void look_up(const Table& table, unsigned n) {
    for (unsigned j = 0; j < active_; ++j) {
      const unsigned i = active_places_[j];
      keys_[i] = extend_key(keys_[i], words_[i][1 - static_cast<std::ptrdiff_t>(n)]);
      homes_[j] = table.home(keys_[i]);
      table.prefetch_bucket(homes_[j]);
    }
    float* const backoffs = backoffs_[n - 1];
    std::fill(backoffs + 1, backoffs + size_ + 1, 0.0f);
    unsigned left = 0, again = 0;
    const auto record = [&](unsigned i, const NgramValue& value, bool found) {
      const float probs[2] = {probs_[i], value.log10()}, backoff[2] = {0.0f, value.backoff};
      probs_[i] = probs[found];
      backoffs[i] = backoff[found];
      lengths_[i] += found ? 1 : 0;
      active_places_[left] = i;
      left += found && value.extends_left() && depths_[i] >= n ? 1 : 0;
    };
    const unsigned asked = std::exchange(active_, 0);
    for (unsigned j = 0; j < asked; ++j) {
      const unsigned i = active_places_[j];
      NgramValue value;
      const bool found = table.look(homes_[j], keys_[i], value);
      again_places_[again] = i;
      again += !found && table.continues(homes_[j]) ? 1 : 0;
      record(i, value, found);
    }
    for (unsigned j = 0; j < again; ++j) {
      const unsigned i = again_places_[j];
      NgramValue value;
      if (find(table, keys_[i], value)) record(i, value, true);
    }
    active_ = left;
  }

  const Search& search_;
  unsigned size_ = 0;
  // From 1 on: 0 is the last place of the block before.
  const WordId* words_[kSize + 1];
  unsigned depths_[kSize + 1];
  NgramKey keys_[kSize + 1];
  std::size_t homes_[kSize];  // of the active places' keys
  float probs_[kSize + 1];
  unsigned lengths_[kSize + 1];
  float backoffs_[Search::kContext + 1][kSize + 1] = {};  // by order − 1
  unsigned active_ = 0;
  unsigned active_places_[kSize + 1], again_places_[kSize + 1];
};

// use(log10, length) for each word of the texts in turn.
template <class Search, class Use>
void for_each_word(const Search& search, const NgramFacts& facts, std::span<const WordId> ids,
                   std::span<const std::uint64_t> offsets, TextOptions options, Use&& use) {
  Block<Search> block(search);
  // Texts with their <s> and </s>, as they lie in the block; the words before it that it may need come first.
  constexpr unsigned kBefore = Search::kContext;
  WordId words[kBefore + Block<Search>::kSize];
  bool scored[Block<Search>::kSize];
  const auto answer = [&] {
    const unsigned size = block.size();
    block.answer([&](unsigned i, float log10, unsigned length) {
      if (scored[i]) use(log10, length);
    });
    std::copy(words + size, words + size + kBefore, words);
  };
  const auto add = [&](WordId word, std::size_t depth, bool is_scored) {
    const unsigned i = block.size();
    words[kBefore + i] = word;
    scored[i] = is_scored;
    block.add(words + kBefore + i, depth);
    if (block.full()) answer();
  };
  for (std::size_t text = 0; text + 1 < offsets.size(); ++text) {
    std::size_t depth = 0;
    if (options.begin) add(facts.begin_sentence, depth++, false);
    for (std::size_t i = offsets[text]; i < offsets[text + 1]; ++i) add(ids[i], depth++, true);
    if (options.end) add(facts.end_sentence, depth++, true);
  }
  answer();
}

}  // namespace

std::vector<float> score_texts(const NgramModel& model, std::span<const WordId> ids,
                               std::span<const std::uint64_t> offsets, TextOptions options) {
  const WordScores words = score_words(model, ids, offsets, options);
  std::vector<float> scores(offsets.size() - 1, 0.0f);
  const float* word = words.log10.data();
  for (std::size_t text = 0; text < scores.size(); ++text) {
    const float* const end = word + (offsets[text + 1] - offsets[text]) + (options.end ? 1 : 0);
    for (; word != end; ++word) scores[text] += *word;
  }
  return scores;
}

WordScores score_words(const NgramModel& model, std::span<const WordId> ids, std::span<const std::uint64_t> offsets,
                       TextOptions options) {
  check_offsets(ids, offsets);
  check_ids(model, ids);
  const std::size_t count = ids.size() + (options.end ? offsets.size() - 1 : 0);
  WordScores out{std::vector<float>(count), std::vector<std::uint8_t>(count)};
  model.with_search([&](const auto& search) {
    std::size_t word = 0;
    for_each_word(search, model.facts(), ids, offsets, options, [&](float log10, unsigned length) {
      out.log10[word] = log10;
      out.length[word++] = static_cast<std::uint8_t>(length);
    });
  });
  return out;
}

std::vector<float> score_ngrams(const NgramModel& model, std::span<const WordId> rows, std::size_t width) {
  if (width == 0 || rows.size() % width != 0) throw std::invalid_argument("an n-gram has one word or more");
  check_ids(model, rows);
  std::vector<float> scores(rows.size() / width);
  model.with_search([&]<class Search>(const Search& search) {
    Block<Search> block(search);
    std::size_t answered = 0;
    const auto answer = [&] {
      block.answer([&](unsigned i, float log10, unsigned) {
        if (width == 1 || i % 2 == 1) scores[answered++] = log10;
      });
    };
    // The word before the last is a place for its backoffs alone.
    for (std::size_t row = 0; row < rows.size(); row += width) {
      const WordId* const last = rows.data() + row + width - 1;
      if (width > 1) block.add(last - 1, width - 2);
      block.add(last, width - 1);
      if (block.full()) answer();
    }
    answer();
  });
  return scores;
}

}  // namespace treeglot
