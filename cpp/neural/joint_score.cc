#include "neural/joint_score.h"

#include <algorithm>

#include "neural/head_context.h"
#include "syntax/affiliation.h"

namespace treeglot {
namespace {

void add_score(const JointModel& model, const float* hidden, std::uint32_t word, bool normalise, JointScores& out) {
  float score = model.score(hidden, word);
  if (normalise) {
    out.log_sums.push_back(model.log_sum(hidden));
    score -= static_cast<float>(out.log_sums.back());
  }
  out.log_probabilities.push_back(score);
}

}  // namespace

void score_words(const JointModel& model, const JointModel::Rows& rows, std::span<const std::uint32_t> target,
                 std::span<const Link> links, bool normalise, JointScores& out) {
  std::vector<std::uint32_t> affiliated =
      affiliations(links, target.size(), static_cast<std::uint32_t>(rows.none_row()));
  affiliated.push_back(static_cast<std::uint32_t>(rows.end_row()));
  std::vector<std::uint32_t> history(model.facts().history, JointVocabulary::kBegin);  // the newest first
  std::vector<float> hidden(model.facts().last());
  for (std::size_t i = 0; i < affiliated.size(); ++i) {
    const std::uint32_t word = i < target.size() ? target[i] : JointVocabulary::kEnd;
    model.hidden(rows[affiliated[i]], history.data(), hidden.data());
    add_score(model, hidden.data(), word, normalise, out);
    std::shift_right(history.begin(), history.end(), 1);
    history.front() = word;
  }
}

void score_tree(const JointModel& model, const JointModel::Rows& rows, std::span<const std::uint32_t> target,
                std::span<const Link> links, const Dependency& tree, bool normalise, JointScores& out) {
  const std::vector<std::uint32_t> affiliated =
      affiliations(links, target.size(), static_cast<std::uint32_t>(rows.none_row()));
  std::vector<HeadContext> contexts(target.size(), kRootContext);
  const auto child = [&](std::size_t word, DependencySiblings siblings, DependencySide side) {
    contexts[word] = head_context(target[static_cast<std::size_t>(tree.head(word))], side, siblings);
  };
  for_each_arc(tree, target, [](std::size_t) {}, child);
  std::vector<float> hidden(model.facts().last());
  for (std::size_t word = 0; word < target.size(); ++word) {
    model.hidden(rows[affiliated[word]], contexts[word].data(), hidden.data());
    add_score(model, hidden.data(), target[word], normalise, out);
  }
}

void score_translations(const JointModel& model, const JointModel::Rows& rows,
                        std::span<const std::uint32_t> translations, bool normalise, JointScores& out) {
  std::vector<float> hidden(model.facts().last());
  for (std::size_t at = 0; at < rows.words(); ++at) {
    model.hidden(rows[at], nullptr, hidden.data());
    add_score(model, hidden.data(), translations[at], normalise, out);
  }
}

}  // namespace treeglot
