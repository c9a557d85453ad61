#include "decode/decoder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/thread_pool.h"
#include "decode/brief_reading.h"
#include "decode/markup.h"
#include "graph/kbest.h"
#include "graph/ngram_gains.h"
#include "graph/rewrite.h"

namespace treeglot {
namespace {

// A number that no other search has, whatever its decoder.
std::uint64_t new_search() {
  static std::atomic<std::uint64_t> searches = 0;
  return ++searches;
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
  // Of edges that came of others; those that a stage made itself give what their tail gives.
  EdgeYields(const EdgeYields& others, std::span<const EdgeId> edges) {
    for (const EdgeId edge : edges) {
      if (edge == kNoEdge) {
        symbols.push_back(-1);
      } else {
        const auto yield = others.view()[edge];
        symbols.insert(symbols.end(), yield.begin(), yield.end());
      }
      first.push_back(static_cast<std::uint32_t>(symbols.size()));
    }
  }
  // The same with other numbers for words.
  template <class Number>
  EdgeYields renumbered(const Number& number) const {
    EdgeYields out = *this;
    for (std::int32_t& symbol : out.symbols)
      if (symbol >= 0) symbol = number(symbol);
    return out;
  }
  Yields view() const { return {first, symbols}; }
};

// Reads derivations of one sentence, in full or in brief.
class Reader {
 public:
  Reader(const Reading& reading, bool brief) : reading_(reading) {
    if (brief) brief_.emplace(reading);
  }
  std::shared_ptr<Hypothesis> read(const Derivation& derivation) {
    return std::make_shared<Hypothesis>(brief_ ? brief_->read(derivation) : reading_.read(derivation));
  }

 private:
  const Reading& reading_;
  std::optional<BriefReading> brief_;
};

// The words of references by number, from 1 on; all other words are 0.
class ReferenceWords {
 public:
  ReferenceWords(const SentenceReferences& references, bool fold) : fold_(fold) {
    for (const auto& [text, share] : references) {
      auto& [sentence, whose] = sentences_.emplace_back();
      whose = share;
      for (const std::string& word : read_sentence(text, false).words)
        sentence.push_back(static_cast<std::int32_t>(words_.intern(word)) + 1);
    }
  }
  const std::vector<std::pair<std::vector<std::int32_t>, double>>& sentences() const { return sentences_; }
  std::int32_t number(std::string_view word) const {
    std::string folded(word);
    if (fold_)
      for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const Symbol known = words_.find(folded);
    return known == Symbols::kNone ? 0 : static_cast<std::int32_t>(known) + 1;
  }

