#include <system_error>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"
#include "lm/arpa_writer.h"
#include "lm/dependency_train.h"
#include "lm/estimated_ngrams.h"
#include "lm/ngram_mix.h"
#include "lm/ngram_prune.h"
#include "lm/ngram_train.h"
#include "lm/word_classes.h"

namespace treeglot {

TREEGLOT_OPTIONS(NgramTrainOptions, order, prune, memory, folder, fallback, threads);

TREEGLOT_OPTIONS(WordClassOptions, classes, rounds);

namespace {

using WriteCallable = nb::typed<nb::callable, nb::object(nb::bytes)>;
using ProgressCallable = nb::typed<nb::callable, nb::object(nb::str, nb::int_, nb::int_)>;

// Called with the GIL held, from the thread that called us; they refer to the callables, which outlive the call.
ArpaWriter::Write to_write(const WriteCallable& write) {
  return [&write](std::string_view bytes) {
    const nb::gil_scoped_acquire acquire;
    const nb::object view = nb::steal(
        PyMemoryView_FromMemory(const_cast<char*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ));
    write(view);
    view.attr("release")();
  };
}

NgramTrainer::Progress to_progress(const std::optional<ProgressCallable>& progress) {
  return [&progress](std::string_view stage, std::uint64_t done, std::uint64_t total) {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (progress) (*progress)(stage, done, total);
  };
}

std::vector<std::tuple<float, float, float>> amounts(const std::vector<Discounts>& discounts) {
  std::vector<std::tuple<float, float, float>> out;
  for (const Discounts& d : discounts) out.emplace_back(d.amount[1], d.amount[2], d.amount[3]);
  return out;
}

std::vector<std::tuple<unsigned, std::string>> fallbacks(const std::vector<Discounts>& discounts) {
  std::vector<std::tuple<unsigned, std::string>> out;
  for (unsigned i = 0; i < discounts.size(); ++i) {
    if (!discounts[i].problem.empty()) out.emplace_back(i + 1, discounts[i].problem);
  }
  return out;
}

template <class Estimated>
void def_discounts(nb::class_<Estimated>& estimated) {
  estimated
      .def_prop_ro(
          "discounts", [](const Estimated& self) { return amounts(self.discounts); },
          "The discounts of each order for the counts 1, 2, and 3 or more.")
      .def_prop_ro(
          "fallbacks", [](const Estimated& self) { return fallbacks(self.discounts); },
          "The orders whose discounts could not be estimated, each with the reason.");
}

const NgramBatch& order_of(const EstimatedNgrams& model, std::size_t order) {
  if (order < 1 || order > model.orders.size()) {
    throw std::invalid_argument("there is no order " + std::to_string(order) + "; expected 1 to " +
                                std::to_string(model.orders.size()));
  }
  return model.orders[order - 1];
}

void bind_reshaping(nb::module_& m) {
  m.def(
      "mix_ngrams",
      [](const Given<NgramModel>& models, const std::vector<double>& weights) {
        const nb::gil_scoped_release release;
        return mix_ngrams(models.values, weights);
      },
      "models"_a, "weights"_a, "One back-off model that interpolates models linearly.");
  m.def(
      "prune_ngrams",
      [](const NgramModel& model, double threshold) {
        const nb::gil_scoped_release release;
        PrunedNgrams pruned = prune_ngrams(model, threshold);
        return std::pair(std::move(pruned.ngrams), std::move(pruned.counted));
      },
      "model"_a, "threshold"_a,
      "The model without n-grams that change its perplexity by a smaller share, and its n-grams before, by order.");
}

void bind_word_classes(nb::module_& m) {
  nb::class_<WordClasses>(m, "WordClasses", "Words, each with the number of its class.")
      .def(
          "__init__",
          [](WordClasses* self, const std::vector<std::string_view>& words, std::vector<std::uint32_t> classes) {
            Strings all;
            for (const std::string_view word : words) all.append(word);
            new (self) WordClasses(all, std::move(classes));
          },
          "words"_a, "classes"_a)
      .def("__len__", &WordClasses::size);

  nb::class_<WordClassTrainer, WordSink>(m, "WordClassTrainer", "Counts bigrams and puts words into classes.")
      .def(
          "__init__",
          [](WordClassTrainer* self, nb::handle given, std::size_t memory, std::string folder) {
            const auto options = read_options<WordClassOptions>(given);
            options.check();
            new (self) WordClassTrainer(options, memory, std::move(folder));
          },
          "options"_a, "memory"_a = 0, "folder"_a = std::string(),
          "Bigrams beyond `memory` bytes are in files in `folder`; 0: all are in memory.")
      .def_prop_ro("tokens", guarded(&WordClassTrainer::tokens), "Words so far.")
      .def("finish", guarded([](WordClassTrainer& trainer, const std::optional<ProgressCallable>& progress) {
             const auto told = to_progress(progress);
             WordClassTrainer::Result result = [&] {
               const nb::gil_scoped_release release;
               return trainer.finish(told);
             }();
             std::vector<std::string> words;
             for (std::size_t i = 0; i < result.words.size(); ++i) words.emplace_back(result.words[i]);
             return std::tuple(std::move(words), std::move(result.classes), std::move(result.likelihoods),
                               std::move(result.moves));
           }),
           "progress"_a.none(),
           "The words, the more frequent first, their classes, the log likelihood of the text before the first round "
           "and after each, and the words that moved in each; to be called once.");
}

}  // namespace

void bind_lm_train(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::system_error& e) {
      PyErr_SetObject(PyExc_OSError, nb::make_tuple(e.code().value(), e.what()).ptr());
    }
  });

  def_discounts(nb::class_<NgramTrainReport>(m, "NgramTrainReport", "What training saw and made.")
                    .def_ro("sentences", &NgramTrainReport::sentences, "Lines of the text.")
                    .def_ro("tokens", &NgramTrainReport::tokens, "Words of the text.")
                    .def_ro("types", &NgramTrainReport::types, "Different words of the text.")
                    .def_ro("counted", &NgramTrainReport::counted, "N-grams of each order before pruning.")
                    .def_ro("kept", &NgramTrainReport::kept, "N-grams of each order in the model.")
                    .def_ro("runs", &NgramTrainReport::runs,
                            "Sorted runs that went through the disk; 0: all fitted into memory."));

  nb::class_<EstimatedNgrams>(m, "EstimatedNgrams", "An estimated model in memory, as plain tables.")
      .def_prop_ro(
          "order", [](const EstimatedNgrams& model) { return model.orders.size(); }, "The highest order.")
      .def_prop_ro(
          "vocabulary",
          [](const EstimatedNgrams& model) {
            std::vector<std::string_view> out;
            for (Symbol word = 0; word < model.vocabulary.size(); ++word) out.push_back(model.vocabulary.text(word));
            return out;
          },
          "The words, by number.")
      .def(
          "words", [](const EstimatedNgrams& t, std::size_t order) { return view<Symbol>(order_of(t, order).words); },
          "order"_a, nb::rv_policy::reference_internal, "The numbers of the words, `order` for each n-gram.")
      .def(
          "log10_probability",
          [](const EstimatedNgrams& t, std::size_t order) { return view<float>(order_of(t, order).log10_probability); },
          "order"_a, nb::rv_policy::reference_internal, "The logarithm of the probability of each n-gram.")
      .def(
          "log10_backoff",
          [](const EstimatedNgrams& t, std::size_t order) { return view<float>(order_of(t, order).log10_backoff); },
          "order"_a, nb::rv_policy::reference_internal,
          "The logarithm of the back-off weight of each n-gram; empty in the highest order.")
      .def(
          "write_arpa",
          [](const EstimatedNgrams& model, const WriteCallable& write) {
            const auto target = to_write(write);
            const nb::gil_scoped_release release;
            ArpaWriter sink(target);
            model.give(sink);
          },
          "write"_a, "Call `write` with the bytes of the ARPA file, block by block.");

  nb::class_<WordSink>(m, "WordSink", "What learns from the words of a text.");

  bind_word_classes(m);
  bind_reshaping(m);

  nb::class_<NgramTrainer, WordSink>(m, "NgramTrainer", "Counts n-grams of sentences and estimates a model from them.")
      .def(
          "__init__",
          [](NgramTrainer* self, nb::handle given, std::shared_ptr<WordClasses> classes) {
            auto options = read_options<NgramTrainOptions>(given);
            options.check();
            new (self) NgramTrainer(std::move(options), std::move(classes));
          },
          "options"_a, "classes"_a = nb::none())
      .def_prop_ro("sentences", guarded(&NgramTrainer::sentences), "Sentences so far.")
      .def_prop_ro("tokens", guarded(&NgramTrainer::tokens), "Words so far.")
      .def_prop_ro("waiting", guarded(&NgramTrainer::waiting), "Words that `take_block` would give.")
      .def("take_block", guarded([](NgramTrainer& trainer) { return as_array(trainer.take_block()); }),
           "The sentences since the last call, in numbers of words, for `sort_ngrams`. All runs must come back.")
      .def("add_run", guarded(&NgramTrainer::add_run), "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Add the sorted run of a block, from a file.")
      .def("write_arpa",
           guarded([](NgramTrainer& trainer, const std::string& name, const WriteCallable& write,
                      const std::optional<ProgressCallable>& progress) {
             const auto target = to_write(write);
             const auto told = to_progress(progress);
             const nb::gil_scoped_release release;
             ArpaWriter sink(target);
             return trainer.finish(name, sink, told);
           }),
           "name"_a, "write"_a, "progress"_a.none(),
           "Estimate the model and call `write` with the bytes of the ARPA file, block by block; to be called once.")
      .def("estimate",
           guarded([](NgramTrainer& trainer, const std::string& name, const std::optional<ProgressCallable>& progress) {
             const auto told = to_progress(progress);
             const nb::gil_scoped_release release;
             EstimateCollector sink;
             NgramTrainReport report = trainer.finish(name, sink, told);
             return std::make_tuple(std::move(sink.estimate), std::move(report));
           }),
           "name"_a, "progress"_a.none(), "Estimate the model in memory; to be called once.");

  m.def(
      "sort_ngrams",
      [](const ArrayIn<std::uint32_t>& words, int order, const WriteCallable& write) {
        NgramTrainOptions options;
        options.order = order;
        options.check();
        const auto target = to_write(write);
        const nb::gil_scoped_release release;
        sort_block(as_span(words), static_cast<unsigned>(order), [&](std::span<const std::uint32_t> records) {
          target({reinterpret_cast<const char*>(records.data()), records.size_bytes()});
        });
      },
      "words"_a, "order"_a, "write"_a,
      "Count the n-grams of a block that a trainer gave, and call `write` with the bytes of its sorted run.");

  nb::class_<TrainingText>(m, "TrainingText", "A text that a trainer is fed with, in chunks of any size.")
      .def(nb::init<std::string, WordSink&>(), "file"_a, "trainer"_a, nb::keep_alive<1, 3>())
      .def("feed", guarded([](TrainingText& text, const nb::bytes& chunk) {
             const std::string_view bytes = bytes_view(chunk);
             const nb::gil_scoped_release release;
             text.feed(bytes);
           }),
           "chunk"_a, "More of the text.")
      .def("finish", guarded<TrainingText>(&TrainingText::finish), nb::call_guard<nb::gil_scoped_release>(),
           "The text is at its end.");

  nb::enum_<DependencyUnit>(m, "DependencyUnit", "What a dependency language model is over.")
      .value("words", DependencyUnit::words)
      .value("tags", DependencyUnit::tags);

  nb::enum_<DependencyConditioning>(m, "DependencyConditioning", "What a dependency language model predicts from.")
      .value("sibling", DependencyConditioning::sibling, "The head and the last sibling.")
      .value("trigram", DependencyConditioning::trigram, "The last two of the head and its children so far.");

  def_discounts(
      nb::class_<WindowModel>(m, "WindowModel", "A model over windows: its n-grams and how they were discounted.")
          .def_ro("ngrams", &WindowModel::ngrams, "The model."));

  nb::class_<DependencyEstimate>(m, "DependencyEstimate", "A dependency language model: three models over windows.")
      .def_ro("left", &DependencyEstimate::left, "Over two units and a left child.")
      .def_ro("right", &DependencyEstimate::right, "Over two units and a right child.")
      .def_ro("root", &DependencyEstimate::root, "Over roots.");

  nb::class_<DependencyTrainer>(m, "DependencyTrainer", "Counts the events of dependency trees and estimates a model.")
      .def(nb::init<DependencyUnit, const FallbackDiscounts&, DependencyConditioning>(), "unit"_a, "fallback"_a,
           "conditioning"_a)
      .def_prop_ro("sentences", guarded(&DependencyTrainer::sentences), "Sentences so far.")
      .def_prop_ro("events", guarded([](const DependencyTrainer& trainer) {
                     return std::make_tuple(trainer.events(0), trainer.events(1), trainer.events(2));
                   }),
                   "Left children, right children and roots so far.")
      .def("add", guarded([](DependencyTrainer& trainer, const Given<Dependency>& sentences) {
             const nb::gil_scoped_release release;
             for (const Dependency* sentence : sentences.values) trainer.add(*sentence);
           }),
           "sentences"_a, "More sentences.")
      .def("finish", guarded(&DependencyTrainer::finish), nb::call_guard<nb::gil_scoped_release>(),
           "Estimate the model; to be called once.");
}

}  // namespace treeglot
