#include <cmath>
#include <unordered_map>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/options.h"
#include "bind/sources.h"
#include "decode/decoder.h"
#include "tune/envelope.h"
#include "tune/line_search.h"
#include "tune/mira.h"
#include "tune/pairs.h"
#include "tune/pool.h"

namespace treeglot {

template <>
inline constexpr auto kNames<MiraOptions::Background> =
    std::array{OptionName{"hope", MiraOptions::Background::hope}, OptionName{"model", MiraOptions::Background::model}};
TREEGLOT_OPTIONS(HopeOptions, size, scale, per_word, by_order, fold, margin, beam, fears);
TREEGLOT_OPTIONS(MiraOptions, c, decay, background, epochs, patience);
TREEGLOT_OPTIONS(AscentOptions, directions, least_gain, rounds);
TREEGLOT_OPTIONS(PairOptions, samples, kept, least);

namespace {

struct PoolArrays {
  ArrayIn<std::uint32_t> first_hypothesis;
  ArrayIn<std::uint64_t> first_feature;
  ArrayIn<std::uint32_t> features;
  ArrayIn<float> values;
  ArrayIn<double> statistics;
};

// K-best lists as arrays side by side.
struct KBestArrays {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::string> texts;
  std::vector<std::uint64_t> first_feature = {0};
  std::vector<std::uint32_t> features;
  std::vector<float> values;
  std::vector<double> scores;
  std::vector<std::pair<std::size_t, std::string>> problems;
  std::vector<std::string> names;  // of the features that have numbers; members of families follow as they fire
  std::unordered_map<FeatureId, std::uint32_t> fired;

  explicit KBestArrays(const FeatureSet& set) {
    for (Symbol id = 0; id < set.space().names().size(); ++id) names.push_back(set.name(id));
  }

  void append(const Translation& translation) {
    if (!translation.problem.empty()) problems.emplace_back(first.size() - 1, translation.problem);
    for (const auto& hypothesis : translation.hypotheses) {
      texts.push_back(hypothesis->text);
      scores.push_back(hypothesis->score);
      for (const auto& [id, value] : hypothesis->features) {
        features.push_back(id < kDynamicFeature ? static_cast<std::uint32_t>(id) : number(id, *hypothesis->names));
        values.push_back(value);
      }
      first_feature.push_back(features.size());
    }
    first.push_back(static_cast<std::uint32_t>(texts.size()));
  }

  std::uint32_t number(FeatureId id, const FeatureNames& called) {
    const auto [at, added] = fired.try_emplace(id, static_cast<std::uint32_t>(names.size()));
    if (added) names.push_back(called.name(id));
    return at->second;
  }
};

// Lists of sentences; they end with hopes and fears if there are references.
KBestArrays decode_kbest(const Decoder& decoder, const std::vector<Source>& sources, std::uint32_t kbest, bool distinct,
                         unsigned threads, std::span<const SentenceReferences> references, const HopeOptions& hopes) {
  constexpr std::size_t kBatch = 200;  // derivations are large; only what tuning needs of them is kept for all lines
  KBestArrays out(decoder.features());
  for (std::size_t begin = 0; begin < sources.size(); begin += kBatch) {
    const auto batch = std::span(sources).subspan(begin, std::min(kBatch, sources.size() - begin));
    const TranslateOptions options{.kbest = kbest, .distinct = distinct, .brief = true};
    for (const Translation& translation :
         references.empty()
             ? decoder.translate(batch, {}, {}, options, threads)
             : decoder.translate_with_hopes(batch, references.subspan(begin, batch.size()), hopes, options, threads))
      out.append(translation);
  }
  return out;
}

void check_finite(std::string_view name, std::span<const double> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      throw std::invalid_argument(std::string(name) + " " + std::to_string(i) + " is " + std::to_string(numbers[i]) +
                                  "; expected a finite number");
    }
  }
}

}  // namespace

