#include "rules/provenance.h"

#include <algorithm>

namespace treeglot {
namespace {

// Takes a number from the front of `bytes`; 0 from none.
std::uint64_t take_number(std::span<const std::uint8_t>& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; !bytes.empty() && shift < 64; shift += 7) {
    const std::uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  return number;
}

// Fits the sides of a rule to a pair of sentences. Words match themselves, and a variable covers one word or more. No
// link leads out of a variable or out of the rule.
class Fit {
 public:
  using Side = std::vector<std::int64_t>;  // ≥ 0 a word, −1 − k the k-th variable

  Fit(const Side& rule_source, const Side& rule_target, std::span<const Symbol> source, std::span<const Symbol> target,
      std::span<const Link> links)
      : sides_{&rule_source, &rule_target}, words_{source, target}, links_(links) {
    std::size_t variables = 0;
    for (const std::int64_t symbol : rule_source) variables += symbol < 0 ? 1 : 0;
    for (auto& holes : holes_) holes.resize(variables);
  }

  bool run() {
    for (std::uint32_t begin = 0; begin < words_[0].size(); ++begin)
      if (place(0, 0, begin, begin)) return true;
    return false;
  }

  // The rule's own words on one side.
  std::vector<std::uint32_t> own(int side) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t word = whole_[side].begin; word < whole_[side].end; ++word)
      if (std::ranges::none_of(holes_[side], [&](Span hole) { return hole.begin <= word && word < hole.end; }))
        out.push_back(word);
    return out;
  }

 private:
  bool place(int side, std::size_t symbol, std::uint32_t begin, std::uint32_t at) {
    if (++steps_ > kMostSteps) return false;
    if (symbol == sides_[side]->size()) {
      whole_[side] = {begin, at};
      return side == 0 ? closed(whole_[0]) && place_target() : consistent(whole_[0], whole_[1]);
    }
    const std::int64_t wanted = (*sides_[side])[symbol];
    if (at == words_[side].size()) return false;
    if (wanted >= 0) return words_[side][at] == static_cast<Symbol>(wanted) && place(side, symbol + 1, begin, at + 1);
    const auto hole = static_cast<std::size_t>(-1 - wanted);
    for (std::uint32_t end = at + 1; end <= words_[side].size(); ++end) {
      if (side == 1 && linked_outside(end - 1, holes_[0][hole])) return false;
      holes_[side][hole] = {at, end};
      if (side == 0 ? !closed(holes_[0][hole]) : !consistent(holes_[0][hole], holes_[1][hole])) continue;
      if (place(side, symbol + 1, begin, end)) return true;
    }
    return false;
  }

  // The target side begins with the first word that the source side is linked to, or with unaligned words before it.
  bool place_target() {
    const Span linked = linked_to(whole_[0]);
    if (linked.empty()) {
      for (std::uint32_t begin = 0; begin <= words_[1].size(); ++begin)
        if (place(1, 0, begin, begin)) return true;
      return false;
    }
    for (std::uint32_t begin = linked.begin;; --begin) {
      if (place(1, 0, begin, begin)) return true;
      if (begin == 0 || linked_outside(begin - 1, whole_[0])) return false;
    }
  }

  // From the first to the last target word that is linked to these source words.
  Span linked_to(Span source) const {
    Span out = {0, 0};
    for (const Link link : links_) {
      if (link.source < source.begin || link.source >= source.end) continue;
      out = out.empty() ? Span{link.target, link.target + 1}
                        : Span{std::min(out.begin, link.target), std::max(out.end, link.target + 1)};
    }
    return out;
  }
  bool linked_outside(std::uint32_t target, Span source) const {
    return std::ranges::any_of(links_, [&](Link link) {
      return link.target == target && (link.source < source.begin || link.source >= source.end);
    });
  }
  // Whether the target words from the first to the last linked one have links to these source words alone.
  bool closed(Span source) const {
    const Span linked = linked_to(source);
    return std::ranges::none_of(links_, [&](Link link) {
      return linked.begin <= link.target && link.target < linked.end &&
             (link.source < source.begin || link.source >= source.end);
    });
  }
  bool consistent(Span source, Span target) const {
    return std::ranges::all_of(links_, [&](Link link) {
      return (source.begin <= link.source && link.source < source.end) ==
             (target.begin <= link.target && link.target < target.end);
    });
  }

