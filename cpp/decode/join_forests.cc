#include "decode/join_forests.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hash_index.h"

namespace treeglot {
namespace {

// In the order in which the nodes over a span may stand on each other.
enum class Use : std::uint8_t { common, apart, begins, goal };

// What becomes one node has one key. Keys are ordered as nodes are: those of a span after those of spans inside it.
struct Key {
  std::uint32_t size, begin;
  Use use;
  std::uint32_t number;  // common: the height; apart: no other has it

  friend auto operator<=>(const Key&, const Key&) = default;
};

class Union {
 public:
  explicit Union(std::vector<TranslationForest> parts)
      : kept_(std::make_shared<const std::vector<TranslationForest>>(std::move(parts))), parts_(*kept_) {
    for (const TranslationForest& part : parts_) {
      std::vector<Node>& nodes = nodes_.emplace_back();
      for (NodeId node = 0; node < part.graph.nodes(); ++node) nodes.push_back(look(part, nodes, node));
    }
  }

  TranslationForest run() {
    make_nodes();
    for (std::uint32_t part = 0; part < parts_.size(); ++part)
      for (EdgeId edge = 0; edge < parts_[part].graph.edges(); ++edge) add(part, edge);

    NodeId goal = kNoNode;
    bool values = false;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const TranslationForest& from = parts_[part];
      values |= !from.edge_value.empty();
      if (from.graph.goal() != kNoNode) goal = nodes_[part][from.graph.goal()].first;
      for (const std::string& note : from.notes) out_.note(note);
    }
    TranslationForest out = out_.freeze(goal, values ? std::optional<FeatureId>(0) : std::nullopt);
    for (const TranslationForest& part : parts_)
      if (!out.tree) out.tree = part.tree;
    out.parts = kept_;
    return out;
  }

 private:
  // A node of a part.
  struct Node {
    Use use = Use::common;
    std::uint32_t height = 0;
    std::uint32_t number = 0;                // of one that is apart
    NodeId first = kNoNode, last = kNoNode;  // what it becomes: the nodes of all heights
  };
  struct Added {
    NodeId head;
    const Alternative* alternatives;
    std::uint32_t first_tail;
    float value;
  };

  // What a node is, after those before it.
  Node look(const TranslationForest& part, const std::vector<Node>& before, NodeId node) {
    Node out;
    if (node < part.apart.size() && part.apart[node]) {
      out.use = Use::apart;
      out.number = apart_++;
    }
    for (EdgeId edge = part.graph.edges_begin(node); edge < part.graph.edges_end(node); ++edge) {
      if ((part.place[edge] & kBegins) != 0) out.use = Use::begins;
      for (const NodeId tail : part.graph.tails(edge)) {
        if (before[tail].use == Use::begins) out.use = Use::begins;
        if (before[tail].use == Use::common && part.spans[tail] == part.spans[node])
          out.height = std::max(out.height, before[tail].height + 1);
      }
    }
    if (node == part.graph.goal()) out.use = Use::goal;
    return out;
  }

  static Key key_of(const Node& node, Span span) { return {span.size(), span.begin, node.use, node.number}; }

  void make_nodes() {
    std::map<Key, std::pair<std::uint32_t, NodeId>> made;  // how many heights, and the first of these nodes
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      for (NodeId node = 0; node < nodes_[part].size(); ++node) {
        const Node& at = nodes_[part][node];
        std::uint32_t& heights = made[key_of(at, parts_[part].spans[node])].first;
        heights = std::max(heights, at.use == Use::common ? at.height + 1 : 1);
      }
    }
    for (auto& [key, nodes] : made) {
      const bool sentence = key.use >= Use::begins;
      for (std::uint32_t height = 0; height < nodes.first; ++height) {
        const NodeId node =
            out_.add_node({key.begin, key.begin + key.size}, sentence ? Symbols::kNone : 0, sentence ? "S" : "X");
        if (height == 0) nodes.second = node;
      }
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      for (NodeId node = 0; node < nodes_[part].size(); ++node) {
        Node& at = nodes_[part][node];
        const auto [heights, first] = made.at(key_of(at, parts_[part].spans[node]));
        at.first = first;
        at.last = first + heights - 1;
      }
    }
  }

  void add(std::uint32_t part, EdgeId edge) {
    const TranslationForest& from = parts_[part];
    const NodeId head = from.graph.head(edge);
    const Node& at = nodes_[part][head];
    NodeId made = at.first;
    tails_.clear();
    for (const NodeId tail : from.graph.tails(edge)) {
      const Node& below = nodes_[part][tail];
      if (at.use == Use::common && below.use == Use::common && from.spans[tail] == from.spans[head]) {
        tails_.push_back(below.first + below.height);
        made = tails_.back() + 1;
      } else {
        tails_.push_back(below.last);
      }
    }
    if (std::ranges::any_of(tails_, [&](NodeId tail) { return tail >= made; }))
      throw std::logic_error("a part of a sentence's forest leads to what covers the same words");
    const float value = from.edge_value.empty() ? 0 : from.edge_value[edge];
    if (!is_new(made, from.alternatives[edge].data(), value)) return;
    for (; made <= at.last; ++made) {
      out_.add_origin({part, edge});
      out_.add_edge(made, tails_, from.alternatives[edge], from.place[edge], value);
    }
  }

  // Whether no edge has these rules on these tails: labels that become one may have the same matches.
  bool is_new(NodeId head, const Alternative* alternatives, float value) {
    std::uint64_t hash =
        hash_number(reinterpret_cast<std::uintptr_t>(alternatives) ^ std::bit_cast<std::uint32_t>(value));
    for (const NodeId tail : tails_) hash = hash_number(hash + tail);
    const auto next = static_cast<std::uint32_t>(added_.size());
    const std::uint32_t found = index_.intern(hash_number(hash + head), next, [&](std::uint32_t known) {
      const Added& other = added_[known];
      const auto end = known + 1 < added_.size() ? added_[known + 1].first_tail : added_tails_.size();
      return other.head == head && other.alternatives == alternatives && other.value == value &&
             std::ranges::equal(tails_, std::span(added_tails_).subspan(other.first_tail, end - other.first_tail));
    });
    if (found != next) return false;
    added_.push_back({head, alternatives, static_cast<std::uint32_t>(added_tails_.size()), value});
    added_tails_.insert(added_tails_.end(), tails_.begin(), tails_.end());
    return true;
  }

  std::shared_ptr<const std::vector<TranslationForest>> kept_;
  const std::vector<TranslationForest>& parts_;
  std::vector<std::vector<Node>> nodes_;  // by part and node
  std::uint32_t apart_ = 0;
  TranslationForestBuilder out_;
  std::vector<NodeId> tails_;  // of the edge at hand
  HashIndex index_;
  std::vector<Added> added_;
  std::vector<NodeId> added_tails_;
};

}  // namespace

TranslationForest join_forests(std::vector<TranslationForest> parts) { return Union(std::move(parts)).run(); }

}  // namespace treeglot
