#include "evaluate/bleu.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeglot {
namespace {

// How many bytes of blank a text begins with, as Python's str.split() has it: sacreBLEU counts the same words.
std::size_t blank_at(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return byte == ' ' || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1f) ? 1 : 0;
  if (byte != 0xc2 && (byte < 0xe1 || byte > 0xe3)) return 0;
  for (const std::string_view blank :
       {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
        "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"})
    if (text.starts_with(blank)) return blank.size();
  return 0;
}

// The words of a line, each as `number` has it.
template <class Number>
std::vector<Symbol> words_of(std::string_view line, Number&& number) {
  std::vector<Symbol> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t blank = blank_at(line.substr(at));
    if (blank > 0 && begin < at) words.push_back(number(line.substr(begin, at - begin)));
    at += std::max<std::size_t>(blank, 1);
    if (blank > 0) begin = at;
  }
  if (begin < line.size()) words.push_back(number(line.substr(begin)));
  return words;
}

// take(node, how often it is there), for every node of a list. Sorts the list.
template <class Take>
void for_each_run(std::vector<std::uint32_t>& nodes, Take&& take) {
  std::ranges::sort(nodes);
  for (auto begin = nodes.begin(); begin != nodes.end();) {
    const auto end = std::upper_bound(begin, nodes.end(), *begin);
    take(*begin, static_cast<std::uint32_t>(end - begin));
    begin = end;
  }
}

}  // namespace

Bleu::Bleu(const BleuOptions& options) : options_(options) {
  if (options.order < 1 || options.order > 32) {
    throw std::invalid_argument("an order of " + std::to_string(options.order) + "; expected 1 to 32");
  }
}

double Bleu::score(std::span<const double> sum) const {
  const std::size_t order = options_.order;
  const auto matches = sum.subspan(2, order), totals = sum.subspan(2 + order, order);
  if (std::none_of(matches.begin(), matches.end(), [](double m) { return m > 0.0; })) return 0.0;

  const bool plus_one = options_.smoothing == Smoothing::add_one || options_.smoothing == Smoothing::add_one_length;
  double logarithm = 0.0, missing = 1.0;
  for (std::size_t n = 0; n < order; ++n) {
    const double plus = plus_one && n > 0 ? 1.0 : 0.0;
    double match = matches[n] + plus;
    const double total = totals[n] + plus;
    if (total == 0.0) return 0.0;
    if (match == 0.0) {
      if (options_.smoothing != Smoothing::exponential) return 0.0;
      missing *= 2.0;
      match = 1.0 / missing;
    }
    logarithm += std::log(match / total);
  }
  const double words = sum[0];
  const double wanted = sum[1] + (options_.smoothing == Smoothing::add_one_length ? 1.0 : 0.0);
  const double brevity = words < wanted ? 1.0 - wanted / words : 0.0;
  return 100.0 * std::exp(brevity + logarithm / static_cast<double>(order));
}

double Bleu::score_of_part(std::span<const double> part, std::span<const double> whole) const {
  std::vector<double> sum(part.begin(), part.end());
  std::copy_n(whole.begin(), 2, sum.begin());  // the precisions of the part, the brevity penalty of all
  return score(sum);
}

References::References(const Bleu& metric, ReferenceLines lines) : metric_(metric), references_(lines.size()) {
  if (lines.empty()) throw std::invalid_argument("there are no references; expected at least one");
  for (std::size_t r = 1; r < lines.size(); ++r) {
    if (lines[r].size() != lines[0].size()) {
      throw std::invalid_argument("reference " + std::to_string(r + 1) + " has " + std::to_string(lines[r].size()) +
                                  " sentences, reference 1 has " + std::to_string(lines[0].size()));
    }
  }
  for (std::size_t sentence = 0; sentence < lines[0].size(); ++sentence) {
    roots_.push_back(add({}));
    for (const std::vector<std::string>& reference : lines) {
      const auto words = words_of(reference[sentence], [&](std::string_view word) { return symbols_.intern(word); });
      add_ngrams(roots_.back(), words);
      lengths_.push_back(words.size());
    }
  }
}

