// ARPA files, read strictly into a builder.
//
//   \data\            and then the counts, a line per order
//   ngram 1=COUNT
//   \1-grams:         blank lines may stand between sections
//   -1.2 word -0.3    log10 probability, words, log10 backoff, with a tab or a space between them
//   \end\             and then nothing
//
// The backoff may be left out, and has to be at the highest order (a 0 there is let pass).
//
// Before \data\ there may be lines that begin with #. <UNK> is <unk>; without it, it gets log10 −100, as in KenLM.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/ngram_build.h"
#include "syntax/reader.h"

namespace treeglot {

class ArpaReader final : public LineSink {
 public:
  // `bytes` is the approximate length of the file, if it is known. It says which counts can be believed before they are
  // seen. Tables of more than `memory` bytes are in files in `folder`; 0 keeps all in memory.
  explicit ArpaReader(std::string file, std::uint64_t bytes = 0, std::uint64_t memory = 0, std::string folder = {})
      : LineSink(std::move(file), false), bytes_(bytes), memory_(memory), folder_(std::move(folder)) {}

  bool spills() const { return spills_; }  // whether the tables are in files, as the counts in \data\ say

  // Both end the reading, and refuse an incomplete file. A model whose tables are in files is written to a file. With
  // `classes`, the words of the file are the numbers of these classes.
  NgramModel finish(NgramLayout layout, const WordClasses* classes = nullptr);
  void write(const std::string& path, NgramLayout layout, const WordClasses* classes = nullptr);

 protected:
  void read_line(std::string_view line) final;
  void end_of_file() final;

 private:
  enum class Part { before, counts, header, ngrams, after };

  void read_count(std::string_view line);
  void read_header(std::string_view line);
  using Fields = std::array<std::string_view, kMaxNgramOrder + 2>;
  std::size_t split(std::string_view line, std::size_t most, Fields& fields) const;
  void check_size(float log10, std::string_view field) const;
  void read_ngram(std::string_view line);
  void begin_sections();
  void end_section();
  std::size_t order() const { return counts_.size(); }

  template <class Make>
  auto finished(const Make& make);

  std::uint64_t bytes_, memory_;
  std::string folder_;
  bool spills_ = false;
  Part part_ = Part::before;
  std::vector<std::uint64_t> counts_;              // as \data\ gives them
  std::size_t section_ = 0;                        // the order that is being read
  std::uint64_t seen_ = 0;                         // n-grams of it
  std::array<WordId, kMaxNgramOrder> words_ = {};  // of the n-gram at hand
  std::optional<NgramBuilder> builder_;
};

}  // namespace treeglot
