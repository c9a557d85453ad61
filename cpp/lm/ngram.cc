#include "lm/ngram.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/held_pages.h"
#include "lm/rule_score.h"

namespace treeglot {

static void check_classes(const Sections& sections, std::span<const WordId> classes, std::size_t classed,
                          std::size_t words) {
  if (classes.size() != classed) sections.fail("is damaged: 'classes' does not fit the words that have them");
  if (sections.untrusted() && std::ranges::any_of(classes, [&](WordId c) { return c >= words; }))
    sections.fail("is damaged: its section 'classes' has values that cannot be");
}

NgramModel NgramModel::open(const std::string& path, Opening how) {
  Sections sections = Sections::map(path, kKind, kVersion, how);
  if (sections.opening() == Opening::verified) sections.verify();
  return NgramModel(std::move(sections));
}

NgramModel::NgramModel(Sections sections)
    : sections_(std::make_shared<const Sections>(std::move(sections))), vocabulary_(*sections_) {
  const auto facts = sections_->array<NgramFacts>("model");
  if (facts.size() != 1) sections_->fail("is damaged: its section 'model' has another size");
  facts_ = facts.data();
  unigrams_ = sections_->unverified<NgramValue>("unigrams");
  const bool has_rests = sections_->has("rests");
  if (has_rests) rests_ = sections_->unverified<float>("rests");
  const std::size_t words = vocabulary_.size();
  if (order() < 1 || order() > kMaxNgramOrder || unigrams_.size() != words || facts_->begin_sentence >= words ||
      facts_->end_sentence >= words || facts_->layout > NgramLayout::small || (has_rests && rests_.size() != words))
    sections_->fail("is damaged: its section 'model' contradicts the others");
  if (sections_->has("classes")) {
    classed_ = Vocabulary(*sections_, "classed");
    classes_ = sections_->array<WordId>("classes");
    check_classes(*sections_, classes_, classed_.size(), words);
  }
  const auto table = [&]<class Bucket>(std::size_t n, std::type_identity<Bucket>) {
    const auto buckets = sections_->unverified<Bucket>("table." + std::to_string(n));
    if (buckets.empty()) sections_->fail("is damaged: the table of order " + std::to_string(n) + " is empty");
    return buckets;
  };
  if (order() > 1 && facts_->layout == NgramLayout::fast) {
    for (std::size_t n = 2; n < order(); ++n)
      fast_middle_[n - 2] = FastTable<FastBucket>(table(n, std::type_identity<FastBucket>()));
    fast_last_ = FastTable<FastLastBucket>(table(order(), std::type_identity<FastLastBucket>()));
  } else if (order() > 1) {
    const auto codes = sections_->array<Codebook>("codes");
    if (codes.size() != order() - 1) sections_->fail("is damaged: it has codes for another order");
    for (std::size_t n = 2; n < order(); ++n)
      small_middle_[n - 2] = SmallTable<SmallBucket>(table(n, std::type_identity<SmallBucket>()), codes[n - 2]);
    small_last_ = SmallTable<SmallLastBucket>(table(order(), std::type_identity<SmallLastBucket>()), codes.back());
    for (const Codebook& book : codes)
      if (!std::ranges::none_of(book.prob, too_large) || !std::ranges::none_of(book.backoff, too_large))
        fail_values("section 'codes'");
  }
  if (sections_->opening() == Opening::verified) check_tables();
  if (!sections_->on_use()) return;
  const auto check = [sections = sections_](const Stop* stop) {
    Sections all = sections->to_verify(stop);
    all.verify();
    (void)NgramModel(std::move(all));
    sections->set_sound();
  };
  // A whole check reads so much in the time that verifying on use costs a sentence. So the thread starts when both have
  // cost the same, and the cost is at most twice the least possible.
  constexpr std::uint64_t kBytesOfUse = 1 << 21;
  const bool background = sections_->opening() == Opening::background;
  verification_ = std::make_shared<const Verification>(check, 1 + sections_->size() / kBytesOfUse, background);
}

void NgramModel::fail_values(const std::string& what) const {
  sections_->fail("is damaged: its " + what + " has values that cannot be");
}

void NgramModel::check_tables() const {
  // A run of full buckets may go on in the next piece, and is then twice as long as sound() allows.
  const auto check = [&]<class Bucket>(std::size_t n, std::type_identity<Bucket>) {
    const auto buckets = sections_->unverified<Bucket>("table." + std::to_string(n));
    const auto sound = [](std::span<const Bucket> piece) { return BucketTable(piece).sound(); };
    if (!sound_in_pieces(buckets, sections_->stop(), sound)) fail_values("table of order " + std::to_string(n));
  };
  const auto check_all = [&](auto middle, auto last) {
    for (std::size_t n = 2; n < order(); ++n) check(n, middle);
    check(order(), last);
  };
  if (std::ranges::any_of(unigrams_, unsound_value)) fail_values("section 'unigrams'");
  if (std::ranges::any_of(rests_, [](float rest) { return too_large(rest) != 0; })) fail_values("section 'rests'");
  if (order() == 1) return;
  if (facts_->layout == NgramLayout::fast) {
    check_all(std::type_identity<FastBucket>(), std::type_identity<FastLastBucket>());
  } else {
    check_all(std::type_identity<SmallBucket>(), std::type_identity<SmallLastBucket>());
  }
}

NgramModel::Encoded NgramModel::encode(std::span<const std::string_view> texts) const {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  Encoded out;
  out.offsets = {0};
  out.offsets.reserve(texts.size() + 1);
  for (const std::string_view text : texts) {
    for (std::size_t at = 0; at < text.size();) {
      while (at < text.size() && is_blank(text[at])) ++at;
      const std::size_t begin = at;
      while (at < text.size() && !is_blank(text[at])) ++at;
      if (at > begin) out.ids.push_back(find(text.substr(begin, at - begin)));
    }
    out.offsets.push_back(out.ids.size());
  }
  return out;
}

void NgramModel::check(WordId word) const {
  if (word >= vocabulary_.size())
    throw std::invalid_argument("the number " + std::to_string(word) + " is no word; the model has words 0 to " +
                                std::to_string(vocabulary_.size() - 1));
}

NgramModel::State NgramModel::begin_state() const {
  return with_wide_search([](const auto& search) { return search.begin_sentence(); });
}

WordScore NgramModel::score(const State& in, WordId word, State& out) const {
  check(word);
  return with_wide_search([&](const auto& search) { return search.score(in, word, out); });
}

double NgramModel::score_rule(std::span<const std::variant<WordId, Chart>> parts, bool begins_sentence,
                              Chart& out) const {
  return with_wide_search([&](const auto& search) {
    RuleScore rule(search, out);
    if (begins_sentence) rule.begin_sentence();
    for (const auto& part : parts) {
      if (const WordId* const word = std::get_if<WordId>(&part)) {
        check(*word);
        rule.terminal(*word);
      } else {
        rule.nonterminal(std::get<Chart>(part));
      }
    }
    return rule.finish();
  });
}

}  // namespace treeglot
