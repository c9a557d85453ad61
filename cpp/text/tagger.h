// A linear model that tags the items of a sequence. Features are hashes. Viterbi's algorithm over pairs of tags finds
// the best sequence, and the averaged perceptron learns the weights (Collins 2002). Weights are whole numbers: the same
// input gives the same tags and the same files everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/sections.h"
#include "base/symbols.h"

namespace treeglot {

constexpr std::size_t kTags = 4;
using Tag = std::uint8_t;
using TagMask = std::uint8_t;  // a set of tags, by bits
constexpr TagMask kAnyTag = (1u << kTags) - 1;

// Hashes the parts of a feature one after the other.
class FeatureHash {
 public:
  explicit FeatureHash(std::uint64_t which) : hash_(which * 0x9e3779b97f4a7c15u + 1) {}
  FeatureHash& operator<<(std::uint64_t part) {
    hash_ = (hash_ ^ part) * 0xff51afd7ed558ccdu;
    hash_ ^= hash_ >> 32;
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_;
};

// The features of a sequence's items, each with the same number of them.
struct TagItems {
  std::size_t width;                                                       // features of an item
  std::vector<std::uint64_t> features;                                     // item by item
  std::vector<TagMask> allowed;                                            // by item
  std::array<TagMask, kTags> next = {kAnyTag, kAnyTag, kAnyTag, kAnyTag};  // by tag: what may follow it

  explicit TagItems(std::size_t features_of_item) : width(features_of_item) {}
  std::size_t size() const { return allowed.size(); }
  void add_item(TagMask tags = kAnyTag) { allowed.push_back(tags); }
  // Adds a feature to the last item; it differs from the item's others even if its parts are the same.
  template <class... Parts>
  void add(Parts... parts) {
    FeatureHash hash(features.size() % width);
    ((hash << static_cast<std::uint64_t>(parts)), ...);
    features.push_back(hash.value());
  }
  void clear() {
    features.clear();
    allowed.clear();
  }
};

class Tagger {
 public:
  struct Slot {
    std::uint32_t check = 0;                       // the low bits of the feature's hash
    std::array<std::int16_t, kTags> weights = {};  // all 0: the slot is free
  };

  explicit Tagger(const Sections& sections);  // a view: the sections must outlive it
  static void add_sections(Sections& sections, const std::vector<std::pair<std::uint64_t, Slot>>& weights);

  std::vector<Tag> tag(const TagItems& items) const;
  bool knows(std::uint64_t feature) const;  // whether training gave it a weight

 private:
  std::span<const Slot> slots_;
};

// Learns from `count` sequences and adds the weights to `sections`: make(i, items, gold) gives sequence i.
void train_tagger(Sections& sections, std::size_t count, std::size_t width,
                  const std::function<void(std::size_t, TagItems&, std::vector<Tag>&)>& make);

}  // namespace treeglot