void bind_tune(nb::module_& m) {
  nb::class_<Pool>(m, "HypothesisPool", "Hypotheses of sentences, on arrays that must stay as they are.")
      .def(
          "__init__",
          [](Pool* self, ArrayIn<std::uint32_t> first_hypothesis, ArrayIn<std::uint64_t> first_feature,
             ArrayIn<std::uint32_t> features, ArrayIn<float> values, ArrayIn<double> statistics, std::size_t number) {
            auto a =
                std::make_shared<PoolArrays>(PoolArrays{std::move(first_hypothesis), std::move(first_feature),
                                                        std::move(features), std::move(values), std::move(statistics)});
            const SparseRows rows{as_span(a->first_feature), as_span(a->features), as_span(a->values)};
            new (self) Pool(as_span(a->first_hypothesis), rows, as_span(a->statistics), number, a);
          },
          "first_hypothesis"_a, "first_feature"_a, "features"_a, "values"_a, "statistics"_a, "number"_a)
      .def_prop_ro("sentences", &Pool::sentences, "How many sentences there are.")
      .def_prop_ro("features", &Pool::features, "How many features there are.")
      .def(
          "spreads", [](const Pool& self) { return as_array(without_gil([&] { return self.spreads(); })); },
          "How much each feature varies among the hypotheses of a sentence.")
      .def_prop_ro("hypotheses", &Pool::hypotheses, "How many hypotheses there are.")
      .def(
          "best",
          [](const Pool& self, const ArrayIn<double>& weights) {
            self.check_weights(as_span(weights));
            self.check_scores(as_span(weights));
            std::vector<std::int64_t> out;
            for (std::size_t s = 0; s < self.sentences(); ++s) {
              out.push_back(self.begin(s) == self.end(s) ? -1 : std::int64_t{self.best(s, as_span(weights))});
            }
            return as_array(std::move(out));
          },
          "weights"_a, "The best hypothesis of every sentence; -1 where there is none.")
      .def(
          "scores",
          [](const Pool& self, const ArrayIn<double>& weights) {
            return as_array(without_gil([&] { return self.scores(as_span(weights)); }));
          },
          "weights"_a, "The score of every hypothesis.")
      .def(
          "score",
          [](const Pool& self, const Metric& metric, const ArrayIn<double>& weights,
             const ArrayIn<std::uint8_t>& chosen) {
            return without_gil([&] { return rescore(self, metric, as_span(weights), as_span(chosen)); });
          },
          "metric"_a, "weights"_a, "chosen"_a, "The corpus score of the best hypotheses of the chosen sentences.");

  m.def(
      "decode_kbest",
      [](const Decoder& decoder, nb::handle sources, std::uint32_t kbest, bool distinct, unsigned threads,
         const std::vector<SentenceReferences>& references, nb::handle hopes) {
        const std::vector<Source> given = to_sources(sources);
        if (!references.empty() && references.size() != given.size())
          throw std::invalid_argument("as many references as sources are needed");
        const HopeOptions wanted = hopes.is_none() ? HopeOptions() : read_options<HopeOptions>(hopes);
        KBestArrays found =
            without_gil([&] { return decode_kbest(decoder, given, kbest, distinct, threads, references, wanted); });
        return std::tuple(std::move(found.names), as_array(std::move(found.first)), std::move(found.texts),
                          as_array(std::move(found.first_feature)), as_array(std::move(found.features)),
                          as_array(std::move(found.values)), as_array(std::move(found.scores)),
                          std::move(found.problems));
      },
      "decoder"_a, "sources"_a, "kbest"_a, "distinct"_a, "threads"_a, "references"_a, "hopes"_a.none(),
      "K-best lists as arrays: names of features, offsets, texts, features, scores; and the sources that were refused, "
      "with why. With references, those of each source with their shares, hopes and fears follow the best.");

  m.def(
      "upper_envelope",
      [](const ArrayIn<double>& slopes, const ArrayIn<double>& intercepts) {
        Envelope envelope;
        if (slopes.size() != intercepts.size()) throw std::invalid_argument("as many slopes as intercepts are needed");
        check_finite("slope", as_span(slopes));
        check_finite("intercept", as_span(intercepts));
        make_envelope(as_span(slopes), as_span(intercepts), peak_of(as_span(intercepts)), 0, envelope);
        std::vector<std::uint32_t> ids;
        for (const Line& line : envelope.lines) ids.push_back(line.id);
        return std::pair(as_array(std::move(ids)), as_array(std::move(envelope.begin)));
      },
      "slopes"_a, "intercepts"_a, "The lines that are highest somewhere, from left to right, and where they begin.");
  nb::class_<LineStep>(m, "LineStep", "The best step along a direction.")
      .def_ro("length", &LineStep::length, "How far to go; 0 for staying.")
      .def_ro("score", &LineStep::score, "The corpus score there.")
      .def_ro("here", &LineStep::here, "The corpus score without a step.");
  m.def(
      "line_search",
      [](const Pool& pool, const Metric& metric, const ArrayIn<double>& weights, const ArrayIn<double>& direction) {
        return without_gil([&] { return line_search(pool, metric, as_span(weights), as_span(direction)); });
      },
      "pool"_a, "metric"_a, "weights"_a, "direction"_a, "The best step along a direction, exactly.");
  m.def(
      "ascend",
      [](const Pool& pool, const Metric& metric, const ArrayIn<double>& start, const ArrayIn<double>& spreads,
         nb::handle options, std::uint64_t seed) {
        const auto read = read_options<AscentOptions>(options);
        Ascent found = without_gil([&] { return ascend(pool, metric, as_span(start), as_span(spreads), read, seed); });
        return std::tuple(as_array(std::move(found.weights)), found.score, found.before, found.rounds);
      },
      "pool"_a, "metric"_a, "start"_a, "spreads"_a, "options"_a, "seed"_a,
      "From a start along one direction after another: weights, score, the score before, rounds.");

  nb::class_<MiraResult>(m, "MiraResult", "What MIRA learnt.")
      .def_prop_ro(
          "weights", [](const MiraResult& r) { return view(std::span<const double>(r.weights)); },
          nb::rv_policy::reference_internal, "The mean weights of the best epoch.")
      .def_ro("best_epoch", &MiraResult::best_epoch, "From 1; 0 when there was nothing to learn from.")
      .def_ro("train", &MiraResult::train, "Scores after each epoch on what was learnt from.")
      .def_ro("held_out", &MiraResult::held_out, "Scores after each epoch on what was held out.");
  m.def(
      "mira",
      [](const Pool& pool, const Metric& sentence_metric, const Metric& metric, const ArrayIn<double>& start,
         const ArrayIn<double>& units, const ArrayIn<std::uint8_t>& held_out, nb::handle options, std::uint64_t seed) {
        const auto read = read_options<MiraOptions>(options);
        return without_gil([&] {
          return mira(pool, sentence_metric, metric, as_span(start), as_span(units), as_span(held_out), read, seed);
        });
      },
      "pool"_a, "sentence_metric"_a, "metric"_a, "start"_a, "units"_a, "held_out"_a, "options"_a, "seed"_a,
      "Batch MIRA over a pool.");
  m.def(
      "sample_pairs",
      [](const Pool& pool, const ArrayIn<double>& scores, nb::handle options, std::uint64_t seed) {
        const auto read = read_options<PairOptions>(options);
        Pairs pairs = without_gil([&] { return sample_pairs(pool, as_span(scores), read, seed); });
        return std::tuple(as_array(std::move(pairs.first)), as_array(std::move(pairs.features)),
                          as_array(std::move(pairs.values)));
      },
      "pool"_a, "scores"_a, "options"_a, "seed"_a,
      "Differences of features between better and worse hypotheses, as the arrays of a sparse matrix.");
}

}  // namespace treeglot
