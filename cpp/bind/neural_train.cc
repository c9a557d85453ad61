#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"
#include "bind/parse_context.h"
#include "neural/joint_corpus.h"
#include "neural/joint_train.h"

namespace treeglot {

TREEGLOT_OPTIONS(JointLossOptions, samples, frequent, penalty, dropout, input_dropout, short_history);
TREEGLOT_OPTIONS(JointTrainOptions, history, before, after, source, sentence, lexical, heads, parse, embedding, hidden,
                 second, least_source, least_target, least_fallback, loss, batch, rate, decay, epochs, patience, seed,
                 save_every);

namespace {

using Sentence = std::vector<std::string_view>;
using Progress = nb::typed<nb::callable, nb::object(nb::int_, nb::int_, nb::int_)>;
using Report = nb::typed<nb::callable, nb::object(JointEpoch)>;
using Options = nb::typed<nb::dict, nb::str, nb::any>;

JointWatch to_watch(const Progress& progress, const Report& report) {
  return {.progress =
              [&progress](std::uint64_t epoch, std::uint64_t done, std::uint64_t total) {
                const nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                progress(epoch, done, total);
              },
          .report =
              [&report](const JointEpoch& epoch) {
                const nb::gil_scoped_acquire acquire;
                report(epoch);
              },
          .warn =
              [](const std::string& text) {
                const nb::gil_scoped_acquire acquire;
                if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
              }};
}

using Blocks = std::map<std::string, Array<float>, std::less<>>;

Blocks copied(const JointNetwork::Values& values) {
  Blocks out;
  for (std::size_t block = 0; block < JointNetwork::kBlocks; ++block)
    out.emplace(JointNetwork::kBlockNames[block], as_array(std::vector<float>(values[block])));
  return out;
}

// Blocks that a learner gives.
void take(const nb::object& given, JointNetwork::Values& values) {
  const auto blocks = nb::cast<std::map<std::string, ArrayIn<float>>>(given);
  for (std::size_t block = 0; block < JointNetwork::kBlocks; ++block) {
    const std::string name(JointNetwork::kBlockNames[block]);
    const auto found = blocks.find(name);
    if (found == blocks.end() || found->second.size() != values[block].size())
      throw nb::value_error(("the learner gave no block " + name + " of " + std::to_string(values[block].size()) +
                             " numbers; expected one")
                                .c_str());
    std::ranges::copy(as_span(found->second), values[block].begin());
  }
}

// A learner is any object with these methods (neural/learner.py).
JointLearner to_learner(nb::handle object) {
  for (const char* wanted : {"name", "begin", "learn", "blocks"})
    if (!nb::hasattr(object, wanted))
      throw nb::type_error((std::string("the learner has no ") + wanted + "; expected a JointLearner").c_str());
  return {.name = nb::cast<std::string>(object.attr("name")),
          .begin =
              [object](const JointNetwork& network) {
                const nb::gil_scoped_acquire acquire;
                object.attr("begin")(copied(network.values()), copied(network.means()), copied(network.variances()));
              },
          .learn =
              [object](const JointBatch& batch) {
                const nb::gil_scoped_acquire acquire;
                return nb::cast<double>(object.attr("learn")(nb::cast(batch, nb::rv_policy::copy)));
              },
          .give =
              [object](JointNetwork& network) {
                const nb::gil_scoped_acquire acquire;
                const auto parts = nb::cast<std::tuple<nb::object, nb::object, nb::object>>(object.attr("blocks")());
                take(std::get<0>(parts), network.values());
                take(std::get<1>(parts), network.means());
                take(std::get<2>(parts), network.variances());
              }};
}

// A network with parameters that can be looked at and changed, and its examples: to check gradients.
class Gradients {
 public:
  Gradients(const JointCorpus& corpus, const JointTrainOptions& options, unsigned threads)
      : facts_(joint_facts(options, corpus.parse_kind())),
        source_(choose_words(corpus, false, 1, 1)),
        target_(choose_words(corpus, true, 1, 1)),
        examples_(make_examples(corpus, facts_, source_.numbers, target_.numbers)),
        network_(facts_, source_.texts.size(), target_.counts, options.loss, static_cast<std::uint64_t>(options.seed)),
        crew_(threads) {
    for (std::uint32_t i = 0; i < examples_.size(); ++i) chosen_.push_back(i);
  }