 private:
  bool fold_;
  Symbols words_;
  std::vector<std::pair<std::vector<std::int32_t>, double>> sentences_;  // with their shares
};

// The derivation of the goal that takes edge_of(hypothesis) at each hypothesis.
template <class EdgeOf>
Derivation derivation_by(const TranslationForest& forest, const SearchForest& found, double score,
                         const EdgeOf& edge_of) {
  Derivation out{score, {}};
  std::vector<NodeId> open = {found.goal};
  while (!open.empty()) {
    const EdgeId edge = edge_of(open.back());
    open.pop_back();
    out.edges.push_back(edge);
    const std::size_t arity = forest.graph.tails(found.forest_edge[edge]).size();
    for (std::size_t tail = arity; tail-- > 0;) open.push_back(found.tails[found.first_tail[edge] + tail]);
  }
  return out;
}

Derivation best_derivation(const TranslationForest& forest, const SearchForest& found) {
  const auto first = [&](NodeId hypothesis) { return found.first_edge[hypothesis]; };  // the best comes first
  return derivation_by(forest, found, found.score[found.goal], first);
}

// The best derivation without the rule of `used`, an edge of the search forest, on the same words with the same label.
std::optional<Derivation> best_without(const TranslationForest& forest, const SearchForest& found, EdgeId used) {
  const auto rule_of = [&](EdgeId edge) {
    return forest.alternatives[found.forest_edge[edge]][found.alternative[edge]].rule;
  };
  const auto grammar_of = [&](EdgeId edge) {
    return forest.parts == nullptr ? 0 : forest.origin[found.forest_edge[edge]].part;
  };
  const NodeId at = forest.graph.head(found.forest_edge[used]);
  const auto excluded = [&](EdgeId edge) {
    if (rule_of(edge) != rule_of(used) || grammar_of(edge) != grammar_of(used)) return false;
    const NodeId node = forest.graph.head(found.forest_edge[edge]);
    return forest.spans[node].begin == forest.spans[at].begin && forest.spans[node].end == forest.spans[at].end &&
           forest.labels[node] == forest.labels[at];
  };
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> best(found.score.size(), kNone);
  std::vector<EdgeId> chosen(best.size(), kNoEdge);
  for (NodeId hypothesis = 0; hypothesis < best.size(); ++hypothesis) {
    for (EdgeId edge = found.first_edge[hypothesis]; edge < found.first_edge[hypothesis + 1]; ++edge) {
      if (excluded(edge)) continue;
      double score = found.step[edge];
      for (std::uint32_t tail = found.first_tail[edge]; tail < found.first_tail[edge + 1]; ++tail)
        score += best[found.tails[tail]];
      if (score <= best[hypothesis]) continue;
      best[hypothesis] = score;
      chosen[hypothesis] = edge;
    }
  }
  if (best[found.goal] == kNone) return std::nullopt;
  return derivation_by(forest, found, best[found.goal], [&](NodeId hypothesis) { return chosen[hypothesis]; });
}

std::vector<Constraint> given_translations(std::span<const Mark> marks, Glue& glue) {
  std::vector<Constraint> out;
  for (const Mark& mark : marks) {
    out.push_back({mark.span, {}, mark.required, mark.bonus});
    for (const std::string& translation : mark.translations) {
      std::vector<std::int32_t> target;
      for (const std::string& word : read_sentence(translation, false).words) target.push_back(glue.target_word(word));
      out.back().translations.push_back(std::move(target));
    }
  }
  return out;
}

// The marks of a line and those that were given beside it, as far as they do not overlap the line's own.
std::vector<Mark> joined(std::vector<Mark> marks, std::span<const Mark> more, std::size_t words) {
  const std::size_t own = marks.size();
  for (const Mark& mark : more) {
    if (mark.span.begin >= mark.span.end || mark.span.end > words)
      throw std::invalid_argument("a mark over [" + std::to_string(mark.span.begin) + "," +
                                  std::to_string(mark.span.end) + ") of " + std::to_string(words) + " words");
    const auto overlaps = [&](const Mark& other) {
      return other.span.begin < mark.span.end && mark.span.begin < other.span.end;
    };
    if (std::none_of(marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(own), overlaps)) marks.push_back(mark);
  }
  std::ranges::stable_sort(marks, {}, [](const Mark& mark) { return mark.span.begin; });
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (marks[i].span.begin < marks[i - 1].span.end)
      throw std::invalid_argument("two marks cover word " + std::to_string(marks[i].span.begin) + "; expected one");
  }
  return marks;
}

// The phrases whose words all appear in a forest: no output has another.
std::vector<std::vector<std::string>> possible(std::span<const std::string> phrases, const TranslationForest& forest,
                                               const Glue& glue) {
  std::vector<std::vector<std::string>> known;
  if (phrases.empty()) return known;  // the usual case: there is no need to look at the forest
  std::vector<std::int32_t> numbers;  // of all their words
  for (const std::string& phrase : phrases) {
    std::vector<std::string> words = read_sentence(phrase, false).words;
    const std::size_t before = numbers.size();
    for (const std::string& word : words) numbers.push_back(glue.find_word(word));
    if (words.empty() || std::ranges::count(numbers.begin() + static_cast<std::ptrdiff_t>(before), numbers.end(), -1)) {
      numbers.resize(before);
    } else {
      known.push_back(std::move(words));
    }
  }
  const std::vector<bool> there = words_there(forest, numbers);
  auto next = there.begin();
  std::erase_if(known, [&](const auto& words) {
    const auto begin = std::exchange(next, next + static_cast<std::ptrdiff_t>(words.size()));
    return std::find(begin, next, false) != next;
  });
  return known;
}

bool is_parse(const Source& source) {
  return std::holds_alternative<std::shared_ptr<ParseForest>>(source) ||
         std::holds_alternative<std::shared_ptr<Dependency>>(source) ||
         std::holds_alternative<std::shared_ptr<LatticeForest>>(source);
}

// Tokens that a line could have, too.
const Tokens& checked(const Tokens& tokens) {
  for (const std::string& token : tokens) {
    if (const Tokens words = read_sentence(token, false).words; words.size() != 1 || words[0] != token)
      throw std::invalid_argument(quoted(token) + " is not a token; expected text without blanks");
  }
  return tokens;
}

}  // namespace

