#include "align/constituents.h"
#include "align/sentences.h"
#include "align/train.h"
#include "base/thread_pool.h"
#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"

namespace treeglot {

TREEGLOT_OPTIONS(LinkPriorOptions, cognates, stems, stem_letters);
TREEGLOT_OPTIONS(SamplerOptions, seed, chains, rounds, level, null, lexical, priors, save_every);
TREEGLOT_OPTIONS(HmmOptions, ibm1, iterations, variational, null);

namespace {

using Sentence = std::vector<std::string_view>;
using SentencePair = std::pair<Sentence, Sentence>;
using Parse = std::variant<const Tree*, const ParseForest*>;
using Watch = nb::typed<nb::callable, nb::object(nb::int_, nb::int_)>;

AlignWatch to_watch(const Watch& watch) {
  return [&watch](std::uint64_t done, std::uint64_t total) {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    watch(done, total);
  };
}

// call(source, target) of each pair, on so many threads.
template <class Call>
auto for_pairs(const std::vector<SentencePair>& pairs, unsigned threads, const Call& call) {
  std::vector<decltype(call(pairs[0].first, pairs[0].second))> out;
  constexpr std::size_t kChunk = 32;
  ordered_map((pairs.size() + kChunk - 1) / kChunk, threads,
              [&](std::size_t chunk) {
                decltype(out) made;
                for (std::size_t p = chunk * kChunk; p < std::min(pairs.size(), (chunk + 1) * kChunk); ++p)
                  made.push_back(call(pairs[p].first, pairs[p].second));
                return made;
              },
              [&](std::size_t, auto made) { std::ranges::move(made, std::back_inserter(out)); });
  return out;
}

using Matrix = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

Matrix matrix(std::vector<float> values, std::size_t rows, std::size_t columns) {
  auto owned = std::make_unique<std::vector<float>>(std::move(values));
  float* const data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  owned.release();
  return Matrix(data, {rows, columns}, std::move(owner));
}

void bind_pairs(nb::module_& m) {
  nb::class_<SentencePairs>(m, "SentencePairs", "Sentence pairs to train an aligner with.")
      .def(nb::init<std::size_t>(), "longest"_a)
      .def("__len__", guarded(&SentencePairs::size))
      .def("has", guarded([](const SentencePairs& self, std::string_view source, std::string_view target) {
             return self.source_words().find(source) != Symbols::kNone &&
                    self.target_words().find(target) != Symbols::kNone;
           }),
           "source"_a, "target"_a, "Whether both words occur.")
      .def_prop_ro("empty", guarded(&SentencePairs::empty), "How many pairs have an empty side.")
      .def_prop_ro("long", guarded(&SentencePairs::long_pairs), "How many have a side that is too long.")
      .def("extend", guarded([](SentencePairs& self, const std::vector<SentencePair>& pairs) {
             const nb::gil_scoped_release release;
             for (const auto& [source, target] : pairs) self.append(source, target);
           }),
           "pairs"_a, "More pairs, in order.");
}

// The links of each pair, by a method that takes an argument of its own.
template <auto Method, class Argument>
std::vector<Alignment> links_of_pairs(const Aligner& self, const std::vector<SentencePair>& pairs, Argument argument,
                                      unsigned threads) {
  const nb::gil_scoped_release release;
  return for_pairs(pairs, threads,
                   [&](Words source, Words target) { return (self.*Method)(source, target, argument); });
}

std::vector<Alignment> mended(const Aligner& self, const std::vector<SentencePair>& pairs,
                              const std::vector<Alignment>& links, const std::vector<Parse>& source_parses,
                              const std::vector<Parse>& target_parses, double cost, unsigned threads) {
  if (links.size() != pairs.size() || source_parses.size() != pairs.size() || target_parses.size() != pairs.size())
    throw nb::value_error("expected links and parses of as many sentences as there are pairs");
  for (const auto* parses : {&source_parses, &target_parses})
    for (const Parse& parse : *parses)
      if (std::visit([](const auto* given) { return given == nullptr; }, parse))
        throw nb::type_error("a parse is None; expected a tree or a forest");
  const nb::gil_scoped_release release;
  std::vector<Alignment> out;
  ordered_map(
      pairs.size(), threads,
      [&](std::size_t p) {
        const auto& [source, target] = pairs[p];
        links[p].check(source.size(), target.size());
        const PairPosteriors found = self.posteriors(source, target);
        const auto found_in = [](const auto* parse) { return constituents(*parse); };
        return mend(links[p], std::visit(found_in, source_parses[p]), std::visit(found_in, target_parses[p]), cost,
                    [&](Link link) {
                      const std::size_t at = link.source * target.size() + link.target;
                      return 0.5 * (found.forward[at] + found.backward[at]);
                    });
      },
      [&](std::size_t, Alignment made) { out.push_back(std::move(made)); });
  return out;
}

void bind_aligner(nb::module_& m) {
  nb::class_<Aligner>(m, "Aligner", "Trained models of both directions.")
      .def_static("open", &Aligner::open, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "From a file.")
      .def("save", &Aligner::save, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Into a file.")
      .def("align", links_of_pairs<&Aligner::align, Symmetrization>, "pairs"_a, "method"_a, "threads"_a,
           "The links of each pair.")
      .def("agreed", links_of_pairs<&Aligner::agreed, float>, "pairs"_a, "agreement"_a, "threads"_a,
           "The links on whose posteriors both directions agree.")
      .def(
          "directions",
          [](const Aligner& self, const std::vector<SentencePair>& pairs, unsigned threads) {
            const nb::gil_scoped_release release;
            return for_pairs(pairs, threads, [&](Words source, Words target) {
              auto both = self.directions(source, target);
              return std::pair(std::move(both[0]), std::move(both[1]));
            });
          },
          "pairs"_a, "threads"_a, "The links of each pair in both directions.")
      .def(
          "scores",
          [](const Aligner& self, const std::vector<SentencePair>& pairs, unsigned threads) {
            return as_array(without_gil([&] {
              return for_pairs(pairs, threads, [&](Words source, Words target) { return self.score(source, target); });
            }));
          },
          "pairs"_a, "threads"_a, "How well each pair's sides predict each other, in nats a word.")
      .def("mended", mended, "pairs"_a, "links"_a, "source_parses"_a, "target_parses"_a, "cost"_a, "threads"_a,
           "The links of each pair without doubtful ones that break constituents.")
      .def(
          "known",
          [](const Aligner& self, const Sentence& words) {
            const auto found = self.known(words);
            return std::pair(found[0], found[1]);
          },
          "words"_a, "How many of the words are known as source words, and as target words.")
      .def(
          "evidence",
          [](const Aligner& self, const Sentence& source, const Sentence& target) {
            return self.evidence(source, target);
          },
          "source"_a, "target"_a, "How much more probable a pair's sides are together than apart, in nats.")
      .def(
          "posteriors",
          [](const Aligner& self, const Sentence& source, const Sentence& target, std::uint32_t rounds) {
            PairPosteriors found = without_gil([&] { return self.posteriors(source, target, rounds); });
            return std::tuple(matrix(std::move(found.forward), found.source, found.target),
                              matrix(std::move(found.backward), found.source, found.target));
          },
          "source"_a, "target"_a, "rounds"_a = 0,
          "The posteriors of links in both directions, source words by target words.")
      .def(
          "likely",
          [](const Aligner& self, const std::vector<SentencePair>& pairs, float least, unsigned threads) {
            using Likely = std::tuple<std::size_t, std::size_t, float, float>;
            const nb::gil_scoped_release release;
            return for_pairs(pairs, threads, [&](Words source, Words target) {
              const PairPosteriors found = self.posteriors(source, target);
              std::vector<Likely> out;
              for (std::size_t k = 0; k < found.forward.size(); ++k)
                if (std::max(found.forward[k], found.backward[k]) >= least)
                  out.emplace_back(k / found.target, k % found.target, found.forward[k], found.backward[k]);
              return out;
            });
          },
          "pairs"_a, "least"_a, "threads"_a, "The links of each pair with a posterior of at least so much.")
      .def(
          "factors",
          [](const Aligner& self, const Sentence& source, const Sentence& target, bool backwards) {
            PairFactors found = self.factors(source, target, backwards);
            const std::size_t fertilities = found.growth.empty() ? 0 : kFertilities;
            return std::tuple(matrix(std::move(found.links), found.words, found.given), as_array(std::move(found.none)),
                              matrix(std::move(found.growth), fertilities == 0 ? 0 : found.given, fertilities),
                              as_array(self.jumps(backwards)));
          },
          "source"_a, "target"_a, "backwards"_a,
          "What a pair's posteriors are made of: links by word and given word, words without link, growth of "
          "fertilities, jumps.")
      .def("new_pairs", &Aligner::new_pairs, "longest"_a, "An empty corpus to update this aligner with.")
      .def_prop_ro("source_words", &Aligner::source_words, "How many source words it knows.")
      .def_prop_ro("target_words", &Aligner::target_words, "How many target words it knows.")
      .def_prop_ro(
          "level", [](const Aligner& self) { return static_cast<int>(self.settings().level); },
          "1: words alone, 2: word order too, 3: fertility too.")
      .def_prop_ro(
          "can_be_updated", [](const Aligner& self) { return self.settings().discount > 0; },
          "Whether it was trained by sampling.")
      .def(
          "lexicon",
          [](const Aligner& self, std::size_t first, std::size_t most) {
            std::vector<std::tuple<std::string_view, std::string_view, float, float>> out;
            for (std::size_t s = first; s < std::min(first + most, self.source_words()); ++s)
              for (std::size_t at = self.rows()[s]; at < self.rows()[s + 1]; ++at) {
                const Symbol source = static_cast<Symbol>(s), target = self.targets()[at];
                out.emplace_back(self.source_word(source), self.target_word(target), self.forward(source, at),
                                 self.backward(target, at));
              }
            return out;
          },
          "first"_a, "most"_a,
          "The word pairs of so many source words: source, target, p(target | source), p(source | target).");
}

using Lengths = std::vector<double>;
using Paragraph = std::pair<std::vector<Sentence>, std::vector<Sentence>>;
using FoundBead = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, double>;

ParagraphLengths to_lengths(const std::pair<Lengths, Lengths>& given) {
  for (const Lengths* side : {&given.first, &given.second})
    if (!std::ranges::all_of(*side, [](double x) { return x > 0 && std::isfinite(x); }))
      throw nb::value_error("a sentence has a length of 0 or less; expected lengths above 0");
  return {given.first, given.second};
}

// What the aligner says of the words of a bead. Sides that it refuses say nothing.
BeadGain bead_gain(const Aligner* aligner, const Paragraph& paragraph) {
  return [aligner, &paragraph](const Bead& bead) {
    const auto joined = [](const std::vector<Sentence>& side, std::size_t first, std::size_t count) {
      Sentence out;
      for (std::size_t k = first; k < first + count; ++k) out.insert(out.end(), side[k].begin(), side[k].end());
      return out;
    };
    const Sentence source = joined(paragraph.first, bead.source, bead.sources),
                   target = joined(paragraph.second, bead.target, bead.targets);
    return std::max(source.size(), target.size()) > Aligner::kLongest ? 0.0 : aligner->evidence(source, target);
  };
}

void bind_sentences(nb::module_& m) {
  m.def(
      "fit_lengths",
      [](const std::vector<std::pair<Lengths, Lengths>>& paragraphs) {
        std::vector<ParagraphLengths> given;
        for (const auto& paragraph : paragraphs) given.push_back(to_lengths(paragraph));
        const LengthModel found = without_gil([&] { return fit_lengths(given); });
        return std::tuple(found.ratio, found.variance, found.target_mean);
      },
      "paragraphs"_a, "What lengths translations have: their ratio, variance, and the mean of target sentences.");
  m.def(
      "align_sentences",
      [](const std::vector<std::pair<Lengths, Lengths>>& lengths, const std::vector<Paragraph>& paragraphs,
         const std::tuple<double, double, double>& model, const Aligner* aligner, unsigned threads) {
        if (aligner != nullptr && lengths.size() != paragraphs.size())
          throw nb::value_error("expected the words of as many paragraphs as there are lengths");
        std::vector<ParagraphLengths> given;
        for (std::size_t p = 0; p < lengths.size(); ++p) {
          given.push_back(to_lengths(lengths[p]));
          if (aligner != nullptr && (paragraphs[p].first.size() != given[p].source.size() ||
                                     paragraphs[p].second.size() != given[p].target.size()))
            throw nb::value_error("expected as many sentences of a paragraph as lengths");
        }
        const auto [ratio, variance, mean] = model;
        if (!(ratio > 0 && variance > 0 && mean > 0)) throw nb::value_error("expected lengths above 0");
        LengthModel chosen;
        chosen.ratio = ratio;
        chosen.variance = variance;
        chosen.target_mean = mean;
        std::vector<std::vector<FoundBead>> out;
        const nb::gil_scoped_release release;
        ordered_map(
            given.size(), threads,
            [&](std::size_t p) {
              const BeadGain gain = aligner == nullptr ? BeadGain() : bead_gain(aligner, paragraphs[p]);
              std::vector<FoundBead> made;
              for (const Bead& bead : align_sentences(given[p].source, given[p].target, chosen, gain))
                made.emplace_back(bead.source, bead.source + bead.sources, bead.target, bead.target + bead.targets,
                                  bead.posterior);
              return made;
            },
            [&](std::size_t, auto made) { out.push_back(std::move(made)); });
        return out;
      },
      "lengths"_a, "paragraphs"_a, "model"_a, "aligner"_a.none(), "threads"_a,
      "The beads of each paragraph: sentences from and to on both sides, and the posterior. Words need an aligner.");
}

}  // namespace

void bind_align(nb::module_& m) {
  bind_sentences(m);
  bind_pairs(m);
  bind_aligner(m);
  m.def(
      "constituents",
      [](const ParseForest& forest) {
        std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> out;
        for (const auto& [span, probability] : without_gil([&] { return constituents(forest); }))
          out.emplace_back(span.begin, span.end, probability);
        return out;
      },
      "forest"_a, "The spans of a forest's constituents of several words, and how probable each is.");
  m.def("cognate_similarity", &cognate_similarity, "source"_a, "target"_a, "How alike two words are, from 0 to 1.");
  m.def("sampler_rounds", &sampler_rounds, "pairs"_a, "The rounds that a sampler makes over so many pairs.");
  m.def(
      "train_sampler",
      [](const SentencePairs& pairs, const Aligner* before,
         const std::vector<std::tuple<std::string, std::string, double>>& lexicon, nb::handle options, unsigned threads,
         const std::string& folder, const Watch& watch) {
        std::vector<LexiconEntry> known;
        for (const auto& [source, target, weight] : lexicon) {
          if (!(weight >= 0 && weight <= 1000)) throw nb::value_error("expected weights of 0 to 1,000");
          known.push_back({source, target, weight});
        }
        const auto chosen = read_options<SamplerOptions>(options);
        const Use<const SentencePairs> use(pairs);
        const auto told = to_watch(watch);
        const nb::gil_scoped_release release;
        return train_sampler(pairs, before, known, chosen, threads, folder, told);
      },
      "pairs"_a, "before"_a.none(), "lexicon"_a, "options"_a, "threads"_a, "folder"_a, "watch"_a,
      "Train by Gibbs sampling, or update an aligner.");
  m.def(
      "train_hmm",
      [](const SentencePairs& pairs, nb::handle options, unsigned threads, const Watch& watch) {
        const auto chosen = read_options<HmmOptions>(options);
        const Use<const SentencePairs> use(pairs);
        const auto told = to_watch(watch);
        const nb::gil_scoped_release release;
        return train_hmm(pairs, chosen, threads, told);
      },
      "pairs"_a, "options"_a, "threads"_a, "watch"_a, "Train by expectation maximisation.");
}

}  // namespace treeglot
