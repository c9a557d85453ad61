#include "decode/decoder.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "decode/markup.h"
#include "graph/kbest.h"

namespace treeglot {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The target sides of a search forest's edges, as the k-best enumeration compares them.
struct EdgeYields {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::int32_t> symbols;

  EdgeYields(const TranslationForest& forest, const SearchForest& found) {
    for (std::size_t edge = 0; edge < found.forest_edge.size(); ++edge) {
      const TargetSide& target = forest.alternatives[found.forest_edge[edge]][found.alternative[edge]].target;
      symbols.insert(symbols.end(), target.begin(), target.end());
      first.push_back(static_cast<std::uint32_t>(symbols.size()));
    }
  }
  Yields view() const { return {first, symbols}; }
};

Derivation best_derivation(const TranslationForest& forest, const SearchForest& found) {
  Derivation out{found.score[found.goal], {}};
  std::vector<NodeId> open = {found.goal};
  while (!open.empty()) {
    const EdgeId edge = found.first_edge[open.back()];  // the best comes first
    open.pop_back();
    out.edges.push_back(edge);
    const std::size_t arity = forest.graph.tails(found.forest_edge[edge]).size();
    for (std::size_t tail = arity; tail-- > 0;) open.push_back(found.tails[found.first_tail[edge] + tail]);
  }
  return out;
}

}  // namespace

struct Decoder::Worker {
  explicit Worker(const Decoder& decoder)
      : scorer(decoder.features_(), decoder.weights_),
        cache(*decoder.table_, decoder.space_, scorer, decoder.options_.per_source),
        glue(*decoder.table_, decoder.space_, scorer.weights()) {}

  Scorer scorer;
  RuleCache cache;
  Glue glue;
};

Decoder::Decoder(std::shared_ptr<const RuleTable> table, FeatureSpace space, FeatureFactory features,
                 std::span<const std::pair<std::string, float>> weights, const DecoderOptions& options)
    : table_(std::move(table)),
      space_(std::move(space)),
      features_(std::move(features)),
      weights_(space_.names().size(), 0.0f),
      options_(options),
      matcher_(*table_, options.chart) {
  for (const auto& [name, weight] : weights) {
    const Symbol id = space_.names().find(name);
    if (id == Symbols::kNone) {
      unknown_weights_.push_back(name);
    } else {
      weights_[id] = weight;
    }
  }
}

std::vector<Translation> Decoder::translate(std::span<const std::string> lines, const TranslateOptions& options,
                                            unsigned threads) const {
  std::vector<Translation> out(lines.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    Worker worker(*this);
    for (std::size_t i; (i = next.fetch_add(1)) < lines.size();) {
      const double start = thread_seconds();
      try {
        out[i] = translate(lines[i], options, worker);
      } catch (const std::exception& error) {
        out[i].problem = error.what();  // one bad sentence never ends a run of many
      }
      out[i].seconds = thread_seconds() - start;
    }
  };
  if (threads <= 1 || lines.size() <= 1) {
    work();
  } else {
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
  }
  return out;
}

Translation Decoder::translate(std::string_view line, const TranslateOptions& options, Worker& worker) const {
  const MarkedSentence sentence = read_sentence(line, options_.markup);
  Translation out;
  if (sentence.words.empty()) return out;
  worker.cache.trim();
  worker.glue.begin_sentence();
  const std::vector<std::string_view> words(sentence.words.begin(), sentence.words.end());
  std::vector<Constraint> constraints;
  for (const MarkedSentence::Part& part : sentence.parts) {
    constraints.push_back({part.span, {}});
    for (const std::string& translation : part.translations) {
      std::vector<std::int32_t> target;
      for (const std::string& word : read_sentence(translation, false).words)
        target.push_back(worker.glue.target_word(word));
      constraints.back().translations.push_back(std::move(target));
    }
  }
  const TranslationForest forest = matcher_.match(words, constraints, worker.cache, worker.glue);
  worker.scorer.begin_sentence(worker.glue.first_word(), worker.glue.words());
  const auto found = std::make_shared<SearchForest>(search(forest, worker.scorer, options_.search));
  if (!found->found()) throw std::runtime_error("no derivation covers the sentence");
  const Reading reading(*table_, space_, worker.scorer, worker.glue, forest, *found, words);
  if (options.kbest <= 1) {
    out.kbest.push_back(reading.read(best_derivation(forest, *found)));
    return out;
  }
  std::optional<EdgeYields> yields;
  if (options.distinct) yields.emplace(forest, *found);
  KBest best(graph_of(found), found->step, yields ? std::optional<Yields>(yields->view()) : std::nullopt);
  while (out.kbest.size() < options.kbest) {
    const std::optional<Derivation> derivation = best.next();
    if (!derivation) break;
    out.kbest.push_back(reading.read(*derivation));
  }
  return out;
}

}  // namespace treeglot
