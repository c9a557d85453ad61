#include "neural/joint_corpus.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "neural/head_context.h"
#include "syntax/affiliation.h"

namespace treeglot {
namespace {

std::uint64_t hash_numbers(std::span<const std::uint32_t> values, std::uint64_t seed) {
  return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, seed);
}

std::uint64_t hash_texts(const Symbols& words, std::uint64_t seed) {
  for (Symbol word = 0; word < words.size(); ++word) seed = hash_bytes(words.text(word), seed);
  return seed;
}

// A fallback with the tokens and the types of rare words that it stands for.
struct Fallback {
  std::string text;
  std::uint64_t tokens = 0;
  std::vector<Symbol> types;
};

// Fallbacks of one kind for the rare words that have none yet; `kind` counts from the best one on.
std::vector<Fallback> fallbacks_of_kind(const Symbols& symbols, std::span<const std::uint64_t> counts,
                                        std::span<const Symbol> rare, std::size_t kind, std::uint64_t least) {
  std::unordered_map<std::string, std::size_t> found;
  std::vector<Fallback> all;
  for (const Symbol word : rare) {
    const std::vector<std::string> names = joint_fallbacks(symbols.text(word));
    // The first is for digits; of the others, the last is that of the last character.
    const bool digits = !names.empty() && names.front() == JointVocabulary::kDigits;
    const std::size_t endings = names.size() - (digits ? 1 : 0);
    const std::size_t characters = JointVocabulary::kLongestEnding + 1 - kind;
    if (kind == 0 ? !digits : endings < characters) continue;
    const std::string& name = kind == 0 ? names.front() : names[names.size() - characters];
    const auto [at, fresh] = found.try_emplace(name, all.size());
    if (fresh) all.push_back({name, 0, {}});
    all[at->second].tokens += counts[word];
    all[at->second].types.push_back(word);
  }
  std::erase_if(all, [&](const Fallback& each) { return each.tokens < least; });
  return all;
}

// Whether a word of the corpus is written as a special word or a fallback. It counts as rare, so that all words differ.
bool is_reserved(std::string_view word) {
  return std::ranges::find(JointVocabulary::kSpecialWords, word) != std::end(JointVocabulary::kSpecialWords) ||
         word == JointVocabulary::kDigits || (word.starts_with("<*") && word.ends_with('>'));
}

// How often each word of a side occurs.
std::vector<std::uint64_t> counts_of(const JointCorpus& corpus, bool target, std::size_t words) {
  std::vector<std::uint64_t> counts(words);
  for (std::size_t pair = 0; pair < corpus.pairs(); ++pair)
    for (const Symbol word : target ? corpus.target(pair) : corpus.source(pair)) ++counts[word];
  return counts;
}

// Throws std::invalid_argument if a parse has words, and not as many as its sentence.
void check_words_of(std::string_view parse, std::size_t found, std::string_view side, std::size_t words) {
  if (found != 0 && found != words)
    throw std::invalid_argument("a " + std::string(parse) + " of " + std::to_string(found) + " words for a " +
                                std::string(side) + " sentence of " + std::to_string(words) +
                                "; expected the same words");
}

}  // namespace

void JointCorpus::add(std::span<const std::string_view> source, std::span<const std::string_view> target,
                      const Alignment& links, const ParseContext& parse, const Dependency* tree) {
  links.check(source.size(), target.size());
  check_words_of("parse", parse.words(), "source", source.size());
  if (parse.kind != ParseKind::none && parse_kind_ != ParseKind::none && parse.kind != parse_kind_)
    throw std::invalid_argument("a parse with " + std::string(parse_kind_name(parse.kind)) + " after parses with " +
                                std::string(parse_kind_name(parse_kind_)) + "; expected one kind of parses");
  const std::size_t treed = heads_ && tree != nullptr ? tree->size() : 0;
  check_words_of("tree", treed, "target", target.size());
  if (source.empty() || target.empty()) {
    ++empty_;
    return;
  }
  if (heads_ && treed == 0) {
    ++treeless_;
    return;
  }
  if (links.size() == 0) ++unlinked_;
  for (const std::string_view word : source) source_.push_back(source_words_.intern(word));
  if (lexical_) {
    for (const std::string& text : translations(source.size(), target, links.links()))
      target_.push_back(target_words_.intern(text));
    for (std::uint32_t at = 0; at < source.size(); ++at) affiliated_.push_back(at);
  } else {
    for (const std::string_view word : target) target_.push_back(target_words_.intern(word));
    const auto none = static_cast<std::uint32_t>(source.size() + 1);
    std::ranges::copy(affiliations(links.links(), target.size(), none), std::back_inserter(affiliated_));
  }
  if (parse.kind != ParseKind::none) parse_kind_ = parse.kind;
  if (parse_kind_ != ParseKind::none) append_parse(parse);
  if (heads_) append_arcs(*tree);
  source_begin_.push_back(source_.size());
  target_begin_.push_back(target_.size());
}