  // The mean loss.
  double loss(std::uint64_t step) {
    return network_.differentiate({examples_, chosen_, step}, crew_) / static_cast<double>(chosen_.size());
  }
  JointBatch batch(std::uint64_t step) { return network_.drawn({examples_, chosen_, step}, crew_, {}); }
  JointNetwork& network() { return network_; }
  const JointExamples& examples() const { return examples_; }
  JointModel model() const { return network_.model(source_, target_); }

 private:
  JointFacts facts_;
  JointWords source_, target_;
  JointExamples examples_;
  JointNetwork network_;
  neural::Crew crew_;
  std::vector<std::uint32_t> chosen_;
};

std::size_t block_of(std::string_view name) {
  for (std::size_t block = 0; block < JointNetwork::kBlocks; ++block)
    if (JointNetwork::kBlockNames[block] == name) return block;
  throw nb::value_error("no block of parameters has this name");
}

// A field of a batch, as a view.
template <auto kField>
void bind_field(nb::class_<JointBatch>& batch, const char* name, const char* help) {
  batch.def_prop_ro(
      name,
      [](const JointBatch& self) {
        return view(std::span<const typename std::decay_t<decltype(self.*kField)>::value_type>(self.*kField));
      },
      nb::rv_policy::reference_internal, help);
}

void bind_batch(nb::module_& m) {
  nb::class_<JointBatch> batch(m, "JointBatch", "Examples to learn from at once, with all that is random about them.");
  bind_field<&JointBatch::places>(batch, "places",
                                  "Rows of the embeddings: those of the first example, in the order of its inputs, …");
  bind_field<&JointBatch::sources>(batch, "sources", "Rows of the embeddings whose mean is one more input.");
  bind_field<&JointBatch::begins>(batch, "begins", "Where the sources of each example begin, and their end.");
  bind_field<&JointBatch::columns>(batch, "columns", "Of each example: which candidate is its word.");
  bind_field<&JointBatch::candidates>(batch, "candidates", "The words that are summed over.");
  bind_field<&JointBatch::log_weights>(batch, "log_weights", "The log of how many words each candidate stands for.");
  bind_field<&JointBatch::in_kept>(batch, "in_kept", "1 for inputs that dropout keeps, by example; empty: all.");
  bind_field<&JointBatch::hidden_kept>(batch, "hidden_kept", "The same for the units of the hidden layer.");
  bind_field<&JointBatch::second_kept>(batch, "second_kept", "The same for the units of the second hidden layer.");
  batch.def_ro("mean_at", &JointBatch::mean_at, "The place of the mean among the inputs; -1: there is none.")
      .def_ro("in_scale", &JointBatch::in_scale, "What kept inputs are multiplied by.")
      .def_ro("hidden_scale", &JointBatch::hidden_scale, "The same for hidden units.")
      .def_prop_ro(
          "rate", [](const JointBatch& self) { return self.step.rate; }, "The rate of Adam, corrections included.")
      .def_prop_ro(
          "decays",
          [](const JointBatch& self) { return std::tuple(self.step.first, self.step.second, self.step.decay); },
          "What Adam keeps of both moments, and the share of the weights that is lost.")
      .def_prop_ro("epsilon", [](const JointBatch& self) { return self.step.epsilon; }, "That of Adam.");
}

void bind_gradients(nb::module_& m) {
  nb::class_<Gradients>(m, "JointGradients", "The loss of a network on one batch, and its gradients: for tests.")
      .def(
          "__init__",
          [](Gradients* self, const JointCorpus& corpus, const Options& options, unsigned threads) {
            const auto read = read_options<JointTrainOptions>(options);
            read.check();
            check_kind(corpus, read);
            new (self) Gradients(corpus, read, threads);
          },
          "corpus"_a, "options"_a, "threads"_a = 1)
      .def("loss", &Gradients::loss, "step"_a = 1, "The mean loss of all examples.")
      .def("batch", &Gradients::batch, "step"_a = 1, "The batch of all examples, as a learner gets it.")
      .def(
          "values",
          [](Gradients& self, std::string_view block) {
            return as_array(std::vector<float>(self.network().values()[block_of(block)]));
          },
          "block"_a, "A block of parameters.")
      .def(
          "set",
          [](Gradients& self, std::string_view block, std::span<const float> values) {
            std::vector<float>& to = self.network().values()[block_of(block)];
            if (values.size() != to.size()) throw nb::value_error("a block of another size");
            to.assign(values.begin(), values.end());
          },
          "block"_a, "values"_a, "Change a block of parameters.")
      .def(
          "gradient",
          [](Gradients& self, std::string_view block) {
            return as_array(std::vector<float>(self.network().gradients()[block_of(block)]));
          },
          "block"_a, "What the last loss gave for a block.")
      .def(
          "contexts", [](const Gradients& self) { return as_array(std::vector(self.examples().contexts)); },
          "The numbers of the words that each example is predicted from, one example after the other.")
      .def(
          "words", [](const Gradients& self) { return as_array(std::vector(self.examples().words)); },
          "The number of each example's word.")
      .def("model", &Gradients::model, "The model that these parameters make.");
}

std::vector<const float*> row_pointers(std::span<const float> values, std::size_t length) {
  std::vector<const float*> out;
  for (std::size_t at = 0; at < values.size(); at += length) out.push_back(values.data() + at);
  return out;
}

// For tests: what loops of each width compute.
void bind_vector_math(nb::module_& m) {
  m.def("register_width", &register_width, "How many floats a register of this processor holds.");
  m.def(
      "neural_dot",
      [](std::span<const float> a, std::span<const float> b, unsigned width) {
        if (a.size() != b.size() || a.size() % kLanes != 0)
          throw nb::value_error("expected vectors of one length, a multiple of 16");
        if (width > register_width()) throw nb::value_error("this processor has no such registers");
        return neural::vector_math(width).dot(a.data(), b.data(), a.size());
      },
      "a"_a, "b"_a, "width"_a, "The dot product by registers of so many floats: for tests.");
  m.def(
      "neural_tanh",
      [](std::span<const float> values, unsigned width) {
        if (values.size() % kLanes != 0) throw nb::value_error("expected a length that is a multiple of 16");
        if (width > register_width()) throw nb::value_error("this processor has no such registers");
        std::vector<float> out(values.begin(), values.end());
        neural::vector_math(width).tanh(out.data(), out.size());
        return as_array(std::move(out));
      },
      "values"_a, "width"_a, "The hyperbolic tangents by registers of so many floats: for tests.");
  m.def(
      "neural_tanh_of_sum",
      [](std::span<const float> parts, std::size_t length, unsigned width) {
        if (length == 0 || length % kLanes != 0 || parts.empty() || parts.size() % length != 0)
          throw nb::value_error("expected parts of one length, a multiple of 16");
        if (width > register_width()) throw nb::value_error("this processor has no such registers");
        const std::vector<const float*> rows = row_pointers(parts, length);
        std::vector<float> out(length);
        neural::vector_math(width).tanh_of_sum(out.data(), rows, length);
        return as_array(std::move(out));
      },
      "parts"_a, "length"_a, "width"_a,
      "The hyperbolic tangents of the sum of vectors, by registers of so many floats: for tests.");
  m.def(
      "neural_multiply",
      [](std::span<const float> a, std::span<const float> b, std::size_t columns, unsigned width) {
        if (columns == 0 || columns % kLanes != 0 || b.empty() || b.size() % columns != 0)
          throw nb::value_error("expected a number of columns that is a multiple of 16, and full rows");
        const std::size_t depth = b.size() / columns;
        if (a.size() % depth != 0) throw nb::value_error("expected matrices that can be multiplied");
        if (width > register_width()) throw nb::value_error("this processor has no such registers");
        const std::vector<const float*> rows = row_pointers(a, depth);
        std::vector<float> out(rows.size() * columns);
        neural::vector_math(width).multiply_add({rows, depth, b.data(), columns, out.data(), columns, columns});
        return as_array(std::move(out));
      },
      "a"_a, "b"_a, "columns"_a, "width"_a, "The product of matrices, by registers of so many floats: for tests.");
}

}  // namespace

void bind_neural_train(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const TrainingDiverged& e) {
      PyErr_SetString(nb::module_::import_("treeglot.base.errors").attr("TreeglotError").ptr(), e.what());
    }
  });

  nb::class_<JointCorpus>(m, "JointCorpus", "Aligned sentence pairs to train a joint model with.")
      .def(nb::init<bool, bool>(), "lexical"_a = false, "heads"_a = false)
      .def("__len__", guarded(&JointCorpus::pairs))
      .def_prop_ro("empty", guarded(&JointCorpus::empty), "Pairs with an empty side, which are left out.")
      .def_prop_ro("unlinked", guarded(&JointCorpus::unlinked), "Pairs without links.")
      .def_prop_ro("examples", guarded(&JointCorpus::examples),
                   "Target words and sentence ends; of a lexical corpus, source words; of heads, target words.")
      .def_prop_ro("treeless", guarded(&JointCorpus::treeless),
                   "Pairs without the target tree that models over heads learn from, which are left out.")
      .def("add",
           guarded([](JointCorpus& self, const Sentence& source, const Sentence& target, const Alignment& links,
                      const std::optional<SourceParse>& parse,
                      const Dependency* tree) { self.add(source, target, links, to_context(parse), tree); }),
           "source"_a, "target"_a, "links"_a, "parse"_a = nb::none(), "tree"_a = nb::none(), "One more pair.");
  nb::class_<JointEpoch>(m, "JointEpoch", "How training stands after an epoch.")
      .def_ro("epoch", &JointEpoch::epoch, "Its number, from 1 on.")
      .def_ro("rate", &JointEpoch::rate, "The learning rate.")
      .def_ro("train_loss", &JointEpoch::train_loss, "The mean loss of its examples, with dropout and penalty.")
      .def_ro("perplexity", &JointEpoch::perplexity, "That of held-out words, exactly normalised.")
      .def_ro("mean_log_sum", &JointEpoch::mean_log_sum, "The mean log Z of held-out examples.")
      .def_ro("log_sum_error", &JointEpoch::log_sum_error, "The root mean square of their log Z.")
      .def_prop_ro(
          "best", [](const JointEpoch& self) { return self.best != 0; }, "Whether no epoch before was better.");
  m.def(
      "train_joint",
      [](const JointCorpus& corpus, const JointCorpus& held_out, const Options& options, unsigned threads,
         const std::string& file, const Progress& progress, const Report& report, const nb::object& learner) {
        const Use<const JointCorpus> used(corpus), also_used(held_out);
        const auto read = read_options<JointTrainOptions>(options);
        const JointWatch watch = to_watch(progress, report);
        std::optional<JointLearner> used_learner;
        if (!learner.is_none()) used_learner = to_learner(learner);
        const nb::gil_scoped_release release;
        return train_joint(corpus, held_out, read, threads, file, watch, used_learner ? &*used_learner : nullptr);
      },
      "corpus"_a, "held_out"_a, "options"_a, "threads"_a, "file"_a, "progress"_a, "report"_a,
      "learner"_a.none() = nb::none(),
      "Train a joint model. A run that was killed continues from `file`. A `learner` learns in place of the core.");
  bind_batch(m);
  bind_gradients(m);
  bind_vector_math(m);
}

}  // namespace treeglot
