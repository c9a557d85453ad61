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

std::vector<Constraint> constraints(const MarkedSentence& sentence, Glue& glue) {
  std::vector<Constraint> out;
  for (const MarkedSentence::Part& part : sentence.parts) {
    out.push_back({part.span, {}});
    for (const std::string& translation : part.translations) {
      std::vector<std::int32_t> target;
      for (const std::string& word : read_sentence(translation, false).words) target.push_back(glue.target_word(word));
      out.back().translations.push_back(std::move(target));
    }
  }
  return out;
}

}  // namespace

struct Decoder::Worker {
  explicit Worker(const Decoder& decoder)
      : scorer(decoder.features_->make(), decoder.weights_, &decoder.dynamic_weights_),
        cache(decoder.table(), decoder.space(), scorer, decoder.options_.per_source),
        glue(decoder.table(), decoder.space(), scorer.weights()) {}

  Scorer scorer;
  RuleCache cache;
  Glue glue;
};

// What becomes of one sentence that has words; `input` looks into `sentence`.
struct Decoder::Searched {
  MarkedSentence sentence;
  Input input;
  TranslationForest forest;
  std::shared_ptr<const SearchForest> found;
};

Decoder::Decoder(std::shared_ptr<const FeatureSet> features, std::shared_ptr<const Matcher> matcher,
                 std::span<const std::pair<std::string, float>> weights, const DecoderOptions& options)
    : features_(std::move(features)),
      matcher_(std::move(matcher)),
      weights_(space().names().size(), 0.0f),
      numbers_(weights_.size()),
      options_(options) {
  for (const auto& [name, weight] : weights) {
    const Symbol id = space().names().find(name);
    if (id != Symbols::kNone) {
      weights_[id] = weight;
    } else if (const auto dynamic = features_->families().find(name, table())) {
      dynamic_weights_.add(*dynamic, weight);
    } else if (!features_->families().owns(name)) {
      unknown_weights_.push_back(name);
    }
  }
}

std::vector<Translation> Decoder::translate(std::span<const Source> sources, const TranslateOptions& options,
                                            unsigned threads) const {
  std::vector<Translation> out(sources.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    Worker worker(*this);
    for (std::size_t i; (i = next.fetch_add(1)) < sources.size();) {
      const double start = thread_seconds();
      try {
        out[i] = translate(sources[i], options, worker);
      } catch (const std::exception& error) {
        out[i].problem = error.what();  // one bad sentence never ends a run of many
      }
      out[i].seconds = thread_seconds() - start;
    }
  };
  if (threads <= 1 || sources.size() <= 1) {
    work();
  } else {
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
  }
  for (Translation& translation : out)
    for (Hypothesis& hypothesis : translation.kbest) numbers_.number(hypothesis.features);
  return out;
}

std::vector<std::string> Decoder::feature_names(std::size_t begin) const {
  std::vector<std::string> out;
  for (std::size_t id = begin; id < weights_.size(); ++id)
    out.emplace_back(space().names().text(static_cast<Symbol>(id)));
  for (const FeatureId id : numbers_.from(begin)) out.push_back(features_->families().name(id, table()));
  return out;
}

std::optional<Decoder::Searched> Decoder::search(const Source& source, bool best_only, Worker& worker) const {
  worker.cache.trim();
  worker.glue.begin_sentence();
  MarkedSentence sentence;
  Input input;
  if (const std::string* const line = std::get_if<std::string>(&source)) {
    sentence = read_sentence(*line, options_.markup);
    input.words.assign(sentence.words.begin(), sentence.words.end());
    input.constraints = constraints(sentence, worker.glue);
  } else if (const auto forest = std::get_if<const ParseForest*>(&source)) {
    input.forest = *forest;
    for (std::size_t i = 0; i < input.forest->words(); ++i) input.words.push_back(input.forest->word(i));
  } else {
    input.dependency = std::get<const Dependency*>(source);
    for (std::size_t i = 0; i < input.dependency->size(); ++i) input.words.push_back(input.dependency->words()[i]);
  }
  if (input.words.empty()) return std::nullopt;
  if (matcher_->marked()) {
    input.words.insert(input.words.begin(), "<s>");
    input.words.emplace_back("</s>");
    for (Constraint& constraint : input.constraints)
      constraint.span = {constraint.span.begin + 1, constraint.span.end + 1};
  }
  TranslationForest forest = matcher_->match(input, worker.cache, worker.glue);
  worker.scorer.begin_sentence(worker.glue.first_word(), worker.glue.words());
  SearchOptions options = options_.search;
  options.best_only = best_only;
  auto found = std::make_shared<SearchForest>(treeglot::search(forest, worker.scorer, options));
  if (!found->found()) throw std::runtime_error("no derivation covers the sentence");
  return Searched{std::move(sentence), std::move(input), std::move(forest), std::move(found)};
}

Translation Decoder::translate(const Source& source, const TranslateOptions& options, Worker& worker) const {
  const std::optional<Searched> searched = search(source, options.kbest <= 1, worker);
  Translation out;
  if (!searched) {
    if (!std::holds_alternative<std::string>(source)) out.notes.push_back("a failed parse, without words");
    return out;
  }
  const auto& [sentence, input, forest, found] = *searched;
  out.notes = forest.notes;
  out.tree = forest.tree;
  const Reading reading(table(), space(), worker.scorer, worker.glue, forest, *found, input.words, features_->trees());
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

std::optional<SearchGraph> Decoder::graph(const Source& source, double margin) const {
  Worker worker(*this);
  const std::optional<Searched> searched = search(source, false, worker);
  if (!searched) return std::nullopt;
  const auto& [sentence, input, forest, found] = *searched;
  const Reading reading(table(), space(), worker.scorer, worker.glue, forest, *found, input.words, features_->trees());
  SearchGraph out = search_graph(reading, found, margin);
  numbers_.number(out.features);
  return out;
}

}  // namespace treeglot
