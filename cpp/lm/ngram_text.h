// Text to train on: a line is a sentence, words are separated by blanks.
#pragma once

#include "lm/ngram_train.h"
#include "syntax/reader.h"

namespace treeglot {

class NgramText final : public LineReader {
 public:
  NgramText(std::string file, NgramTrainer& trainer) : LineReader(std::move(file), false), trainer_(&trainer) {}

  void feed(std::string_view chunk) {
    consume(chunk);
    raise_unless(false);
  }
  void finish() {
    close();
    raise_unless(false);
  }

 protected:
  void read_line(std::string_view line) override;
  void give_hole() override {}

 private:
  NgramTrainer* trainer_;
};

}  // namespace treeglot
