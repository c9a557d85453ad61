// Text to train on: a line is a sentence, words are separated by blanks.
#pragma once

#include "lm/ngram_train.h"
#include "syntax/reader.h"

namespace treeglot {

class NgramText final : public LineSink {
 public:
  NgramText(std::string file, NgramTrainer& trainer) : LineSink(std::move(file), false), trainer_(&trainer) {}

 protected:
  void read_line(std::string_view line) override;

 private:
  NgramTrainer* trainer_;
};

}  // namespace treeglot
