// A sentence in, its translations out: matcher, search, k-best and reading put together, for a batch and many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "decode/cube.h"
#include "decode/derivation.h"
#include "decode/feature_set.h"
#include "decode/matcher.h"
#include "decode/target_constraints.h"
#include "decode/terms.h"

namespace treeglot {

// Words that were split already: nothing in them is markup.
using Tokens = std::vector<std::string>;

// One sentence to be translated: a line of tokens, the tokens, what a parser made of it, or several ways to read it.
// The last has both of these.
using Source = std::variant<std::string, Tokens, std::shared_ptr<ParseForest>, std::shared_ptr<Dependency>,
                            std::shared_ptr<Lattice>, std::shared_ptr<LatticeForest>>;

struct DecoderOptions {
  SearchOptions search;
  std::uint32_t per_source = 20;  // target sides tried for a source side; 0: all
  bool markup = false;            // <x translation="…">…</x> in a line says how to translate a part of it
};

// Translations that a learner hopes for, of high score and high gain, and that it fears, of high score and low gain.
// A gain is what a translation would add to the corpus's BLEU, which is taken for linear in its words and n-grams.
struct HopeOptions {
  std::uint32_t size = 10;       // of each list
  double scale = 1;              // of scores beside gains
  double per_word = 0;           // what a word gains
  std::vector<double> by_order;  // what an n-gram of a reference gains
  bool fold = false;             // capitals of ASCII are taken for small letters; references have none
  double margin = 5;             // derivations that score so far below the best are left out
  std::uint32_t beam = 10;       // parts of a hypothesis that differ in the words at their ends; 0: all
  bool fears = true;             // beside hopes
};
// Texts with their shares: an n-gram gains by the shares of the texts that have it, together at most 1.
using SentenceReferences = std::vector<std::pair<std::string, double>>;

struct TranslateOptions {
  std::uint32_t kbest = 1;
  bool distinct = false;                           // of the derivations with one text only the best
  bool brief = false;                              // hypotheses have their scores, texts and features alone
  const HopeOptions* hopes = nullptr;              // hopes and fears follow the best
  const SentenceReferences* references = nullptr;  // that they are measured by
};

using SharedConstraints = std::shared_ptr<const TargetConstraints>;  // nullptr: none

struct Translation {
  Source given;
  // That spans count: without markup; of a lattice those of the best path; none of a line that was refused.
  std::vector<std::string> words;
  std::vector<std::shared_ptr<Hypothesis>> hypotheses;  // best first; none for an empty line or one that was refused
  std::string problem;                                  // why the line was refused
  std::vector<std::string> notes;                       // what the matcher wants to be counted
  std::optional<Dependency> tree;  // what was translated, if that is a dependency tree: repaired, or made of a forest
  double seconds = 0;              // CPU time
  std::uint64_t search = 0;        // its number among all searches; 0 if it was not searched here
  SharedConstraints constraints = nullptr;  // that the search kept to
  Terms asked;                              // beside the line
  std::vector<Mark> marks;                  // all that were given, those of the line's markup too
};

// Threads may share a decoder. Its workers, each with scored rules, wait between calls for the next sentence.
//
// After a sentence that was translated alone, a worker keeps its search until the next sentence. So a k-best list or a
// forest right after it needs no new search. A search of a long sentence has tens of megabytes: a translation that held
// its own would make lists of translations unbounded. After another sentence, and after a batch, the search is
// repeated; it finds the same.
class Decoder {
 public:
  // `weights` by feature name; those of features that do not exist are listed in unknown_weights(). Freezes `features`.
  Decoder(std::shared_ptr<const FeatureSet> features, std::shared_ptr<const Matcher> matcher,
          std::span<const std::pair<std::string, double>> weights, const DecoderOptions& options);
  ~Decoder();

  const FeatureSet& features() const { return *features_; }
  std::span<const std::string> unknown_weights() const { return unknown_weights_; }

  // A sentence that cannot be translated has a problem; only lack of memory ends the call.
  Translation translate(const Source& source, const SharedConstraints& constraints = nullptr,
                        const Terms& terms = {}) const;
  // Results in the order of the sources, the same for any number of threads. `constraints` and `terms` are those of
  // each source, or none at all.
  std::vector<Translation> translate(std::span<const Source> sources, std::span<const SharedConstraints> constraints,
                                     std::span<const Terms> terms, const TranslateOptions& options,
                                     unsigned threads) const;
  // Like translate(). Each list ends with hopes and fears, by the references of its sentence.
  std::vector<Translation> translate_with_hopes(std::span<const Source> sources,
                                                std::span<const SentenceReferences> references,
                                                const HopeOptions& hopes, const TranslateOptions& options,
                                                unsigned threads) const;

  // The largest parts of a target sentence that rules give for parts of a source sentence, without overlap.
  std::vector<ReachedPart> reached(const Source& source, const std::vector<std::string>& target) const;

  // The k-best list of a translation. Empty for a translation without hypotheses.
  std::vector<std::shared_ptr<Hypothesis>> kbest(const Translation& of, const TranslateOptions& options) const;
  // For each step of the best derivation, the best one that does not use its rule there. It is nullptr for local rules,
  // and where the search kept no other.
  std::vector<std::shared_ptr<Hypothesis>> runners_up(const Translation& of) const;
  // The search forest of a translation, within `margin` of the best derivation.
  std::optional<SearchGraph> graph(const Translation& of, double margin) const;

 private:
  struct Worker;
  struct Searched;
  class Lease;
  struct Matched;
  void check_lattice(bool reads, const char* what, const Terms& terms) const;
  std::optional<Matched> match(const Source& source, const Terms& terms, Worker& worker) const;
  Reading reading_of(const Matched& matched, Worker& worker) const;
  void meet(const TargetConstraints& constraints, const Terms& terms, Matched& matched, Worker& worker) const;
  void search(const Source& source, const SharedConstraints& constraints, const Terms& terms, bool best_only,
              Worker& worker) const;
  Translation translate(const Source& source, const SharedConstraints& constraints, const Terms& terms,
                        const TranslateOptions& options, bool keep) const;
  std::vector<std::shared_ptr<Hypothesis>> read(const Worker& worker, const TranslateOptions& options) const;
  void read_hopes(const Worker& worker, const TranslateOptions& options,
                  std::vector<std::shared_ptr<Hypothesis>>& out) const;
  Lease searched(const Translation& of) const;

  std::shared_ptr<const FeatureSet> features_;
  std::shared_ptr<const Matcher> matcher_;
  std::vector<float> weights_;
  DynamicWeights dynamic_weights_;
  std::vector<std::string> unknown_weights_;
  DecoderOptions options_;
  mutable std::mutex mutex_;  // of the workers that wait
  mutable std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace treeglot
