#include "lm/word_classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>

#include "base/held_pages.h"
#include "base/scratch_pages.h"
#include "lm/special_words.h"

namespace treeglot {

namespace {

constexpr std::size_t kRecent = std::size_t{1} << 22;
constexpr std::size_t kBuffer = std::size_t{1} << 20;       // bytes of a file that are read or written at once
constexpr std::size_t kLeastMemory = std::size_t{1} << 22;  // so that a run has a megabyte, and runs stay few
constexpr std::int64_t kMostClasses = 4096;
constexpr double kLeastGain = 1e-7;  // below it a word stays: sums are not exact

// n ln n, from a table while n is small.
class NLogN {
 public:
  NLogN() : table_(std::size_t{1} << 16) {
    for (std::size_t n = 1; n < table_.size(); ++n) table_[n] = static_cast<double>(n) * std::log(n);
  }
  double operator()(std::uint64_t n) const {
    return n < table_.size() ? table_[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
  }

 private:
  std::vector<double> table_;
};

struct Neighbour {
  Symbol word;
  std::uint64_t count;
};

// The neighbours of all words on one side; those of a word stand together. They are in memory, or in a file of a
// folder. Words are looked at in the order of their numbers, so a file is read from end to end.
class Neighbours {
 public:
  Neighbours(std::vector<std::size_t> begin, const std::string* folder) : begin_(std::move(begin)) {
    const std::size_t size = begin_.back();
    if (folder == nullptr || size == 0) {
      here_.resize(size);
      all_ = here_;
    } else {
      pages_ = ScratchPages(size * sizeof(Neighbour), *folder);
      all_ = {reinterpret_cast<Neighbour*>(pages_.writable().data()), size};
    }
  }

  std::span<Neighbour> all() { return all_; }
  std::span<const Neighbour> of(Symbol word) const {
    return all_.subspan(begin_[word], begin_[word + 1] - begin_[word]);
  }
  void release() const { pages_.release(); }

 private:
  std::vector<std::size_t> begin_;  // by word, and the end of the last
  std::vector<Neighbour> here_;
  ScratchPages pages_;
  std::span<Neighbour> all_;
};

// How often classes follow each other, both ways, so that either is a row.
class ClassBigrams {
 public:
  explicit ClassBigrams(std::size_t classes)
      : size_(classes), after_(classes * classes), before_(classes * classes), first_(classes), second_(classes) {}

  void add(std::uint32_t first, std::uint32_t second, std::int64_t count) {
    after_[first * size_ + second] += static_cast<std::uint64_t>(count);
    before_[second * size_ + first] += static_cast<std::uint64_t>(count);
    first_[first] += static_cast<std::uint64_t>(count);
    second_[second] += static_cast<std::uint64_t>(count);
  }
  const std::uint64_t* after(std::uint32_t first) const { return after_.data() + first * size_; }
  const std::uint64_t* before(std::uint32_t second) const { return before_.data() + second * size_; }
  std::uint64_t first(std::uint32_t c) const { return first_[c]; }
  std::uint64_t second(std::uint32_t c) const { return second_[c]; }

  double likelihood(const NLogN& f) const {
    double sum = 0;
    for (const std::uint64_t n : after_) sum += f(n);
    for (const std::uint64_t n : first_) sum -= f(n);
    for (const std::uint64_t n : second_) sum -= f(n);
    return sum;
  }

 private:
  std::size_t size_;
  std::vector<std::uint64_t> after_, before_, first_, second_;
};

class Exchange {
 public:
  // Words will be moved in the order of their numbers. Word 0 is the border and stays.
  // With `held`, pages of files are released when it says that there are many.
  Exchange(Neighbours before, Neighbours after, std::vector<std::uint32_t> classes, std::uint32_t count,
           const std::optional<HeldFiles>& held)
      : held_(held),
        before_(std::move(before)),
        after_(std::move(after)),
        class_of_(std::move(classes)),
        count_(count),
        counts_(count + 1),
        left_(count + 1),
        right_(count + 1),
        gains_(count) {
    for (Symbol word = 0; word < class_of_.size(); ++word) {
      for (const Neighbour& next : after_.of(word)) add(class_of_[word], class_of_[next.word], next.count, 1);
    }
  }

