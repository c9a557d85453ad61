// The network's numbers of target words: those of the table, and those that a sentence adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "neural/joint_model.h"

namespace treeglot {

class JointNumbers {
 public:
  // `ids` are the numbers of the table's words.
  explicit JointNumbers(std::shared_ptr<const std::vector<std::uint32_t>> ids)
      : ids_(std::move(ids)), first_added_(static_cast<std::int32_t>(ids_->size())) {}

  void begin_sentence(const JointVocabulary& target, const SearchedSentence& sentence) {
    first_added_ = sentence.first;
    added_.clear();
    for (const std::string& word : sentence.added) added_.push_back(target.find(word));
  }

  std::uint32_t operator[](std::int32_t symbol) const {
    return symbol < first_added_ ? (*ids_)[static_cast<std::size_t>(symbol)]
                                 : added_[static_cast<std::size_t>(symbol - first_added_)];
  }

 private:
  std::shared_ptr<const std::vector<std::uint32_t>> ids_;
  std::int32_t first_added_;
  std::vector<std::uint32_t> added_;
};

}  // namespace treeglot
