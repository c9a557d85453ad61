#include "syntax/plf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"

namespace treeglot {
namespace {

constexpr std::string_view kNoWord = "*EPS*";
constexpr double kLeast = -100;  // the log of a probability of 0, as in Moses

class PlfCursor {
 public:
  PlfCursor(std::string_view text, ArcScores scores) : text_(text), scores_(scores) {}

  Lattice read() {
    const auto node = [&] {
      expect('(', "a node of arcs, (");
      const std::size_t before = arcs_.size();
      list([&] { arc(); });
      if (arcs_.size() == before) refuse_field(text_.substr(at_ - 1, 1), "an arc in every node");
      ++node_;
    };
    blanks();
    if (at_ == text_.size()) return Lattice({}, {});
    expect('(', "a lattice, (");
    list(node);
    blanks();
    if (at_ < text_.size()) refuse("the end of the line");
    for (std::size_t i = 0; i < arcs_.size(); ++i) {
      if (arcs_[i].to > node_)
        refuse_field(distances_[i],
                     "a distance of at most " + std::to_string(node_ - arcs_[i].from) + ", to the end of the lattice");
    }
    return Lattice(std::move(arcs_), words_);
  }

 private:
  // The items of a tuple whose bracket is open; the last one may have a comma after it.
  template <class Item>
  void list(const Item& item) {
    for (bool more = !skip(')'); more;) {
      item();
      const bool comma = skip(',');
      more = !skip(')');
      if (more && !comma) refuse(", or )");
    }
  }

  void arc() {
    expect('(', "an arc such as ('word', 0.5, 1)");
    word();
    expect(',', ", and a score");
    std::string_view last = field();
    std::optional<double> score = scores_ == ArcScores::probability ? 1.0 : 0.0;  // of an arc that names none
    if (skip(',')) {
      score = parse_loose_double(last);
      check_score(score, last);
      last = field();
    }
    if (!skip(')')) refuse("), after a word, one score and a distance");
    const std::optional<std::uint32_t> distance = parse_count(last);
    if (!distance || *distance == 0) refuse_field(last, "a distance of at least 1");
    const std::uint64_t to = std::uint64_t{node_} + *distance;
    if (to > UINT32_MAX) refuse_field(last, "a distance within the lattice");
    distances_.push_back(last);
    arcs_.push_back({node_, static_cast<std::uint32_t>(to), as_log(*score)});
  }

  void word() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("a word in quotes");
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ == text_.size()) refuse("the end of a word, " + std::string(1, quote));
    ++at_;
    words_.append(out == kNoWord ? std::string_view() : out);
  }

  // The text before the next comma, bracket or blank.
  std::string_view field() {
    blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",() ").find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) refuse("a number");
    return text_.substr(begin, at_ - begin);
  }

  void check_score(const std::optional<double>& score, std::string_view text) const {
    if (!score) refuse_field(text, "a score, one finite number");
    if (scores_ == ArcScores::probability && (*score < 0 || *score > 1))
      refuse_field(text, "a probability from 0 to 1; scores=log and scores=cost read other scores");
  }

  double as_log(double score) const {
    if (scores_ == ArcScores::probability) return score == 0 ? kLeast : std::max(std::log(score), kLeast);
    return scores_ == ArcScores::cost ? -score : score;
  }

  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool skip(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* expected) {
    if (!skip(c)) refuse(expected);
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    std::size_t end = std::min(at_ + 20, text_.size());
    while (end < text_.size() && (text_[end] & 0xc0) == 0x80) --end;
    const std::string found = at_ == text_.size() ? "the end of the line" : quoted(text_.substr(at_, end - at_));
    throw std::invalid_argument("byte " + std::to_string(at_ + 1) + ": found " + found + "; expected " + expected);
  }
  [[noreturn]] void refuse_field(std::string_view text, const std::string& expected) const {
    const auto byte = static_cast<std::size_t>(text.data() - text_.data()) + 1;
    throw std::invalid_argument("byte " + std::to_string(byte) + ": found " + quoted(text) + "; expected " + expected);
  }

  std::string_view text_;
  ArcScores scores_;
  std::size_t at_ = 0;
  std::uint32_t node_ = 0;
  std::vector<LatticeArc> arcs_;
  std::vector<std::string_view> distances_;  // by arc
  Strings words_;
};

}  // namespace

Lattice parse_plf(std::string_view line, ArcScores scores) { return PlfCursor(line, scores).read(); }

void PlfReader::read_line(std::string_view line) {
  give_parsed([&] { return parse_plf(line, scores_); });
}

}  // namespace treeglot