  double likelihood() const { return counts_.likelihood(f_); }
  const std::vector<std::uint32_t>& classes() const { return class_of_; }

  // How many words moved. Calls done(word) now and then.
  template <class Done>
  std::uint64_t improve_all(const Done& done) {
    std::uint64_t moves = 0;
    for (Symbol word = 1; word < class_of_.size(); ++word) {
      if (word % 1024 == 0) done(word);
      moves += improve(word) ? 1u : 0u;
    }
    return moves;
  }

 private:
  // Whether the word moved.
  bool improve(Symbol word) {
    if (held_ && held_->too_many()) {
      before_.release();
      after_.release();
    }
    gather(word);
    const std::uint32_t old = class_of_[word];
    place(old, -1);
    score();
    std::uint32_t best = old;
    double most = gains_[old] + kLeastGain;
    for (std::uint32_t c = 0; c < count_; ++c) {
      if (gains_[c] > most) best = c, most = gains_[c];
    }
    place(best, 1);
    class_of_[word] = best;
    return best != old;
  }

  void add(std::uint32_t first, std::uint32_t second, std::uint64_t count, std::int64_t sign) {
    counts_.add(first, second, sign * static_cast<std::int64_t>(count));
  }

  // How often the word stands after and before each class, without itself.
  void gather(Symbol word) {
    self_ = 0;
    sum(before_.of(word), word, left_, lefts_);
    sum(after_.of(word), word, right_, rights_);
  }
  void sum(std::span<const Neighbour> neighbours, Symbol word, std::vector<std::uint64_t>& counts,
           std::vector<std::uint32_t>& found) {
    for (const std::uint32_t c : found) counts[c] = 0;
    found.clear();
    for (const Neighbour& neighbour : neighbours) {
      if (neighbour.word == word) {
        self_ = neighbour.count;
        continue;
      }
      const std::uint32_t c = class_of_[neighbour.word];
      if (counts[c] == 0) found.push_back(c);
      counts[c] += neighbour.count;
    }
  }

  // Adds the word's bigrams to those of a class, or takes them away.
  void place(std::uint32_t to, std::int64_t sign) {
    for (const std::uint32_t c : lefts_) add(c, to, left_[c], sign);
    for (const std::uint32_t c : rights_) add(to, c, right_[c], sign);
    if (self_ > 0) add(to, to, self_, sign);
  }

  // What the likelihood gains when the word, which is in no class, goes to each.
  void score() {
    std::ranges::fill(gains_, 0.0);
    const auto grown = [&](std::uint64_t now, std::uint64_t more) { return f_(now + more) - f_(now); };
    std::uint64_t before = self_, after = self_;
    for (const std::uint32_t c : lefts_) {
      const std::uint64_t* const row = counts_.after(c);
      for (std::uint32_t to = 0; to < count_; ++to) gains_[to] += grown(row[to], left_[c]);
      before += left_[c];
    }
    for (const std::uint32_t c : rights_) {
      const std::uint64_t* const row = counts_.before(c);
      for (std::uint32_t to = 0; to < count_; ++to) gains_[to] += grown(row[to], right_[c]);
      after += right_[c];
    }
    for (std::uint32_t to = 0; to < count_; ++to) {
      // Both sums above met the bigrams of the class with itself, each with its own part.
      const std::uint64_t now = counts_.after(to)[to];
      gains_[to] += grown(now, left_[to] + right_[to] + self_) - grown(now, left_[to]) - grown(now, right_[to]);
      // The bigrams that were taken away had neighbours in this class, too: these come back wherever the word goes.
      gains_[to] -= grown(counts_.first(to) + left_[to], after) + grown(counts_.second(to) + right_[to], before);
    }
  }