// A sentence that has words, with the rules that meet it; `input` looks into `source` and `sentence`.
struct Decoder::Matched {
  Source source;
  MarkedSentence sentence;
  Input input;
  TranslationForest forest;
};

struct Decoder::Searched : Matched {
  std::shared_ptr<const SearchForest> found;
};

struct Decoder::Worker {
  explicit Worker(const Decoder& decoder)
      : scorer(decoder.features_->make(), decoder.weights_, &decoder.dynamic_weights_),
        searcher(scorer),
        cache(cache_of(*decoder.features_, decoder)),
        glue(decoder.features_->words(), decoder.features_->space(), scorer.weights()) {
    for (const auto& part : decoder.features_->parts()) cache.add_part(cache_of(*part, decoder));
  }

  RuleCache cache_of(const FeatureSet& features, const Decoder& decoder) const {
    return {features.table(),
            features.space(),
            features.renumbered(),
            scorer,
            decoder.options_.per_source,
            decoder.features_->affiliates()};
  }

  Reading reading(const Decoder& decoder) const {
    return {decoder.features_, scorer, glue, last->forest, *last->found, last->input};
  }

  Scorer scorer;
  CubeSearch searcher;
  RuleCache cache;
  Glue glue;
  std::optional<Searched> last;  // its rules are in the cache and the glue; nothing for an empty line
  std::uint64_t search = 0;      // its number, if it is kept for what is asked next
};