  static constexpr std::size_t kMostSteps = 50'000;  // a few milliseconds

  const Side* sides_[2];
  std::span<const Symbol> words_[2];
  std::span<const Link> links_;
  std::vector<Span> holes_[2];
  Span whole_[2] = {};
  std::size_t steps_ = 0;
};

// Where `phrase` begins in `words`, or the number of words.
std::size_t first_place(std::span<const Symbol> words, std::span<const Symbol> phrase) {
  return static_cast<std::size_t>(std::ranges::search(words, phrase).begin() - words.begin());
}

}  // namespace

Provenance Provenance::open(const std::string& path) {
  return Provenance(std::make_shared<const Sections>(Sections::open(path, kKind, kVersion)));
}

Provenance::Provenance(std::shared_ptr<const Sections> sections)
    : sections_(std::move(sections)),
      source_words_(*sections_, "source_words"),
      target_words_(*sections_, "target_words"),
      source_(sections_->array<Symbol>("source")),
      target_(sections_->array<Symbol>("target")),
      links_(sections_->array<Link>("links")),
      source_ends_(sections_->array<std::uint64_t>("source.ends")),
      target_ends_(sections_->array<std::uint64_t>("target.ends")),
      link_ends_(sections_->array<std::uint64_t>("links.ends")),
      blocks_(sections_->array<std::uint64_t>("blocks")),
      lists_(sections_->array<std::uint8_t>("lists")) {
  const auto rules = sections_->array<std::uint64_t>("rules");
  if (rules.size() != 1 || rules[0] >= Symbols::kNone) sections_->fail("is damaged: it has no number of rules");
  rules_ = rules[0];
  check();
}

// Passes over a list of some of so many pairs; gives what is wrong with it, or nothing.
static const char* take_list(std::span<const std::uint8_t>& bytes, std::size_t pairs) {
  const std::uint64_t number = take_number(bytes);
  if (number > pairs) return "a list of too many pairs";
  std::uint64_t pair = 0;
  for (std::uint64_t i = 0; i < number; ++i) {
    const std::uint64_t step = take_number(bytes);
    if (step >= pairs - pair || (i > 0 && step == 0)) return "a list with a pair that it does not have";
    pair += step;
  }
  return nullptr;
}

// Every number that leads somewhere.
void Provenance::check() const {
  const auto damaged = [&](const char* what) { sections_->fail(std::string("is damaged: ") + what); };
  const auto ends = [&](std::span<const std::uint64_t> given, std::size_t size) {
    return !given.empty() && given.front() == 0 && given.back() == size && std::ranges::is_sorted(given);
  };
  if (!ends(source_ends_, source_.size()) || !ends(target_ends_, target_.size()) || !ends(link_ends_, links_.size()) ||
      source_ends_.size() != target_ends_.size() || source_ends_.size() != link_ends_.size())
    damaged("the ends of its pairs do not fit");
  if (std::ranges::any_of(source_, [&](Symbol word) { return word >= source_words_.size(); }) ||
      std::ranges::any_of(target_, [&](Symbol word) { return word >= target_words_.size(); }))
    damaged("a word that it does not have");
  for (std::size_t pair = 0; pair < pairs(); ++pair) {
    const std::size_t source = slice(source_, source_ends_, pair).size(),
                      target = slice(target_, target_ends_, pair).size();
    if (std::ranges::any_of(links(pair), [&](Link link) { return link.source >= source || link.target >= target; }))
      damaged("a link outside its pair");
  }
  if (!ends(blocks_, lists_.size()) || blocks_.size() != (rules_ + kBlock - 1) / kBlock + 1)
    damaged("its lists of pairs do not fit");
  for (std::size_t block = 0; block + 1 < blocks_.size(); ++block) {
    auto bytes = lists_.subspan(blocks_[block], blocks_[block + 1] - blocks_[block]);
    for (std::size_t rule = block * kBlock; rule < std::min(rules_, (block + 1) * kBlock); ++rule)
      if (const char* const problem = take_list(bytes, pairs())) damaged(problem);
    if (!bytes.empty()) damaged("its lists of pairs do not fit");
  }
}