void JointCorpus::append_parse(const ParseContext& parse) {
  parse_.resize(source_begin_.back() * kParseInputs, Symbols::kNone);  // the pairs before may have none
  for (const std::string& text : parse.texts)
    parse_.push_back(text.empty() ? Symbols::kNone : source_words_.intern(text));
  parse_.resize(source_.size() * kParseInputs, Symbols::kNone);
}

void JointCorpus::append_arcs(const Dependency& tree) {
  const Symbol* const words = target_.data() + target_begin_.back();
  std::vector<WordId> places(tree.size());  // beyond the number for no sibling
  std::iota(places.begin(), places.end(), kNoSibling + 1);
  const auto symbol = [&](WordId place) {
    return place == kNoSibling ? Symbols::kNone : words[place - kNoSibling - 1];
  };
  const std::size_t begin = arcs_.size();
  arcs_.resize(begin + tree.size() * kHeadContext, Symbols::kNone);
  const auto child = [&](std::size_t word, DependencySiblings siblings, DependencySide side) {
    Symbol* const out = arcs_.data() + begin + word * kHeadContext;
    out[0] = words[tree.head(word)];
    out[1] = static_cast<Symbol>(side);
    out[2] = symbol(siblings.last);
    out[3] = symbol(siblings.before);
  };
  for_each_arc(tree, places, [](std::size_t) {}, child);
}

std::vector<std::string> translations(std::size_t source_words, std::span<const std::string_view> target,
                                      std::span<const Link> links) {
  std::vector<Link> sorted(links.begin(), links.end());
  std::ranges::sort(sorted, {}, &Link::target);
  std::vector<std::string> out(source_words);
  for (const Link link : sorted) {
    std::string& text = out[link.source];
    if (!text.empty()) text += ' ';
    text += target[link.target];
  }
  return out;
}

std::uint64_t JointCorpus::checksum() const {
  std::uint64_t sum = hash_texts(target_words_, hash_texts(source_words_, 0));
  for (const auto* values : {&source_, &target_, &affiliated_}) sum = hash_numbers(*values, sum);
  for (std::size_t pair = 0; pair < pairs(); ++pair) sum = hash_number(sum + source(pair).size());
  for (std::size_t pair = 0; pair < pairs(); ++pair) sum = hash_number(sum + target(pair).size());
  if (parse_kind_ != ParseKind::none)
    sum = hash_numbers(parse_, hash_number(sum + static_cast<std::uint64_t>(parse_kind_)));
  return heads_ ? hash_numbers(arcs_, sum) : sum;
}

JointWords choose_words(const JointCorpus& corpus, bool target, std::uint64_t least, std::uint64_t least_fallback) {
  const Symbols& symbols = target ? corpus.target_words() : corpus.source_words();
  const std::vector<std::uint64_t> counts = counts_of(corpus, target, symbols.size());
  const Symbol missing = target && corpus.lexical() ? symbols.find("") : Symbols::kNone;  // a missing translation
  std::vector<Symbol> kept, rare;
  for (Symbol word = 0; word < symbols.size(); ++word) {
    if (word == missing) continue;
    const bool label = !target && is_label(symbols.text(word));
    (label || (counts[word] >= least && !is_reserved(symbols.text(word))) ? kept : rare).push_back(word);
  }
  std::ranges::sort(kept, [&](Symbol a, Symbol b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : symbols.text(a) < symbols.text(b);
  });

  JointWords out;
  out.numbers.assign(symbols.size(), JointVocabulary::kUnknown);
  for (const std::string_view word : JointVocabulary::kSpecialWords) out.texts.append(word);
  out.counts.assign(JointVocabulary::kSpecial, 0);
  if (corpus.ends()) out.counts[JointVocabulary::kEnd] = corpus.pairs();
  if (missing != Symbols::kNone) {
    out.numbers[missing] = JointVocabulary::kNone;
    out.counts[JointVocabulary::kNone] = counts[missing];
  }
  out.share.assign(JointVocabulary::kSpecial, 0.0f);
  for (std::size_t kind = 0; kind <= JointVocabulary::kLongestEnding; ++kind) {
    std::vector<Fallback> found = fallbacks_of_kind(symbols, counts, rare, kind, least_fallback);
    std::ranges::sort(found, {}, &Fallback::text);
    for (const Fallback& each : found) {
      for (const Symbol word : each.types) out.numbers[word] = static_cast<std::uint32_t>(out.texts.size());
      out.texts.append(each.text);
      out.counts.push_back(each.tokens);
      out.share.push_back(-std::log(static_cast<float>(each.types.size())));
      ++out.fallbacks;
    }
    std::erase_if(rare, [&](Symbol word) { return out.numbers[word] != JointVocabulary::kUnknown; });
  }
  for (const Symbol word : rare) out.counts[JointVocabulary::kUnknown] += counts[word];
  if (!rare.empty()) out.share[JointVocabulary::kUnknown] = -std::log(static_cast<float>(rare.size()));
  for (const Symbol word : kept) {
    out.numbers[word] = static_cast<std::uint32_t>(out.texts.size());
    out.texts.append(symbols.text(word));
    out.counts.push_back(counts[word]);
    out.share.push_back(0.0f);
  }
  return out;
}