// A worker for one sentence: that of the search asked for, the one that waited least, or a new one. It waits for the
// next sentence afterwards, unless there are as many as the machine has cores already. One that an exception stopped in
// its work, as lack of memory does, is given up.
class Decoder::Lease {
 public:
  explicit Lease(const Decoder& decoder, std::uint64_t search = 0) : decoder_(decoder) {
    {
      const std::lock_guard lock(decoder.mutex_);
      auto& idle = decoder.idle_;
      const auto kept = std::ranges::find(idle, search, [](const auto& worker) { return worker->search; });
      if (search != 0 && kept != idle.end()) std::rotate(kept, kept + 1, idle.end());
      if (!idle.empty()) {
        worker_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (worker_ == nullptr) worker_ = std::make_unique<Worker>(decoder);
  }
  Lease(Lease&&) = default;
  ~Lease() {
    if (worker_ == nullptr || std::uncaught_exceptions() > exceptions_) return;
    if (worker_->search == 0) worker_->last.reset();
    const std::lock_guard lock(decoder_.mutex_);
    // Within what was reserved: taking more memory could fail here, where nobody can be told.
    if (decoder_.idle_.size() < decoder_.idle_.capacity()) decoder_.idle_.push_back(std::move(worker_));
  }
  Worker& operator*() const { return *worker_; }
  Worker* operator->() const { return worker_.get(); }

 private:
  const Decoder& decoder_;
  std::unique_ptr<Worker> worker_;
  int exceptions_ = std::uncaught_exceptions();
};

Decoder::Decoder(std::shared_ptr<const FeatureSet> features, std::shared_ptr<const Matcher> matcher,
                 std::span<const std::pair<std::string, double>> weights, const DecoderOptions& options)
    : features_(std::move(features)),
      matcher_(std::move(matcher)),
      weights_(features_->space().names().size(), 0.0f),
      options_(options) {
  if (!features_->grammar().empty())
    throw std::invalid_argument("the features are those of " + features_->grammar() +
                                ", one of several grammars; expected the features of all");
  // Of a bonus that the user chose, and of what a lattice says of its paths; weights may say otherwise.
  weights_[features_->space().preferred()] = weights_[features_->space().lattice()] = 1;
  features_->freeze();
  idle_.reserve(std::max(1u, std::thread::hardware_concurrency()));
  for (const auto& [name, value] : weights) {
    const auto weight = static_cast<float>(value);
    if (!std::isfinite(weight)) {
      std::string shown = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
      if (std::isfinite(value)) append_double(value, shown = {});
      std::string problem = "the weight of ";
      problem.append(name).append(" is ").append(shown).append("; expected a finite number of 32 bits");
      throw std::invalid_argument(problem);
    }
    const Symbol id = features_->space().names().find(name);
    if (id != Symbols::kNone) {
      weights_[id] = weight;
    } else if (const auto dynamic = features_->families().find(name)) {
      dynamic_weights_.add(*dynamic, weight);
    } else if (!features_->families().owns(name)) {
      unknown_weights_.push_back(name);
    }
  }
}

Decoder::~Decoder() = default;

Translation Decoder::translate(const Source& source, const SharedConstraints& constraints, const Terms& terms) const {
  return translate(source, constraints, terms, {}, true);
}

std::vector<Translation> Decoder::translate(std::span<const Source> sources,
                                            std::span<const SharedConstraints> constraints,
                                            std::span<const Terms> terms, const TranslateOptions& options,
                                            unsigned threads) const {
  for (const auto& [number, what] : {std::pair(constraints.size(), "constraints"), std::pair(terms.size(), "terms")})
    if (number != 0 && number != sources.size())
      throw std::invalid_argument(std::to_string(number) + " " + what + " for " + std::to_string(sources.size()) +
                                  " sentences; expected one for each");
  std::vector<Translation> out(sources.size());
  const auto one = [&](std::size_t i) {
    return translate(sources[i], constraints.empty() ? nullptr : constraints[i], terms.empty() ? Terms() : terms[i],
                     options, false);
  };
  ordered_map(sources.size(), threads, one, [&](std::size_t i, Translation found) { out[i] = std::move(found); });
  return out;
}

std::vector<Translation> Decoder::translate_with_hopes(std::span<const Source> sources,
                                                       std::span<const SentenceReferences> references,
                                                       const HopeOptions& hopes, const TranslateOptions& options,
                                                       unsigned threads) const {
  if (references.size() != sources.size())
    throw std::invalid_argument(std::to_string(references.size()) + " references for " +
                                std::to_string(sources.size()) + " sentences; expected one for each");
  std::vector<Translation> out(sources.size());
  const auto one = [&](std::size_t i) {
    TranslateOptions own = options;
    own.hopes = &hopes;
    own.references = &references[i];
    return translate(sources[i], nullptr, {}, own, false);
  };
  ordered_map(sources.size(), threads, one, [&](std::size_t i, Translation found) { out[i] = std::move(found); });
  return out;
}

Translation Decoder::translate(const Source& source, const SharedConstraints& constraints, const Terms& terms,
                               const TranslateOptions& options, bool keep) const {
  const Lease worker(*this);
  const double start = thread_seconds();
  Translation out;
  out.given = source;
  out.constraints = constraints;
  out.asked = terms;
  out.search = new_search();
  try {
    search(source, constraints, terms, !keep && options.kbest <= 1 && options.hopes == nullptr, *worker);
    if (keep) worker->search = out.search;
    if (const std::optional<Searched>& found = worker->last) {
      out.notes = found->forest.notes;
      out.marks = found->sentence.marks;
      out.tree = found->forest.tree;
      out.hypotheses = read(*worker, options);
      const auto& words = found->input.words;
      if (found->input.lattice == nullptr) {
        out.words.assign(words.begin(), words.end());
      } else {
        for (const EdgeId arc : out.hypotheses.front()->path)
          if (!words[arc].empty()) out.words.emplace_back(words[arc]);
      }
      if (options.hopes != nullptr) read_hopes(*worker, options, out.hypotheses);
    } else if (is_parse(source)) {
      out.notes.push_back("a failed parse, without words");
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const DamageError&) {  // no sentence can be trusted any more
    throw;
  } catch (const std::exception& error) {  // one bad sentence never ends a run of many
    out.problem = error.what();
  }
  out.seconds = thread_seconds() - start;
  return out;
}

// Refuses what has no meaning where words are those of a path that is not known yet.
void Decoder::check_lattice(bool reads, const char* what, const Terms& terms) const {
  const std::string given = std::string("the input is ") + what;
  if (!reads) throw std::invalid_argument(given + ", which this kind of model does not translate");
  if (features_->affiliates())
    throw std::invalid_argument(given + "; a model with a neural network or context features translates sentences");
  if (!terms.marks.empty())
    throw std::invalid_argument(given + "; translations of its words can be given in sentences only");
}

std::optional<Decoder::Matched> Decoder::match(const Source& source, const Terms& terms, Worker& worker) const {
  worker.search = 0;
  worker.last.reset();
  worker.cache.trim();
  worker.glue.begin_sentence();
  MarkedSentence sentence;
  Input input;
  if (const auto* const forest = std::get_if<std::shared_ptr<ParseForest>>(&source)) {
    input.forest = forest->get();
    for (std::size_t i = 0; i < input.forest->words(); ++i) input.words.push_back(input.forest->word(i));
  } else if (const auto* const tree = std::get_if<std::shared_ptr<Dependency>>(&source)) {
    input.dependency = tree->get();
    for (std::size_t i = 0; i < input.dependency->size(); ++i) input.words.push_back(input.dependency->words()[i]);
  } else if (const auto* const lattice = std::get_if<std::shared_ptr<Lattice>>(&source)) {
    check_lattice(matcher_->reads_lattices(), "a lattice", terms);
    input.lattice = lattice->get();
    for (std::size_t i = 0; i < input.lattice->arcs().size(); ++i) input.words.push_back(input.lattice->words()[i]);
  } else if (const auto* const both = std::get_if<std::shared_ptr<LatticeForest>>(&source)) {
    check_lattice(matcher_->reads_variants(), "a forest with a lattice", terms);
    input.variants = both->get();
    input.forest = input.variants->forest().get();
    for (std::size_t i = 0; i < input.forest->words(); ++i) input.words.push_back(input.forest->word(i));
  } else {
    const std::string* const line = std::get_if<std::string>(&source);
    sentence =
        line != nullptr ? read_sentence(*line, options_.markup) : MarkedSentence{checked(std::get<Tokens>(source)), {}};
    input.words.assign(sentence.words.begin(), sentence.words.end());
  }
  if (input.words.empty()) return std::nullopt;
  sentence.marks = joined(std::move(sentence.marks), terms.marks, input.words.size());
  input.constraints = given_translations(sentence.marks, worker.glue);
  TranslationForest forest = matcher_->match(input, worker.cache, worker.glue);
  return Matched{source, std::move(sentence), std::move(input), std::move(forest)};
}

Reading Decoder::reading_of(const Matched& matched, Worker& worker) const {
  static const SearchForest nothing;
  return {features_, worker.scorer, worker.glue, matched.forest, nothing, matched.input};
}

// Leaves the derivations that are as they were asked for. Where a glossary forbids them all, words pass through.
void Decoder::meet(const TargetConstraints& constraints, const Terms& terms, Matched& matched, Worker& worker) const {
  if (matched.input.lattice != nullptr && !constraints.steps.empty())
    throw std::invalid_argument("the input is a lattice; steps can be required for sentences only");
  const auto restricted = [&] {
    TargetConstraints all = constraints;
    std::vector<std::vector<std::string>> words = possible(terms.forbidden, matched.forest, worker.glue);
    const auto phrases = std::ranges::partition(words, [](const auto& phrase) { return phrase.size() == 1; });
    all.forbid.insert(all.forbid.end(), phrases.begin(), phrases.end());
    words.erase(phrases.begin(), phrases.end());
    std::vector<std::int32_t> numbers;
    for (const auto& phrase : words) numbers.push_back(worker.glue.find_word(phrase.front()));
    auto fewer = numbers.empty() ? std::nullopt : without_words(matched.forest, numbers, worker.glue);
    if (fewer) {
      matched.forest = std::move(*fewer);
    } else {
      all.forbid.insert(all.forbid.end(), words.begin(), words.end());
    }
    if (!all.empty() && matched.forest.graph.goal() != kNoNode)
      matched.forest =
          restrict_forest(matched.forest, all, reading_of(matched, worker), worker.glue, matched.input.words.size());
    return matched.forest.graph.goal() != kNoNode;
  };
  if (restricted()) return;
  if (constraints.empty() && !terms.forbidden.empty()) {
    matched.input.lenient = true;
    matched.forest = matcher_->match(matched.input, worker.cache, worker.glue);
    if (!restricted()) throw std::invalid_argument("no derivation is without a forbidden phrase");
    matched.forest.notes.emplace_back("every translation has a forbidden phrase; source words pass through");
    return;
  }
  throw std::invalid_argument("no derivation meets the constraints");
}

void Decoder::search(const Source& source, const SharedConstraints& constraints, const Terms& terms, bool best_only,
                     Worker& worker) const {
  std::optional<Matched> matched = match(source, terms, worker);
  if (!matched) return;
  meet(constraints == nullptr ? TargetConstraints() : *constraints, terms, *matched, worker);
  const Input& input = matched->input;
  worker.scorer.begin_sentence(
      {worker.glue.first_word(), worker.glue.words(), input.words, matched->forest, input.forest, input.dependency});
  SearchOptions options = options_.search;
  options.best_only = best_only;
  auto found = std::make_shared<SearchForest>(worker.searcher.run(matched->forest, options));
  if (found->late) matched->forest.notes.emplace_back("not searched to the end: time was up");
  if (!found->found()) throw std::runtime_error("no derivation covers the sentence");
  worker.last.emplace(Searched{std::move(*matched), std::move(found)});
}

std::vector<ReachedPart> Decoder::reached(const Source& source, const std::vector<std::string>& target) const {
  const Lease worker(*this);
  if (std::holds_alternative<std::shared_ptr<Lattice>>(source))
    throw std::invalid_argument("the input is a lattice; parts of a translation are found for sentences only");
  const std::optional<Matched> matched = match(source, {}, *worker);
  if (!matched) return {};
  return reached_parts(matched->forest, target, reading_of(*matched, *worker), worker->glue);
}

std::vector<std::shared_ptr<Hypothesis>> Decoder::read(const Worker& worker, const TranslateOptions& options) const {
  const auto& [forest, found] = std::tie(worker.last->forest, worker.last->found);
  const Reading reading = worker.reading(*this);
  Reader reader(reading, options.brief);
  std::vector<std::shared_ptr<Hypothesis>> out;
  if (options.kbest <= 1) {
    out.push_back(reader.read(best_derivation(forest, *found)));
    return out;
  }
  std::optional<EdgeYields> yields;
  if (options.distinct) yields.emplace(forest, *found);
  KBest best(graph_of(found), found->step, yields ? std::optional<Yields>(yields->view()) : std::nullopt);
  while (out.size() < options.kbest) {
    const std::optional<Derivation> derivation = best.next();
    if (!derivation) break;
    out.push_back(reader.read(*derivation));
  }
  return out;
}

void Decoder::read_hopes(const Worker& worker, const TranslateOptions& options,
                         std::vector<std::shared_ptr<Hypothesis>>& out) const {
  const HopeOptions& hopes = *options.hopes;
  const auto& [forest, found] = std::tie(worker.last->forest, worker.last->found);
  const Reading reading = worker.reading(*this);
  Reader reader(reading, options.brief);
  const Mapped pruned = prune(graph_of(found), found->step, hopes.margin);
  const ReferenceWords words(*options.references, hopes.fold);
  const EdgeYields yields(EdgeYields(forest, *found), pruned.edge_map);
  const EdgeYields numbered =
      yields.renumbered([&](std::int32_t word) { return words.number(worker.glue.text(word)); });
  for (const double sign : {1.0, -1.0}) {
    if (sign < 0 && !hopes.fears) break;
    const auto times = [&](double gain) { return sign * gain; };
    std::vector<double> by_order(hopes.by_order.size()), scores;
    std::ranges::transform(hopes.by_order, by_order.begin(), times);
    for (const EdgeId edge : pruned.edge_map) scores.push_back(hopes.scale * found->step[edge]);
    NgramGains gains(times(hopes.per_word), std::move(by_order));
    for (const auto& [sentence, share] : words.sentences()) gains.add(sentence, share);
    const GainedGraph gained = with_gains(pruned.graph, scores, numbered.view(), gains, hopes.beam);
    const EdgeYields parts(yields, gained.mapped.edge_map);
    KBest best(gained.mapped.graph, gained.scores,
               options.distinct ? std::optional<Yields>(parts.view()) : std::nullopt);
    for (std::uint32_t i = 0; i < hopes.size; ++i) {
      const std::optional<Derivation> derivation = best.next();
      if (!derivation) break;
      Derivation own{0, {}};
      for (const EdgeId edge : derivation->edges) {
        if (gained.mapped.edge_map[edge] == kNoEdge) continue;
        own.edges.push_back(pruned.edge_map[gained.mapped.edge_map[edge]]);
        own.score += found->step[own.edges.back()];
      }
      out.push_back(reader.read(own));
    }
  }
}

// A worker that has all that was found for a translation. One that was not made here, or comes from a pickle, is
// searched anew.
Decoder::Lease Decoder::searched(const Translation& of) const {
  Lease worker(*this, of.search);
  if (of.search != 0 && worker->search == of.search) return worker;
  search(of.given, of.constraints, of.asked, false, *worker);
  if (!worker->last) throw std::invalid_argument("a translation of nothing has hypotheses; expected none");
  worker->search = of.search;
  return worker;
}

std::vector<std::shared_ptr<Hypothesis>> Decoder::kbest(const Translation& of, const TranslateOptions& options) const {
  if (of.hypotheses.empty() || options.kbest == 0) return {};
  const Lease worker = searched(of);
  return read(*worker, options);
}

std::vector<std::shared_ptr<Hypothesis>> Decoder::runners_up(const Translation& of) const {
  std::vector<std::shared_ptr<Hypothesis>> out;
  if (of.hypotheses.empty()) return out;
  const Lease worker = searched(of);
  const TranslationForest& forest = worker->last->forest;
  const SearchForest& found = *worker->last->found;
  const Reading reading = worker->reading(*this);
  for (const EdgeId edge : best_derivation(forest, found).edges) {
    const bool local = (forest.alternatives[found.forest_edge[edge]][found.alternative[edge]].rule & kLocalRule) != 0;
    const std::optional<Derivation> other = local ? std::nullopt : best_without(forest, found, edge);
    out.push_back(other ? std::make_shared<Hypothesis>(reading.read(*other)) : nullptr);
  }
  return out;
}

std::optional<SearchGraph> Decoder::graph(const Translation& of, double margin) const {
  if (!of.problem.empty()) throw std::invalid_argument(of.problem);
  if (of.hypotheses.empty()) return std::nullopt;
  const Lease worker = searched(of);
  return search_graph(worker->reading(*this), worker->last->found, margin);
}

}  // namespace treeglot
