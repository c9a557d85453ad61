#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/options.h"
#include "evaluate/bleu.h"
#include "evaluate/significance.h"

namespace treeglot {

template <>
inline constexpr auto kNames<LengthChoice> =
    std::array{OptionName{"closest", LengthChoice::closest}, OptionName{"shortest", LengthChoice::shortest}};
template <>
inline constexpr auto kNames<Smoothing> =
    std::array{OptionName{"none", Smoothing::none}, OptionName{"exp", Smoothing::exponential},
               OptionName{"add-one", Smoothing::add_one}, OptionName{"add-one-length", Smoothing::add_one_length}};
template <>
inline constexpr auto kFields<BleuOptions> =
    std::tuple{OptionField{"order", &BleuOptions::order}, OptionField{"length", &BleuOptions::length},
               OptionField{"smooth", &BleuOptions::smoothing}};
TREEGLOT_OPTIONS(ChrfOptions, character_order, word_order, beta);

void bind_evaluate(nb::module_& m) {
  nb::class_<References>(m, "References", "The references of a corpus, made ready for BLEU.")
      .def_prop_ro("sentences", &References::sentences, "How many sentences there are.")
      .def_prop_ro("width", &References::width, "How many statistics a sentence has.")
      .def(
          "statistics",
          [](const References& self, const std::vector<std::string>& translations,
             std::span<const std::uint32_t> sentences) {
            return as_array(without_gil([&] { return self.statistics(translations, sentences); }));
          },
          "translations"_a, "sentences"_a, "The statistics of translations of these sentences, row by row.");

  nb::class_<Metric>(m, "Metric", "Statistics of a sentence that add up, and the score of their sum.")
      .def_prop_ro("width", &Metric::width, "How many statistics a sentence has.")
      .def_prop_ro("higher_is_better", &Metric::higher_is_better, "Whether a better translation has a higher score.")
      .def("scores", released<&scores>, "rows"_a, "The score of every row of statistics.")
      .def("score_of_part", &score_of_part, "part"_a, "whole"_a,
           "The score of a part of a corpus, of lengths taken from the whole.");

  nb::class_<Bleu, Metric>(m, "BleuMetric", "BLEU.")
      .def(
          "__init__", [](Bleu* self, nb::handle options) { new (self) Bleu(read_options<BleuOptions>(options)); },
          "options"_a)
      .def(
          "prepare",
          [](const Bleu& self, const std::vector<std::vector<std::string>>& references) {
            return References(self, references);
          },
          "references"_a, nb::call_guard<nb::gil_scoped_release>(),
          "One list of lines for each reference translation.");
  nb::class_<Chrf, Metric>(m, "ChrfMetric", "chrF and chrF++.")
      .def(
          "__init__", [](Chrf* self, nb::handle options) { new (self) Chrf(read_options<ChrfOptions>(options)); },
          "options"_a);
  nb::class_<Ter, Metric>(m, "TerMetric", "TER.").def(nb::init<>());

  nb::class_<SignTest>(m, "SignTest", "What the sign test found.")
      .def_ro("better", &SignTest::better, "Sentences whose new translation makes the baseline's score better.")
      .def_ro("worse", &SignTest::worse, "Sentences that make it worse.")
      .def_ro("equal", &SignTest::equal, "Sentences that leave it as it is.")
      .def_ro("p", &SignTest::p, "How likely so uneven a result is by chance, two-sided.");
  m.def("sign_test", released<&sign_test>, "metric"_a, "baseline"_a, "system"_a,
        "The sign test of Collins et al. (2005) on rows of statistics.");
  m.def(
      "paired_bootstrap",
      [](const Metric& metric, std::span<const double> baseline, std::span<const double> system, std::size_t samples,
         std::uint64_t seed) {
        Resampled drawn = without_gil([&] { return paired_bootstrap(metric, baseline, system, samples, seed); });
        return std::pair(as_array(std::move(drawn.baseline)), as_array(std::move(drawn.system)));
      },
      "metric"_a, "baseline"_a, "system"_a, "samples"_a, "seed"_a, "Both systems' scores on corpora drawn anew.");
}

}  // namespace treeglot
