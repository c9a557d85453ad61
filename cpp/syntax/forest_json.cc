#include "syntax/forest_json.h"

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"

namespace treeglot {
namespace {

constexpr ScoreKind kKinds[] = {ScoreKind::conditional, ScoreKind::posterior, ScoreKind::arbitrary};

// Which of a few keys have been met: each must come exactly once.
class Keys {
 public:
  Keys(const char* what, std::initializer_list<std::string_view> names) : what_(what), names_(names) {}

  std::size_t meet(std::string_view key) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] != key) continue;
      if (met_ >> i & 1) throw std::invalid_argument("the key " + quoted(key) + " twice in " + what_);
      met_ |= 1u << i;
      return i;
    }
    throw std::invalid_argument("the key " + quoted(key) + " in " + what_ + "; known: " + known());
  }
  void check_all() const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!(met_ >> i & 1)) throw std::invalid_argument(std::string(what_) + " without the key " + quoted(names_[i]));
    }
  }

 private:
  std::string known() const {
    std::string out;
    for (const std::string_view name : names_) out.append(out.empty() ? "" : ", ").append(name);
    return out;
  }

  const char* what_;
  std::vector<std::string_view> names_;
  unsigned met_ = 0;
};

struct Parts {
  Strings words, labels;
  std::vector<Span> spans;
  std::vector<std::uint32_t> edges;      // of each node
  std::vector<std::uint32_t> tails_end;  // of each edge
  std::vector<NodeId> tails;
  std::vector<double> scores;
  NodeId goal = kNoNode;
  ScoreKind kind = ScoreKind::arbitrary;
};

void read_node(JsonCursor& json, std::string& text, Parts& parts) {
  Keys keys("a node", {"label", "span", "edges"});
  std::uint32_t edges = 0;
  Span span;
  json.expect('{');
  for (bool more = !json.skip('}'); more; more = json.next('}')) {
    json.key(text);
    switch (keys.meet(text)) {
      case 0:
        json.string(text);
        parts.labels.append(text);
        break;
      case 1:
        json.expect('[');
        span.begin = json.count();
        json.expect(',');
        span.end = json.count();
        json.expect(']');
        break;
      default:
        json.expect('[');
        for (bool another = !json.skip(']'); another; another = json.next(']'), ++edges) {
          json.expect('[');
          parts.scores.push_back(json.number());
          while (json.next(']')) parts.tails.push_back(json.count());
          parts.tails_end.push_back(static_cast<std::uint32_t>(parts.tails.size()));
        }
    }
  }
  keys.check_all();
  parts.spans.push_back(span);
  parts.edges.push_back(edges);
}

Parts read_parts(std::string_view line) {
  Parts parts;
  JsonCursor json(line);
  std::string text;
  Keys keys("a forest", {"words", "scores", "goal", "nodes"});
  json.expect('{');
  for (bool more = !json.skip('}'); more; more = json.next('}')) {
    json.key(text);
    switch (keys.meet(text)) {
      case 0:
        json.expect('[');
        for (bool another = !json.skip(']'); another; another = json.next(']')) {
          json.string(text);
          parts.words.append(text);
        }
        break;
      case 1: {
        json.string(text);
        std::optional<ScoreKind> kind;
        for (const ScoreKind candidate : kKinds) {
          if (text == score_kind_name(candidate)) kind = candidate;
        }
        if (!kind) {
          throw std::invalid_argument("scores of the kind " + quoted(text) +
                                      "; expected conditional, posterior or arbitrary");
        }
        parts.kind = *kind;
        break;
      }
      case 2:
        if (!json.skip_null()) parts.goal = json.count();
        break;
      default:
        json.expect('[');
        for (bool another = !json.skip(']'); another; another = json.next(']')) read_node(json, text, parts);
    }
  }
  json.end();
  keys.check_all();
  return parts;
}

}  // namespace

const char* score_kind_name(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::conditional: return "conditional";
    case ScoreKind::posterior: return "posterior";
    default: return "arbitrary";
  }
}

ParseForest parse_forest_json(std::string_view text) {
  Parts parts = read_parts(text);
  if (parts.goal == kNoNode && !parts.labels.empty())
    throw std::invalid_argument("a forest with nodes and the goal null; expected the number of a node");
  const auto words = static_cast<std::uint32_t>(parts.words.size());
  Strings labels = std::move(parts.words);
  std::vector<Span> spans;
  std::vector<double> scores(words, 0.0);
  // A word has one edge, which has no tails; the other edges stand in the order of their heads.
  std::vector<std::uint32_t> first_edge, first_tail(words + std::size_t{1}, 0);
  for (std::uint32_t word = 0; word < words; ++word) {
    spans.push_back({word, word + 1});
    first_edge.push_back(word);
  }
  first_edge.push_back(words);
  for (std::size_t node = 0; node < parts.labels.size(); ++node) {
    labels.append(parts.labels[node]);
    first_edge.push_back(first_edge.back() + parts.edges[node]);
  }
  first_tail.insert(first_tail.end(), parts.tails_end.begin(), parts.tails_end.end());
  spans.insert(spans.end(), parts.spans.begin(), parts.spans.end());
  scores.insert(scores.end(), parts.scores.begin(), parts.scores.end());
  Hypergraph graph = Hypergraph::own(std::move(first_edge), std::move(first_tail), std::move(parts.tails), parts.goal);
  return ParseForest(std::move(graph), std::move(labels), std::move(spans), std::move(scores), parts.kind);
}

void ForestJsonReader::read_line(std::string_view line) {
  // An exception for each of many empty lines would cost far more than reading them.
  if (line.empty()) return skip_or_fail_at(line_number(), "an empty line; expected a forest");
  give_parsed([&] { return parse_forest_json(line); });
}

std::string write_forest_json(const ParseForest& forest) {
  const Hypergraph& graph = forest.graph();
  std::string out = "{\"words\": [";
  for (std::size_t word = 0; word < forest.words(); ++word) {
    if (word > 0) out += ", ";
    append_json(forest.word(word), out);
  }
  out.append("], \"scores\": \"").append(score_kind_name(forest.kind())).append("\", \"goal\": ");
  out += forest.parsed() ? std::to_string(graph.goal()) : "null";
  out += ", \"nodes\": [";
  for (auto node = static_cast<NodeId>(forest.words()); node < graph.nodes(); ++node) {
    if (node > forest.words()) out += ", ";
    out += "{\"label\": ";
    append_json(forest.label(node), out);
    const Span span = forest.span(node);
    out.append(", \"span\": [").append(std::to_string(span.begin)).append(", ").append(std::to_string(span.end));
    out += "], \"edges\": [";
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      out += edge > graph.edges_begin(node) ? ", [" : "[";
      append_double(forest.score(edge), out);
      for (const NodeId tail : graph.tails(edge)) out.append(", ").append(std::to_string(tail));
      out += ']';
    }
    out += "]}";
  }
  return out + "]}";
}

}  // namespace treeglot
