// Rules taken from sentence pairs, added up: what every extractor writes to.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/hash_index.h"
#include "rules/lexical.h"

namespace treeglot {

// Counts are multiples of 2^-28. Their sums are exact, in the core as in a database's doubles. So neither threads nor
// the order of rows can change a result.
constexpr std::uint32_t kCountUnit = 1u << 28;
inline std::uint32_t count_units(double count) {
  return static_cast<std::uint32_t>(std::lround(count * static_cast<double>(kCountUnit)));
}

// One rule, as codes (rules/code.h). Rules are the same when source and target are. The alignment (pairs of positions
// in the two sides) and the labels are notes on it. They are counted, and the most frequent are kept in the end.
struct CodedRule {
  std::string_view source, target, alignment, labels;
  double weight = 1.0;   // its counts are multiplied by this; at most 1
  PairShare share = {};  // then they are split
};

// The rules of a few pairs, one thread's, sorted into partitions by how their source sides begin.
class Occurrences {
 public:
  static constexpr std::size_t kPartitions = 128;

  // A weighted count has at least one unit. Its share of several alignments may have none.
  void add(const CodedRule& rule, std::uint32_t units);
  void visit(const std::function<void(const CodedRule&)>& take) const;  // a partition after the other
  const std::string& partition(std::size_t p) const { return partitions_[p]; }

 private:
  std::array<std::string, kPartitions> partitions_;
};

// Columns of rows, as Arrow has them.
struct BinaryColumn {
  std::vector<std::int32_t> offsets = {0};
  std::vector<char> bytes;

  void append(std::string_view value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
  }
  std::string_view operator[](std::size_t row) const {
    return {bytes.data() + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

struct RuleColumns {
  BinaryColumn source, target, alignment, labels;
  std::vector<double> count;
  std::vector<std::uint32_t> occurrences;  // merged rows: rounded; others: in parts
  std::vector<std::uint32_t> lhs;          // labels
  std::vector<std::uint8_t> variables;     // 255 stands for more
  std::vector<float> lex_target_given_source, lex_source_given_target;
  std::vector<std::uint32_t> source_row;  // the first of these rows that has the source side

  std::size_t rows() const { return count.size(); }
};

class Tally : public Exclusive {
 public:
  static constexpr std::size_t kPartitions = Occurrences::kPartitions;

  // Partitions are apart: different threads may add to different ones.
  void add(std::size_t partition, const Occurrences& occurrences) {
    partitions_[partition].add(occurrences.partition(partition));
  }

  // An occurrence has so many parts: Bitext::occurrence_parts() of the rules that are added.
  void set_occurrence_parts(std::uint32_t parts) { occurrence_parts_ = parts; }

  std::size_t rules() const;
  std::size_t bytes() const;  // of memory
  void clear();

  // The rules of some partitions, each sorted by source side, else in the order in which they were first seen. `merged`
  // gives a row for each rule, with its most frequent alignment and labels. Of equally frequent ones, the first seen is
  // taken. Such rows are final unless there are other tallies. Otherwise there is a row for every alignment and labels.
  RuleColumns columns(std::size_t first_partition, std::size_t last_partition, const LexicalTable& lexical,
                      bool merged) const;

 private:
  class Partition {
   public:
    void add(std::string_view records);
    void append_to(RuleColumns& columns, LexicalScorer& lexical, bool merged, std::uint32_t parts) const;
    std::size_t rules() const { return rules_; }
    std::size_t bytes() const;

   private:
    static constexpr std::uint32_t kNone = 0xffffffffu;
    // Before the bytes of an entry. What the first notes were seen with is the rest: all minus the others.
    struct Sum {
      std::uint64_t units;
      std::uint32_t occurrences;  // in parts
      std::uint32_t others;       // where the last seen of others_ begins, or kNone
    };
    // Stands before the bytes of notes that differ from the first notes of a rule, one for each time. Between them is a
    // byte: the parts of the occurrence. Alignments rarely
    // differ, and most labels that do are seen once (7.7M of 9.2M on 50,000 pairs). So a search for equals would take
    // more time and memory than it saves. Equals are added up when columns are made.
    struct Other {
      std::uint32_t units;
      std::uint32_t next;  // of the same entry: the one seen before this one, or kNone
    };

    void add_other(std::uint32_t entry, std::string_view notes, std::uint32_t units, std::uint32_t parts);
    std::vector<std::uint32_t> by_source() const;

    HashIndex index_;  // of entries, by where they begin
    std::vector<char> entries_;
    std::vector<char> others_;
    std::size_t rules_ = 0;
  };
  std::array<Partition, kPartitions> partitions_;
  std::uint32_t occurrence_parts_ = 1;
};

}  // namespace treeglot