  NLogN f_;
  std::optional<HeldFiles> held_;
  Neighbours before_, after_;
  std::vector<std::uint32_t> class_of_;
  std::uint32_t count_;  // of classes that words can be in; the border's comes after them
  ClassBigrams counts_;
  std::vector<std::uint64_t> left_, right_;    // of the word at hand, by class
  std::vector<std::uint32_t> lefts_, rights_;  // classes where these are not 0
  std::uint64_t self_ = 0;                     // how often the word follows itself
  std::vector<double> gains_;
};

}  // namespace

WordClasses::WordClasses(const Strings& words, std::vector<std::uint32_t> classes) : classes_(std::move(classes)) {
  if (words.size() != classes_.size()) {
    throw std::invalid_argument(std::to_string(words.size()) + " words and " + std::to_string(classes_.size()) +
                                " classes; expected one for each");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::ranges::find(kSpecialWords, words[i]) != std::end(kSpecialWords))
      throw std::invalid_argument("'" + std::string(words[i]) + "' " + std::string(kOwnWord));
    if (words_.intern(words[i]) != i)
      throw std::invalid_argument("the word '" + std::string(words[i]) + "' comes twice");
  }
}

void WordClassOptions::check() const {
  if (classes < 1 || classes > kMostClasses) {
    throw std::invalid_argument("classes is " + std::to_string(classes) + "; expected 1 to " +
                                std::to_string(kMostClasses));
  }
  if (rounds < 1) throw std::invalid_argument("rounds is " + std::to_string(rounds) + "; expected at least 1");
}

WordClassTrainer::WordClassTrainer(WordClassOptions options, std::size_t memory, std::string folder)
    : options_(options), memory_(memory == 0 ? 0 : std::max(memory, kLeastMemory)), folder_(std::move(folder)) {
  words_.intern("");
}

std::string_view WordClassTrainer::add_word(std::string_view text) {
  if (std::ranges::find(kSpecialWords, text) != std::end(kSpecialWords)) return kOwnWord;
  const Symbol word = words_.intern(text);
  count(last_, word);
  last_ = word;
  ++tokens_;
  return {};
}

void WordClassTrainer::count(Symbol first, Symbol second) {
  recent_.push_back(std::uint64_t{first} << 32 | second);
  // A quarter of the memory is for these, one for those that are counted, and half for merging both.
  const std::size_t most = memory_ == 0 ? std::numeric_limits<std::size_t>::max() : memory_ / 4 / sizeof(std::uint64_t);
  if (recent_.size() < std::min(std::max(kRecent, bigrams_.size()), most)) return;  // so that merging stays linear
  compact();
  if (memory_ != 0 && bigrams_.size() * sizeof(Bigram) > memory_ / 4) spill();
}

void WordClassTrainer::spill() {
  if (!file_) file_.emplace(folder_);
  ScratchWriter writer(*file_, kBuffer);
  for (const Bigram& bigram : bigrams_) {
    writer.put64(bigram.pair);
    writer.put64(bigram.count);
  }
  writer.flush();
  ends_.push_back(file_->size());
  bigrams_ = {};
}

void WordClassTrainer::merge_runs() {
  compact();
  recent_ = {};
  if (!file_) return;
  spill();
  const std::size_t buffer = std::clamp<std::size_t>(memory_ / 2 / ends_.size(), 1 << 12, kBuffer);
  std::vector<ScratchReader> readers;
  using Least = std::pair<std::uint64_t, std::size_t>;  // the pair at hand, and its run
  std::priority_queue<Least, std::vector<Least>, std::greater<>> heap;
  const auto push = [&](std::size_t run) {
    if (readers[run].get() != nullptr) heap.emplace(get64(readers[run].get()), run);
  };
  for (std::size_t run = 0; run < ends_.size(); ++run) {
    readers.emplace_back(*file_, run == 0 ? 0 : ends_[run - 1], ends_[run], kRecord, buffer);
    push(run);
  }
  ScratchFile merged(folder_);
  ScratchWriter writer(merged, kBuffer);
  while (!heap.empty()) {
    const std::uint64_t pair = heap.top().first;
    std::uint64_t count = 0;
    while (!heap.empty() && heap.top().first == pair) {
      const std::size_t run = heap.top().second;
      heap.pop();
      count += get64(readers[run].get() + 2);
      readers[run].advance();
      push(run);
    }
    writer.put64(pair);
    writer.put64(count);
  }
  writer.flush();
  file_ = std::move(merged);
}

template <class Take>
void WordClassTrainer::for_each(const Take& take) const {
  for (const Bigram& bigram : bigrams_) take(bigram);
  if (!file_) return;
  for (ScratchReader reader(*file_, 0, file_->size(), kRecord, kBuffer); reader.get() != nullptr; reader.advance())
    take(Bigram{get64(reader.get()), get64(reader.get() + 2)});
}

void WordClassTrainer::compact() {
  std::ranges::sort(recent_);
  std::vector<Bigram> merged;
  auto old = bigrams_.begin();
  for (auto at = recent_.begin(); at != recent_.end();) {
    const auto next = std::upper_bound(at, recent_.end(), *at);
    while (old != bigrams_.end() && old->pair < *at) merged.push_back(*old++);
    auto count = static_cast<std::uint64_t>(next - at);
    if (old != bigrams_.end() && old->pair == *at) count += (old++)->count;
    merged.push_back({*at, count});
    at = next;
  }
  merged.insert(merged.end(), old, bigrams_.end());
  bigrams_ = std::move(merged);
  recent_.clear();
}

WordClassTrainer::Result WordClassTrainer::finish(const Progress& progress) {
  merge_runs();
  const std::size_t size = words_.size();
  std::vector<std::uint64_t> frequency(size);
  for_each([&](const Bigram& bigram) { frequency[static_cast<Symbol>(bigram.pair)] += bigram.count; });
  std::vector<Symbol> order(size - 1);  // more frequent words first, and of equal ones the earlier
  std::iota(order.begin(), order.end(), Symbol{1});
  std::ranges::stable_sort(order, [&](Symbol a, Symbol b) { return frequency[a] > frequency[b]; });
  std::vector<Symbol> rank(size);
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<Symbol>(i + 1);

  const auto held_files = [&] {
    return file_ ? std::optional<HeldFiles>(std::max<std::size_t>(memory_ / 4, kHeldBytes)) : std::nullopt;
  };
  // Words are numbered by rank from here on.
  const auto neighbours = [&](bool forward) {
    std::vector<std::size_t> begin(size + 1);
    const auto ends = [&](const Bigram& bigram) {
      const Symbol first = rank[bigram.pair >> 32], second = rank[static_cast<Symbol>(bigram.pair)];
      return forward ? std::pair(first, second) : std::pair(second, first);
    };
    for_each([&](const Bigram& bigram) { ++begin[ends(bigram).first + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
    Neighbours out(std::move(begin), file_ ? &folder_ : nullptr);
    std::optional<HeldFiles> held = held_files();
    std::size_t written = 0;
    for_each([&](const Bigram& bigram) {
      const auto [word, neighbour] = ends(bigram);
      out.all()[at[word]++] = {neighbour, bigram.count};
      // Each may be on another page.
      if (held && ++written % 64 == 0 && held->too_many()) out.release();
    });
    return out;
  };
  const auto classes = static_cast<std::uint32_t>(options_.classes);
  std::vector<std::uint32_t> class_of(size, classes);
  for (std::size_t i = 1; i < size; ++i) class_of[i] = static_cast<std::uint32_t>((i - 1) % classes);
  Neighbours before = neighbours(false), after = neighbours(true);
  bigrams_ = {};
  Exchange exchange(std::move(before), std::move(after), std::move(class_of), classes, held_files());

  const NLogN f;
  double constant = 0;  // of the words given their classes
  for (const std::uint64_t n : frequency) constant += f(n);
  Result result;
  result.likelihoods.push_back(exchange.likelihood() + constant);
  for (std::int64_t round = 0; round < options_.rounds; ++round) {
    const std::uint64_t moves = exchange.improve_all([&](Symbol word) {
      progress("moving", static_cast<std::uint64_t>(round) * size + word,
               static_cast<std::uint64_t>(options_.rounds) * size);
    });
    result.moves.push_back(moves);
    result.likelihoods.push_back(exchange.likelihood() + constant);
    if (moves == 0) break;
  }
  for (const Symbol word : order) result.words.append(words_.text(word));
  result.classes.assign(exchange.classes().begin() + 1, exchange.classes().end());
  return result;
}

}  // namespace treeglot
