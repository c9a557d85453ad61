// The files that cpp/text reads.
#include "targets.h"
#include "text/caser.h"
#include "text/segmenter.h"
#include "text/spacer.h"
#include "text/word_rules.h"

namespace treeglot {
namespace {

constexpr std::string_view kText = "Das Haus ist klein.\nDas ist es.";
std::vector<BrokenLine> seed_lines() {
  static constexpr std::int32_t kEnds[] = {3, 4, 8, 9, 12, 13, 18, 19};
  return broken_lines(kText, kEnds);
}

Segmenter seed_segmenter() {
  SegmenterCounts counts;
  const std::string words[] = {"Das Haus ist klein .", "Das ist es ."};
  return Segmenter::train(seed_lines(), words, counts);
}

Spacer seed_spacer() {
  std::vector<Tokens> sentences;
  for (const BrokenLine& line : seed_lines()) sentences.push_back(split_words(line, {}));
  std::vector<const Tokens*> given;
  for (const Tokens& sentence : sentences) given.push_back(&sentence);
  return Spacer::train(given);
}

Caser seed_caser() {
  const CasedText text = {{{"Das", "Haus", "McX"}}, {{"das", "haus", "mcx"}}};
  return Caser::train(text, {{'d', 'D'}, {'h', 'H'}, {'m', 'M'}, {'x', 'X'}});
}

void use_segmenter(std::string_view bytes) {
  const Segmenter segmenter = Segmenter::open(as_file(bytes));
  for (const BrokenLine& line : seed_lines()) (void)segmenter.segment(line);
}
void use_spacer(std::string_view bytes) { (void)Spacer::open(as_file(bytes)).join({"Das", "Haus", ".", "x"}); }
void use_caser(std::string_view bytes) { (void)Caser::open(as_file(bytes)).restore({"das", "haus", "mcx", "x"}); }

}  // namespace

std::map<std::string, Target> text_targets() {
  std::map<std::string, Target> out;
  out["segmenter.bin"] = {{file_bytes([](auto& path) { seed_segmenter().write(path); })}, use_segmenter, true};
  out["spacer.bin"] = {{file_bytes([](auto& path) { seed_spacer().write(path); })}, use_spacer, true};
  out["caser.bin"] = {{file_bytes([](auto& path) { seed_caser().write(path); })}, use_caser, true};
  return out;
}

}  // namespace treeglot
