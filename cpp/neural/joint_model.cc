#include "neural/joint_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "neural/vector_math.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kMostHistory = 16, kMostAround = 64, kMostUnits = 1u << 14;

bool sound(const JointFacts& facts) {
  const auto units = [](std::uint32_t count, bool may_be_none) {
    return count % kLanes == 0 && count <= kMostUnits && (may_be_none || count > 0);
  };
  return (facts.history >= 1 || facts.has_source == 1) && facts.history <= kMostHistory && facts.heads <= 1 &&
         (facts.heads == 0 || facts.history == kHeadContext) && facts.before <= kMostAround &&
         facts.after <= kMostAround && facts.has_source <= 1 && units(facts.embedding, facts.has_source == 0) &&
         units(facts.hidden, false) && units(facts.second, true) && facts.sentence <= facts.has_source &&
         facts.parse < kParseKinds && (facts.parse == 0 || facts.has_source == 1);
}

// The sections of floats: their names, and how many numbers they have.
struct Part {
  std::string_view name;
  std::size_t size;
  bool in_rows = false;  // large, and a sentence reads few of its rows
};
std::vector<Part> parts_of(const JointFacts& facts, std::size_t source_words, std::size_t target_words) {
  const std::size_t hidden = facts.hidden, second = facts.second, last = facts.last();
  return {{"source.embeddings", facts.has_source != 0 ? source_words * facts.embedding : 0, true},
          {"source.weights", std::size_t{facts.sources()} * facts.embedding * hidden},
          {"tables", facts.history * target_words * hidden, true},
          {"bias", hidden},
          {"second.weights", second * hidden},
          {"second.bias", second},
          {"output", target_words * last, true},
          {"output.bias", target_words},
          {"share", target_words}};
}

// Finite weights can have a sum that is not. The search must see finite scores only.
constexpr float kLeastScore = -1e4F, kMostScore = 1e4F;
float finite(float score) { return !(score > kLeastScore) ? kLeastScore : std::min(score, kMostScore); }

// Throws std::invalid_argument unless the words begin with the special ones and differ from each other.
void check_words(const Strings& words, std::string_view side) {
  const auto& special = JointVocabulary::kSpecialWords;
  for (std::size_t i = 0; i < std::size(special); ++i)
    if (i >= words.size() || words[i] != special[i])
      throw std::invalid_argument("the " + std::string(side) + " word " + std::to_string(i) + " of a joint model is " +
                                  (i < words.size() ? quoted(words[i]) : "missing") + "; expected " +
                                  quoted(special[i]));
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (!seen.insert(words[i]).second)
      throw std::invalid_argument("a joint model has the " + std::string(side) + " word " + quoted(words[i]) +
                                  " twice; expected different words");
}