// The source words around the one that a target word is affiliated with.
static void append_window(std::span<const Symbol> source, std::ptrdiff_t affiliated, const JointFacts& facts,
                          std::span<const std::uint32_t> numbers, std::vector<std::uint32_t>& out) {
  const auto length = static_cast<std::ptrdiff_t>(source.size());
  for (std::size_t k = 0; k < facts.window(); ++k) {
    const std::ptrdiff_t at = affiliated + static_cast<std::ptrdiff_t>(k) - facts.before;
    std::uint32_t word = at < 0 ? JointVocabulary::kBegin : JointVocabulary::kEnd;
    if (at >= 0 && at < length) word = numbers[source[static_cast<std::size_t>(at)]];
    out.push_back(affiliated > length ? JointVocabulary::kNone : word);
  }
}

// What the parse says of the source word that a target word is affiliated with.
static void append_parse(std::span<const Symbol> parse, std::ptrdiff_t affiliated, std::ptrdiff_t length,
                         std::span<const std::uint32_t> numbers, std::vector<std::uint32_t>& out) {
  for (std::size_t k = 0; k < kParseInputs; ++k) {
    std::uint32_t text = affiliated == length ? JointVocabulary::kEnd : JointVocabulary::kNone;
    if (affiliated < length && !parse.empty()) {
      const Symbol symbol = parse[static_cast<std::size_t>(affiliated) * kParseInputs + k];
      if (symbol != Symbols::kNone) text = numbers[symbol];
    }
    out.push_back(text);
  }
}

// What a word of a tree is predicted from.
static HeadContext context_of_arc(const Symbol* arc, std::span<const std::uint32_t> numbers) {
  if (arc[0] == Symbols::kNone) return kRootContext;
  const auto number = [&](Symbol symbol) { return symbol == Symbols::kNone ? kNoSibling : numbers[symbol]; };
  return head_context(numbers[arc[0]], static_cast<DependencySide>(arc[1]), {number(arc[2]), number(arc[3])});
}

// The words before a target word, or its head and siblings.
static void append_history(const JointCorpus& corpus, std::size_t pair, std::size_t word, const JointFacts& facts,
                           std::span<const std::uint32_t> numbers, std::vector<std::uint32_t>& out) {
  if (facts.heads != 0) {
    const HeadContext context = context_of_arc(corpus.arcs(pair).data() + word * kHeadContext, numbers);
    out.insert(out.end(), context.begin(), context.end());
    return;
  }
  for (std::size_t k = 1; k <= facts.history; ++k)
    out.push_back(k <= word ? numbers[corpus.target(pair)[word - k]] : JointVocabulary::kBegin);
}

JointExamples make_examples(const JointCorpus& corpus, const JointFacts& facts,
                            std::span<const std::uint32_t> source_numbers,
                            std::span<const std::uint32_t> target_numbers) {
  JointExamples out;
  out.width = facts.affiliated() + facts.history;
  out.contexts.reserve(corpus.examples() * out.width);
  out.words.reserve(corpus.examples());
  for (std::size_t pair = 0; pair < corpus.pairs(); ++pair) {
    const std::span<const Symbol> source = corpus.source(pair), target = corpus.target(pair);
    const auto length = static_cast<std::ptrdiff_t>(source.size());
    out.begins.push_back(out.sources.size());
    if (facts.sentence != 0)
      for (const Symbol word : source) out.sources.push_back(source_numbers[word]);
    for (std::size_t i = 0; i < target.size() + (corpus.ends() ? 1 : 0); ++i) {
      const std::ptrdiff_t affiliated = i < target.size() ? corpus.affiliated(pair)[i] : length;
      append_window(source, affiliated, facts, source_numbers, out.contexts);
      if (facts.parse != 0) append_parse(corpus.parse(pair), affiliated, length, source_numbers, out.contexts);
      append_history(corpus, pair, i, facts, target_numbers, out.contexts);
      out.words.push_back(i < target.size() ? target_numbers[target[i]] : JointVocabulary::kEnd);
      out.pairs.push_back(static_cast<std::uint32_t>(pair));
    }
  }
  out.begins.push_back(out.sources.size());
  return out;
}

}  // namespace treeglot