std::vector<std::string_view> Provenance::source(std::size_t pair) const {
  std::vector<std::string_view> out;
  for (const Symbol word : slice(source_, source_ends_, pair)) out.push_back(source_words_.text(word));
  return out;
}

std::vector<std::string_view> Provenance::target(std::size_t pair) const {
  std::vector<std::string_view> out;
  for (const Symbol word : slice(target_, target_ends_, pair)) out.push_back(target_words_.text(word));
  return out;
}

std::pair<std::size_t, std::vector<std::uint32_t>> Provenance::pairs_of(RuleId rule, std::size_t most) const {
  auto bytes = lists_.subspan(blocks_[rule / kBlock]);
  for (std::size_t before = rule % kBlock; before > 0; --before)
    for (std::uint64_t left = take_number(bytes); left > 0; --left) take_number(bytes);
  const std::uint64_t number = take_number(bytes);
  std::vector<std::uint32_t> out;
  for (std::uint64_t pair = 0; out.size() < std::min<std::uint64_t>(number, most);) {
    pair += take_number(bytes);
    out.push_back(static_cast<std::uint32_t>(pair));
  }
  return {number, std::move(out)};
}

std::optional<Provenance::Marks> Provenance::mark(const RuleTable& table, RuleId rule, std::size_t pair) const {
  const Rule sides = table.rule(rule);
  Fit::Side source, target;
  std::int64_t variables = 0;
  for (const Symbol symbol : sides.source) {
    if (is_nonterminal(symbol)) {
      source.push_back(-1 - variables++);
    } else if (const std::string_view text = table.source_words().text(symbol); !text.starts_with(' ')) {
      source.push_back(source_words_.find(text));  // brackets begin with a blank
    }
  }
  for (const std::int32_t symbol : sides.target)
    target.push_back(
        symbol < 0 ? symbol : std::int64_t{target_words_.find(table.target_words().text(static_cast<Symbol>(symbol)))});
  Fit fit(source, target, slice(source_, source_ends_, pair), slice(target_, target_ends_, pair), links(pair));
  if (!fit.run()) return std::nullopt;
  return Marks{fit.own(0), fit.own(1)};
}

std::pair<std::size_t, std::vector<Provenance::Hit>> Provenance::find(const std::vector<std::string>& source,
                                                                      const std::vector<std::string>& target,
                                                                      std::size_t most) const {
  std::vector<Symbol> phrases[2];
  for (const std::string& word : source) phrases[0].push_back(source_words_.find(word));
  for (const std::string& word : target) phrases[1].push_back(target_words_.find(word));
  std::size_t number = 0;
  std::vector<Hit> out;
  for (const auto& phrase : phrases)
    if (std::ranges::find(phrase, Symbols::kNone) != phrase.end()) return {0, {}};
  for (std::size_t pair = 0; pair < pairs(); ++pair) {
    const auto words = slice(source_, source_ends_, pair), translation = slice(target_, target_ends_, pair);
    const std::size_t f = first_place(words, phrases[0]);
    if (f == words.size() && !phrases[0].empty()) continue;
    const std::size_t e = first_place(translation, phrases[1]);
    if (e == translation.size() && !phrases[1].empty()) continue;
    if (number++ < most)
      out.push_back({static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(e)});
  }
  return {number, std::move(out)};
}

}  // namespace treeglot