bool has_digit(std::string_view word) {
  return std::ranges::any_of(word, [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

JointVocabulary::JointVocabulary(const Sections& sections, const std::string& name, std::uint32_t fallbacks)
    : words_(sections, name) {
  const std::size_t words = words_.size();
  bool fits = words >= kSpecial && fallbacks <= words - kSpecial;
  for (std::uint32_t i = 0; fits && i < kSpecial; ++i) fits = words_.word(i) == kSpecialWords[i];
  if (!fits) sections.fail("is damaged: the words of " + quoted(name) + " do not begin with the special words");
  first_word_ = kSpecial + fallbacks;
}

std::vector<std::string> joint_fallbacks(std::string_view word) {
  std::vector<std::string> out;
  if (has_digit(word)) out.emplace_back(JointVocabulary::kDigits);
  std::vector<std::string> endings;
  std::size_t begin = word.size();
  while (begin > 0 && endings.size() < JointVocabulary::kLongestEnding) {
    --begin;
    while (begin > 0 && (static_cast<unsigned char>(word[begin]) & 0xc0u) == 0x80u) --begin;  // within a character
    endings.push_back("<*" + std::string(word.substr(begin)) + ">");
  }
  std::ranges::move(endings.rbegin(), endings.rend(), std::back_inserter(out));
  return out;
}

std::uint32_t JointVocabulary::find(std::string_view word) const {
  const std::uint32_t found = words_.find(word);
  if (found >= first_word_) return found;
  for (const std::string& fallback : joint_fallbacks(word)) {
    const std::uint32_t id = words_.find(fallback);
    if (id >= kSpecial && id < first_word_) return id;
  }
  return kUnknown;
}

std::uint32_t JointVocabulary::find_context(std::string_view text) const {
  if (!is_label(text)) return find_translation(text);
  const std::uint32_t found = words_.find(text);
  return found >= first_word_ ? found : kUnknown;
}

JointModel JointModel::open(const std::string& path, Opening how) {
  Sections sections = Sections::map(path, kKind, kVersion, how);
  if (sections.opening() == Opening::verified) sections.verify();
  return JointModel(std::move(sections));
}

JointModel::JointModel(Sections sections) : sections_(std::make_shared<const Sections>(std::move(sections))) {
  set_up();
  if (!sections_->on_use()) return;
  const auto check = [shared = sections_](const Stop* stop) {
    Sections all = shared->to_verify(stop);
    all.verify();
    (void)JointModel(std::move(all));
    shared->set_sound();
  };
  // A sentence reads some hundred rows. A whole check takes as long as so many bytes of a file are verified on use.
  constexpr std::uint64_t kBytesOfUse = 1 << 21;
  const bool background = sections_->opening() == Opening::background;
  verification_ = std::make_shared<const Verification>(check, 1 + sections_->size() / kBytesOfUse, background);
}

JointModel::JointModel(const JointParts& parts) {
  Sections sections(kKind, kVersion);
  if (!sound(parts.facts)) throw std::invalid_argument("a joint model of this shape is not possible");
  check_words(parts.source_words, "source");
  check_words(parts.target_words, "target");
  sections.add<JointFacts>("model", 1)[0] = parts.facts;
  Vocabulary::add_sections(parts.source_words, sections, "source");
  Vocabulary::add_sections(parts.target_words, sections, "target");
  const std::initializer_list<std::span<const float>> given = {
      parts.source_embeddings, parts.source_weights, parts.tables,      parts.bias, parts.second_weights,
      parts.second_bias,       parts.output,         parts.output_bias, parts.share};
  const std::vector<Part> expected = parts_of(parts.facts, parts.source_words.size(), parts.target_words.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::span<const float> values = given.begin()[i];
    if (values.size() != expected[i].size)
      throw std::invalid_argument("a joint model with " + std::to_string(values.size()) + " numbers in " +
                                  quoted(expected[i].name) + "; expected " + std::to_string(expected[i].size));
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw std::invalid_argument("a joint model with a number in " + quoted(expected[i].name) + " that is not finite");
    std::ranges::copy(values, sections.add<float>(expected[i].name, values.size()).begin());
  }
  sections_ = std::make_shared<const Sections>(std::move(sections));
  set_up();
}

void JointModel::set_up() {
  const auto facts = sections_->array<JointFacts>("model");
  if (facts.size() != 1 || !sound(facts[0])) sections_->fail("is damaged: its section 'model' cannot be right");
  facts_ = facts.data();
  source_ = JointVocabulary(*sections_, "source", facts_->source_fallbacks);
  target_ = JointVocabulary(*sections_, "target", facts_->target_fallbacks);
  const std::initializer_list<std::span<const float>*> views = {
      &source_embeddings_, &source_weights_, &tables_,      &bias_, &second_weights_,
      &second_bias_,       &output_,         &output_bias_, &share_};
  const std::vector<Part> expected = parts_of(*facts_, source_.size(), target_.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string name(expected[i].name);
    std::span<const float>& view = *views.begin()[i];
    const bool on_use = expected[i].in_rows && sections_->on_use();
    view = on_use ? sections_->unverified<float>(name) : sections_->array<float>(name);
    if (view.size() != expected[i].size)
      sections_->fail("is damaged: its section " + quoted(name) + " has " + std::to_string(view.size()) +
                      " numbers; expected " + std::to_string(expected[i].size));
    // Scores are finite whatever the rows that are verified on use hold.
    if (!on_use && sections_->untrusted() &&
        !std::ranges::all_of(view, [](float value) { return std::isfinite(value); }))
      sections_->fail("is damaged: its section " + quoted(name) + " has a number that is not finite");
  }
  source_blocks_ = blocks_of(source_weights_, facts_->embedding, facts_->hidden);
  second_blocks_ = blocks_of(second_weights_, facts_->second, facts_->hidden);
}

std::vector<JointModel::Block> JointModel::blocks_of(std::span<const float> matrices, std::size_t rows,
                                                     std::size_t columns) {
  std::vector<Block> out;
  for (std::size_t row = 0; !matrices.empty() && row < rows; ++row) {
    std::size_t begin = columns, end = 0;  // where a matrix has other numbers than 0 in this row
    for (std::size_t at = row * columns; at < matrices.size(); at += rows * columns) {
      const std::span<const float> values = matrices.subspan(at, columns);
      std::size_t first = 0, last = columns;
      while (first < begin && values[first] == 0) ++first;
      while (last > end && values[last - 1] == 0) --last;
      begin = std::min(begin, first);
      end = std::max(end, last);
    }
    begin = begin / kLanes * kLanes;
    end = std::max(begin, (end + kLanes - 1) / kLanes * kLanes);
    if (!out.empty() && out.back().first_column == begin && out.back().columns == end - begin) {
      ++out.back().rows;
    } else {
      out.push_back({row, 1, begin, end - begin});
    }
  }
  return out;
}

std::vector<std::uint32_t> JointModel::numbers(const ParseContext& context) const {
  std::vector<std::uint32_t> out;
  for (const std::string& text : context.texts) out.push_back(source_.find_context(text));
  return out;
}

std::uint32_t JointModel::input_of(std::size_t row, std::size_t k, std::span<const std::uint32_t> source,
                                   std::span<const std::uint32_t> parse) const {
  const std::size_t window = facts_->window();
  if (row > source.size()) return JointVocabulary::kNone;
  if (k >= window) {
    if (row == source.size()) return JointVocabulary::kEnd;
    return parse.empty() ? JointVocabulary::kNone : parse[row * kParseInputs + k - window];
  }
  if (row + k < facts_->before) return JointVocabulary::kBegin;
  const std::size_t at = row + k - facts_->before;
  return at < source.size() ? source[at] : JointVocabulary::kEnd;
}

JointModel::Rows JointModel::prepare(std::span<const std::uint32_t> source,
                                     std::span<const std::uint32_t> parse) const {
  const std::size_t hidden = facts_->hidden, embedding = facts_->embedding;
  Rows rows;
  rows.words_ = source.size();
  rows.hidden_ = hidden;
  rows.values_.resize((source.size() + 2) * hidden);
  std::vector<const float*> inputs(source.size() + 2);  // an embedding for each row
  const auto add = [&](std::span<const float* const> given, std::size_t input, float* out) {
    for (const Block& block : source_blocks_) {
      std::vector<const float*> parts;
      for (const float* const embedded : given) parts.push_back(embedded + block.first_row);
      const float* const weights = source_weights_.data() + (input * embedding + block.first_row) * hidden;
      math_->multiply_add(
          {parts, block.rows, weights + block.first_column, hidden, out + block.first_column, hidden, block.columns});
    }
  };
  std::vector<float> common(bias_.begin(), bias_.end()), mean(embedding);
  if (facts_->sentence != 0) {
    for (const std::uint32_t word : source)
      math_->add_scaled(mean.data(), row_of(source_embeddings_, word, embedding),
                        1.0F / static_cast<float>(source.size()), embedding);
    inputs.front() = mean.data();
    add(std::span(inputs).first(1), facts_->affiliated(), common.data());
  }
  for (std::size_t row = 0; row < inputs.size(); ++row) std::ranges::copy(common, rows.values_.data() + row * hidden);
  for (std::size_t k = 0; k < facts_->affiliated(); ++k) {
    for (std::size_t row = 0; row < inputs.size(); ++row)
      inputs[row] = row_of(source_embeddings_, input_of(row, k, source, parse), embedding);
    add(inputs, k, rows.values_.data());
  }
  return rows;
}

void JointModel::hidden(const float* row, const std::uint32_t* history, float* out) const {
  const std::size_t units = facts_->hidden, second = facts_->second;
  std::array<const float*, kMostHistory + 1> parts = {row};
  for (std::size_t k = 0; k < facts_->history; ++k)
    parts[k + 1] = row_of(tables_, k * target_.size() + history[k], units);
  std::vector<float> first(second != 0 ? units : 0);
  float* const seen = second != 0 ? first.data() : out;
  math_->tanh_of_sum(seen, std::span(parts).first(facts_->history + 1), units);
  if (second == 0) return;
  for (const Block& block : second_blocks_)
    for (std::size_t i = block.first_row; i < block.first_row + block.rows; ++i)
      out[i] = second_bias_[i] + math_->dot(second_weights_.data() + i * units + block.first_column,
                                            seen + block.first_column, block.columns);
  math_->tanh(out, second);
}

void JointModel::prefetch(std::uint32_t word) const {
  constexpr std::size_t kLine = 64 / sizeof(float);
  const std::size_t units = facts_->last();
  for (std::size_t i = 0; i < units; i += kLine) __builtin_prefetch(output_.data() + word * units + i);
}

float JointModel::score(const float* hidden, std::uint32_t word) const {
  const std::size_t units = facts_->last();
  return finite(math_->dot(row_of(output_, word, units), hidden, units) + output_bias_[word] + share_[word]);
}

double JointModel::log_sum(const float* hidden) const {
  const std::size_t units = facts_->last();
  std::vector<float> scores(target_.size());
  for (std::size_t word = 0; word < scores.size(); ++word)
    scores[word] = finite(math_->dot(row_of(output_, word, units), hidden, units) + output_bias_[word]);
  const double most = std::ranges::max(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - most);
  return most + std::log(sum);
}

}  // namespace treeglot
