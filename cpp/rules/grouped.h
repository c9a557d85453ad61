// Values and how often each was seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"

namespace treeglot {

// In the order in which the values were first seen. The caller keeps their bytes.
class Grouped {
 public:
  struct Group {
    std::string_view value;
    std::uint64_t units;
    std::uint64_t occurrences;  // a row has 32 bits, a sum of rows may need more
  };

  void clear() {
    groups_.clear();
    index_.clear();
  }
  void add(std::string_view value, std::uint64_t units, std::uint32_t occurrences) {
    const auto next = static_cast<std::uint32_t>(groups_.size());
    const std::uint32_t at =
        index_.intern(hash_bytes(value), next, [&](std::uint32_t known) { return groups_[known].value == value; });
    if (at == next) groups_.push_back({value, 0, 0});
    Group& group = groups_[at];
    group.units += units;
    group.occurrences += occurrences;
  }
  const std::vector<Group>& groups() const { return groups_; }
  // The value with the most occurrences. Of equally frequent ones, the first.
  std::string_view most_frequent() const { return std::ranges::max_element(groups_, {}, &Group::occurrences)->value; }

 private:
  std::vector<Group> groups_;
  HashIndex index_;
};

}  // namespace treeglot
