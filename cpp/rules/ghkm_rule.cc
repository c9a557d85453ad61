#include "rules/ghkm_rule.h"

#include <algorithm>

#include "rules/code.h"
#include "rules/target_structure.h"

namespace treeglot {
namespace {

void append_variable(std::string& side, std::uint32_t index, Symbol label) {
  char bytes[3 * code::kLongest];
  side.append(bytes, code::put_variable(bytes, index, label));
}

}  // namespace

void RuleWriter::assign(const RulePair& pair) {
  pair_ = pair;
  source_words_.assign(pair.source);
  target_words_.assign(pair.target);
  places_.assign(pair.target.size(), 0);
}

void RuleWriter::append_links(std::uint32_t word, std::uint32_t place) {
  const std::uint32_t first = pair_.frontier->source_links({0, word});
  for (const Link link : pair_.links.subspan(first, pair_.frontier->source_links({word, word + 1}))) {
    code::append(alignment_, place);
    code::append(alignment_, places_[link.target]);
  }
}

void RuleWriter::write_target(Span target, std::span<const Span> holes, bool ill_formed) {
  order_.resize(holes.size());
  for (std::uint32_t i = 0; i < holes.size(); ++i) order_[i] = i;
  std::ranges::sort(order_, {}, [&](std::uint32_t hole) { return holes[hole].begin; });

  target_.clear();
  labels_.clear();
  std::uint32_t at = target.begin, symbol = 0;
  const auto put_words = [&](std::uint32_t end) {
    target_.append(target_words_.words({at, end}));
    for (; at < end; ++at) {
      places_[at] = symbol++;
      if (!pair_.tags.empty()) code::append(labels_, pair_.tags[at]);
    }
  };
  for (const std::uint32_t hole : order_) {
    put_words(holes[hole].begin);
    append_variable(target_, hole, 0);  // the source side has its label
    for (; at < holes[hole].end; ++at) places_[at] = symbol;
    ++symbol;
  }
  put_words(target.end);
  if (pair_.heads.empty()) return;

  in_order_.clear();
  for (const std::uint32_t hole : order_) in_order_.push_back(holes[hole]);
  append_structure(target_, target, in_order_, pair_.heads);
  if (ill_formed) code::append(target_, 1);
}

CodedRule RuleWriter::fragment(const Fragment& fragment, Span target, std::span<const Span> holes) {
  write_target(target, holes, false);
  source_.clear();
  alignment_.clear();
  std::uint32_t place = 0, variable = 0;
  for (const FragmentItem item : fragment.items) {
    switch (item.kind) {
      case FragmentItem::Kind::open:
        code::append(source_, code::kOpen);
        code::append(source_, pair_.node_labels[item.node]);
        break;
      case FragmentItem::Kind::close: code::append(source_, code::kClose); break;
      case FragmentItem::Kind::word:
        source_.append(source_words_.words({item.node, item.node + 1}));
        append_links(item.node, place);
        break;
      case FragmentItem::Kind::variable: append_variable(source_, variable++, pair_.node_labels[item.node]); break;
    }
    ++place;
  }
  return {source_, target_, alignment_, labels_};
}

CodedRule RuleWriter::phrase(const PhrasePair& phrase, bool ill_formed) {
  write_target(phrase.target, {}, ill_formed);
  source_.assign(source_words_.words(phrase.source));
  alignment_.clear();
  for (std::uint32_t word = phrase.source.begin; word < phrase.source.end; ++word)
    append_links(word, word - phrase.source.begin);
  return {source_, target_, alignment_, labels_};
}

}  // namespace treeglot
