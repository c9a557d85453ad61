// The files that cpp/neural reads.
#include <cmath>
#include <stdexcept>

#include "neural/joint_train.h"
#include "targets.h"

namespace treeglot {
namespace {

JointCorpus seed_corpus() {
  JointCorpus out;
  const std::string_view source[] = {"das", "haus", "ist", "klein"}, target[] = {"the", "house", "is", "small"};
  for (std::size_t size = 4; size > 1; --size) {
    std::vector<Link> links;
    for (std::uint32_t i = 0; i < size; ++i) links.push_back({i, i});
    out.add(std::span(source).first(size), std::span(target).first(size), Alignment(links));
  }
  return out;
}

// Ends a run on purpose: its state stays in the file.
struct Enough {};

// The model, or Enough when that many batches are learnt, or at the end of an epoch.
JointModel train_seed(const std::string& file, int batches, double save_every) {
  static const JointCorpus corpus = seed_corpus();
  JointTrainOptions options;
  options.history = 2;
  options.before = options.after = 1;
  options.embedding = options.hidden = 16;
  options.least_source = options.least_target = options.least_fallback = 1;
  options.epochs = 1;
  options.batch = 4;
  options.save_every = save_every;
  int left = batches;
  const auto progress = [&](auto, auto, auto) {
    if (--left == 0) throw Enough();
  };
  const auto report = [&](const JointEpoch&) {
    if (left > 0) throw Enough();
  };
  const auto warn = [](const std::string&) {};
  return train_joint(corpus, corpus, options, 1, file, {progress, report, warn});
}

// Scores the words of a sentence, one after the other.
void use_model(std::string_view bytes) {
  const JointModel model = JointModel::open(as_file(bytes));
  std::vector<std::uint32_t> source;
  for (const std::string_view word : {"das", "haus", "x1"}) source.push_back(model.source().find(word));
  const JointModel::Rows rows = model.prepare(source);
  std::vector<std::uint32_t> history(model.facts().history, JointVocabulary::kBegin);
  std::vector<float> hidden(model.facts().last());
  for (const std::size_t row : {std::size_t{0}, rows.end_row(), rows.none_row()}) {
    model.hidden(rows[row], history.data(), hidden.data());
    const std::uint32_t word = model.target().find(row == 0 ? "the" : "2x");
    if (!std::isfinite(model.score(hidden.data(), word))) throw std::logic_error("a score is not finite");
    if (std::isnan(model.log_sum(hidden.data()))) throw std::logic_error("a sum is no number");
    if (!history.empty()) history[0] = word;
  }
}

// Goes on with one batch, which writes nothing.
void use_state(std::string_view bytes) {
  try {
    (void)train_seed(as_file(bytes), 1, 1e9);
  } catch (const Enough&) {
  } catch (const TrainingDiverged& error) {
    throw std::invalid_argument(error.what());
  }
}

void write_seed_state(const std::string& path) {
  try {
    (void)train_seed(path, 3, 0);
  } catch (const Enough&) {
  }
}

}  // namespace

std::map<std::string, Target> neural_targets() {
  std::map<std::string, Target> out;
  out["neural.bin"] = {{file_bytes([](auto& path) { train_seed("", 0, 1e9).write(path); })}, use_model, true};
  out["neural-state"] = {{file_bytes(write_seed_state)}, use_state, true};
  return out;
}

}  // namespace treeglot
