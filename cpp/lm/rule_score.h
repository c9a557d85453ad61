// The score of a rule's target side from the states of its parts, and the state of the whole. Words and pieces are
// given from left to right, as they stand.
//
//   RuleScore rule(search, state);        // state: of the new piece, overwritten
//   rule.begin_sentence();                // only where the piece begins the sentence, and first
//   rule.terminal(word);
//   rule.nonterminal(piece);              // the state of a piece that was finished before
//   double change = rule.finish();
//
// finish() gives log10 of the words given, plus the changes of the pieces' scores. A piece's own score, given to
// nonterminal(), is added. The sum over a derivation is the score of the sentence, however it is put together.
#pragma once

#include <algorithm>
#include <utility>

#include "lm/ngram_search.h"

namespace treeglot {

template <class Search>
class RuleScore {
 public:
  using Chart = typename Search::Chart;

  RuleScore(const Search& search, Chart& out) : search_(search), out_(out) { out_ = Chart{}; }

  void begin_sentence() {
    out_.right = search_.begin_sentence();
    left_done_ = true;
  }

  void terminal(WordId word) {
    const unsigned before = out_.right.length;
    const WordScore word_score = search_.score(out_.right, word, out_.right);
    take(word, word_score);
    // A state that was cut hides the text's beginning from all words to come.
    if (out_.right.length != before + 1) left_done_ = true;
  }

  void nonterminal(const Chart& in, double score = 0) {
    score_ += score;
    if (in.left_length == 0) {
      if (in.full == 0) return;  // an empty piece
      charge(out_.right.backoff.data(), out_.right.length);
      left_done_ = true;
      out_.right = in.right;
      return;
    }
    if (out_.right.length == 0) {
      out_.right = in.right;
      if (left_done_) return;
      // Nothing was given yet: a text with words left but no right state would be done.
      out_.left = in.left;
      out_.prob = in.prob;
      out_.left_length = in.left_length;
      left_done_ = in.full != 0;
      return;
    }
    extend(in);
  }

  double finish() {
    // The word after order − 1 words of the text cannot reach beyond them.
    out_.full = left_done_ || out_.left_length + 1u == search_.order() ? 1 : 0;
    return score_;
  }

 private:
  // The words of `in` that wait for their left context get it, each by extending the n-gram that it is with those
  // before it. The search spends most of its time here, and a call would keep the score in memory.
  [[gnu::always_inline]] void extend(const Chart& in) {
    FloatBits buffers[2][Search::kContext];
    const FloatBits* charges = out_.right.backoff.data();
    unsigned use = out_.right.length;
    for (unsigned length = 1; length <= in.left_length; ++length) {
      FloatBits* const backoff = buffers[length % 2];
      const float known = in.prob[length - 1];
      const WordScore extended =
          search_.extend_left(in.left.data(), length, known, out_.right.words.data(), charges, backoff, use);
      score_ -= known;
      take(in.left[length - 1], extended);
      if (use != out_.right.length) left_done_ = true;
      if (use == 0) {  // the words after this one keep their scores
        out_.right = in.right;
        return;
      }
      charges = backoff;
    }
    if (in.full != 0) {
      charge(charges, use);
      left_done_ = true;
      out_.right = in.right;
      return;
    }
    // All words of `in` are in its left state and its right state: the context goes on behind them.
    auto& right = out_.right;
    const unsigned length = in.right.length;
    std::copy_backward(right.words.begin(), right.words.begin() + use, right.words.begin() + use + length);
    std::copy(in.right.words.begin(), in.right.words.begin() + length, right.words.begin());
    std::copy(charges, charges + use, right.backoff.begin() + length);
    std::copy(in.right.backoff.begin(), in.right.backoff.begin() + length, right.backoff.begin());
    right.length = length + use;
    for (unsigned i = right.length; i < Search::kContext; ++i) {
      right.words[i] = 0;
      right.backoff[i] = {};
    }
  }

  void take(WordId word, const WordScore& word_score) {
    score_ += word_score.log10;
    if (left_done_) return;
    if (word_score.independent_left) {
      left_done_ = true;
      return;
    }
    out_.left[out_.left_length] = word;
    out_.prob[out_.left_length] = word_score.log10;
    ++out_.left_length;
  }

  void charge(const FloatBits* backoffs, unsigned count) {
    for (unsigned i = 0; i < count; ++i) score_ += static_cast<float>(backoffs[i]);
  }

  const Search& search_;
  Chart& out_;
  bool left_done_ = false;
  double score_ = 0;
};

}  // namespace treeglot
