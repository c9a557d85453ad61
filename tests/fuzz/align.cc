// The files that cpp/align reads.
#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "align/chain.h"
#include "align/train.h"
#include "targets.h"

namespace treeglot {
namespace {

SentencePairs seed_pairs() {
  SentencePairs out(20);
  const std::string_view source[] = {"das", "haus", "ist", "klein"}, target[] = {"the", "house", "is", "small"};
  for (std::size_t size = 4; size > 0; --size) out.append(std::span(source).first(size), std::span(target).last(size));
  return out;
}

void use_aligner(std::string_view bytes) {
  const Aligner aligner = Aligner::open(as_file(bytes));
  const std::string_view source[] = {"das", "haus", "x"}, target[] = {"house", "the"};
  (void)aligner.align(source, target, Symmetrization::grow_diag_final_and);
  if (std::isnan(aligner.score(source, target))) throw std::logic_error("a score is no number");
  for (const float value : aligner.posteriors(source, target).forward)
    if (std::isnan(value)) throw std::logic_error("a posterior is no number");
  SentencePairs more = aligner.new_pairs(20);
  more.append(source, target);
  (void)train_sampler(more, &aligner, {}, {.chains = 1, .rounds = 1}, 1, "", [](auto, auto) {});
}

constexpr std::uint64_t kKey = 7;

void use_chain(std::string_view bytes) {
  static const SentencePairs pairs = seed_pairs();
  static const Cells cells(pairs, false);
  static const std::atomic<bool> stop = false;
  Chain chain(cells, false, {}, nullptr, 1);
  if (!chain.load(as_file(bytes), kKey)) throw std::invalid_argument("it starts again");
  chain.round(AlignLevel::fertilities, stop);
  chain.keep();
}

std::string seed_chain() {
  const SentencePairs pairs = seed_pairs();
  const Cells cells(pairs, false);
  const std::atomic<bool> stop = false;
  Chain chain(cells, false, {}, nullptr, 1);
  for (const AlignLevel level : {AlignLevel::words, AlignLevel::fertilities}) chain.round(level, stop);
  chain.keep();
  return file_bytes([&](const std::string& path) { chain.save(path, kKey); });
}

}  // namespace

std::map<std::string, Target> align_targets() {
  const SentencePairs pairs = seed_pairs();
  const Aligner sampled = train_sampler(pairs, nullptr, {}, {.rounds = 2}, 1, "", [](auto, auto) {});
  const Aligner hmm = train_hmm(pairs, {}, 1, [](auto, auto) {});
  std::map<std::string, Target> out;
  out["aligner.bin"] = {{file_bytes([&](auto& path) { sampled.save(path); }),
                         file_bytes([&](auto& path) { hmm.save(path); })},
                        use_aligner,
                        true};
  out["align-chain.bin"] = {{seed_chain()}, use_chain, true};
  return out;
}

}  // namespace treeglot