std::vector<double> References::statistics(std::span<const std::string> translations,
                                           std::span<const std::uint32_t> sentences) const {
  if (translations.size() != sentences.size()) {
    throw std::invalid_argument("there are " + std::to_string(translations.size()) + " translations of " +
                                std::to_string(sentences.size()) + " sentences");
  }
  std::vector<double> rows(translations.size() * width());
  for (std::size_t i = 0; i < translations.size(); ++i) {
    if (sentences[i] >= roots_.size()) {
      throw std::invalid_argument("translation " + std::to_string(i) + " is of sentence " +
                                  std::to_string(sentences[i]) + "; there are references for " +
                                  std::to_string(roots_.size()));
    }
    count(translations[i], sentences[i], std::span(rows).subspan(i * width(), width()));
  }
  return rows;
}

void References::count(std::string_view translation, std::size_t sentence, std::span<double> out) const {
  const std::size_t order = metric_.options().order;
  const auto words = words_of(translation, [&](std::string_view word) { return symbols_.find(word); });
  out[0] = static_cast<double>(words.size());
  out[1] = static_cast<double>(reference_length(words.size(), sentence));
  count_matches(roots_[sentence], words, out.subspan(2, order));
  for (std::size_t n = 1; n <= order; ++n) {
    out[1 + order + n] = words.size() < n ? 0.0 : static_cast<double>(words.size() - n + 1);
  }
}

std::size_t References::reference_length(std::size_t words, std::size_t sentence) const {
  const auto lengths = std::span(lengths_).subspan(sentence * references_, references_);
  const auto distance = [words](std::size_t length) { return length < words ? words - length : length - words; };
  return *std::min_element(lengths.begin(), lengths.end(), [&](std::size_t a, std::size_t b) {
    if (metric_.options().length == LengthChoice::shortest || distance(a) == distance(b)) return a < b;
    return distance(a) < distance(b);
  });
}

References::Node References::find(Node prefix, Symbol word) const {
  return index_.find(hash_number(std::uint64_t{prefix} << 32 | word),
                     [&](Node node) { return ngrams_[node].prefix == prefix && ngrams_[node].word == word; });
}

// Of one that is not there yet; a root has no prefix.
References::Node References::add(const Ngram& ngram) {
  if (ngrams_.size() >= kNone) throw std::length_error("references hold fewer than 2^32 n-grams");
  const auto node = static_cast<Node>(ngrams_.size());
  ngrams_.push_back(ngram);
  const auto never = [](Node) { return false; };
  if (ngram.prefix != kNone) index_.intern(hash_number(std::uint64_t{ngram.prefix} << 32 | ngram.word), node, never);
  return node;
}

void References::add_ngrams(Node root, std::span<const Symbol> words) {
  std::vector<Node> at(words.size(), root), nodes;  // the n-gram that begins here
  for (std::size_t n = 1; n <= metric_.options().order && n <= words.size(); ++n) {
    nodes.clear();
    for (std::size_t begin = 0; begin + n <= words.size(); ++begin) {
      const Node known = find(at[begin], words[begin + n - 1]);
      at[begin] = known != kNone ? known : add({at[begin], words[begin + n - 1]});
      nodes.push_back(at[begin]);
    }
    for_each_run(nodes,
                 [&](Node node, std::uint32_t times) { ngrams_[node].count = std::max(ngrams_[node].count, times); });
  }
}

// Each n-gram counts at most as often as it is in the references.
void References::count_matches(Node root, std::span<const Symbol> words, std::span<double> matches) const {
  std::vector<Node> at(words.size(), root), nodes;
  for (std::size_t n = 1; n <= matches.size(); ++n) {
    nodes.clear();
    for (std::size_t begin = 0; begin + n <= words.size(); ++begin) {
      if (at[begin] == kNone) continue;
      at[begin] = find(at[begin], words[begin + n - 1]);
      if (at[begin] != kNone) nodes.push_back(at[begin]);
    }
    std::uint64_t found = 0;
    for_each_run(nodes, [&](Node node, std::uint32_t times) { found += std::min(ngrams_[node].count, times); });
    matches[n - 1] = static_cast<double>(found);
  }
}

}  // namespace treeglot
