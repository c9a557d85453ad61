#include "syntax/conll.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "base/numbers.h"

namespace treeglot {
namespace {

constexpr std::size_t kColumns = 10;
constexpr const char* kNamesX[kColumns] = {"ID",    "FORM", "LEMMA",  "CPOSTAG", "POSTAG",
                                           "FEATS", "HEAD", "DEPREL", "PHEAD",   "PDEPREL"};
constexpr const char* kNamesU[kColumns] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                           "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
constexpr std::size_t kForm = 1, kTags = 3 + 4, kHead = 6, kRelation = 7;  // kTags is the sum of both columns

const char* column_name(Conll version, std::size_t column) {
  return version == Conll::x ? kNamesX[column] : kNamesU[column];
}

}  // namespace

void ConllReader::forget() {
  for (Strings* const strings : {&words_, &tags_, &other_tags_, &relations_}) strings->clear();
  any_tag_ = any_other_tag_ = any_relation_ = inside_ = false;
  heads_.clear();
  lines_.clear();
  range_end_ = range_line_ = 0;
  empty_nodes_ = 0;
}

void ConllReader::read_line(std::string_view line) {
  if (line.empty()) return sentence();
  inside_ = true;
  if (line.starts_with('#')) {
    if (!heads_.empty()) fail("a comment inside a sentence; expected it before the first word");
    return;
  }
  std::string_view columns[kColumns];
  std::size_t count = 0, at = 0;
  while (at <= line.size()) {
    std::size_t end = at;
    while (end < line.size() && line[end] != '\t') ++end;  // columns are short
    if (count < kColumns) columns[count] = line.substr(at, end - at);
    ++count;
    at = end + 1;
  }
  if (count != kColumns)
    fail(std::to_string(count) + (count == 1 ? " column" : " columns") + "; expected 10, separated by tabs");
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (columns[column].empty())
      fail(std::string("an empty ") + column_name(version_, column) + "; expected _ for none");
    if (version_ == Conll::x && columns[column].find(' ') != std::string_view::npos)
      fail(std::string("a blank in ") + column_name(version_, column) + " " + quoted(columns[column]));
  }
  const std::string_view id = columns[0];
  if (version_ == Conll::u) {
    if (const std::size_t dash = id.find('-'); dash != std::string_view::npos) return range(id, dash);
    if (const std::size_t point = id.find('.'); point != std::string_view::npos) return empty_node(id, point);
  }
  word(id, columns);
}

void ConllReader::word(std::string_view id, const std::string_view (&columns)[10]) {
  const std::size_t expected = heads_.size() + 1;
  if (parse_count(id) != expected) fail("the word ID " + quoted(id) + "; expected " + std::to_string(expected));
  std::int32_t head = Dependency::kNoHead;
  if (columns[kHead] != "_") {
    const std::optional<std::uint32_t> number = parse_count(columns[kHead]);
    if (!number || *number > 0x7fffffff) fail("HEAD is " + quoted(columns[kHead]) + "; expected a word ID, 0 or _");
    head = static_cast<std::int32_t>(*number) - 1;  // 0 is the root
    if (*number == expected) fail("word " + std::string(id) + " is its own head");
  }
  const std::string_view tag = columns[static_cast<std::size_t>(tags_column_)];
  const std::string_view other = columns[kTags - static_cast<std::size_t>(tags_column_)];
  words_.append(columns[kForm]);
  tags_.append(tag);
  other_tags_.append(other);
  relations_.append(columns[kRelation]);
  any_tag_ |= tag != "_";
  any_other_tag_ |= other != "_";
  any_relation_ |= columns[kRelation] != "_";
  heads_.push_back(head);
  lines_.push_back(line_number());
  empty_nodes_ = 0;
}

void ConllReader::range(std::string_view id, std::size_t dash) {
  const auto first = parse_count(id.substr(0, dash)), last = parse_count(id.substr(dash + 1));
  if (!first || !last || *first != heads_.size() + 1 || *last < *first) {
    const std::string next = std::to_string(heads_.size() + 1);
    fail("the multiword ID " + quoted(id) + "; expected a range of words that begins at " + next);
  }
  if (heads_.size() < range_end_) fail("the multiword ID " + quoted(id) + " overlaps with the one before");
  range_end_ = *last;
  range_line_ = line_number();
}

void ConllReader::empty_node(std::string_view id, std::size_t point) {
  const auto word = parse_count(id.substr(0, point)), number = parse_count(id.substr(point + 1));
  if (word != heads_.size() || number != empty_nodes_ + 1) {
    fail("the empty node ID " + quoted(id) + "; expected " + std::to_string(heads_.size()) + "." +
         std::to_string(empty_nodes_ + 1));
  }
  ++empty_nodes_;
}

void ConllReader::sentence() {
  const auto bad = [&](std::size_t line, const std::string& problem) {
    skip_or_fail_at(line, problem);  // the next line begins another sentence: skip nothing
    forget();
  };
  if (heads_.empty()) {
    return bad(line_number(), inside_ ? "a sentence without words" : "a blank line; expected a sentence");
  }
  if (range_end_ > heads_.size()) {
    return bad(range_line_, "a multiword token up to word " + std::to_string(range_end_) + " of a sentence with " +
                                std::to_string(heads_.size()));
  }
  for (std::size_t word = 0; word < heads_.size(); ++word) {
    if (heads_[word] >= static_cast<std::int64_t>(heads_.size())) {
      return bad(lines_[word], "HEAD is " + quoted(std::to_string(heads_[word] + std::int64_t{1})) +
                                   " in a sentence with " + std::to_string(heads_.size()) +
                                   (heads_.size() == 1 ? " word" : " words"));
    }
  }
  if (!any_tag_) std::swap(tags_, other_tags_);
  if (!any_tag_ && !any_other_tag_) tags_.clear();
  if (!any_relation_) relations_.clear();
  give(Dependency(words_, heads_, tags_, relations_));  // copies, so that the room of these is used again
  forget();
}

void ConllReader::end_of_file() {
  if (inside_) sentence();
}

static void check_column(Conll version, std::size_t column, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(std::string("the ") + column_name(version, column) + " " + quoted(text) +
                                " cannot be written: it " + why);
  };
  if (text.empty()) refuse("is empty");
  const std::string_view bad_characters(version == Conll::x ? "\t\n\r\0 " : "\t\n\r\0", version == Conll::x ? 5 : 4);
  if (const std::size_t bad = text.find_first_of(bad_characters); bad != std::string_view::npos)
    refuse("contains " + quoted(text.substr(bad, 1)));
}

static void check_some(const Strings& strings, const char* what) {
  for (std::size_t i = 0; i < strings.size(); ++i)
    if (strings[i] != "_") return;
  if (!strings.empty())
    throw std::invalid_argument(std::string("the ") + what + " are all '_', which would be read back as none");
}

std::string write_conll(const Dependency& dependency, Conll version, TagColumn tags) {
  if (dependency.size() == 0) throw std::invalid_argument("a sentence without words cannot be written in CoNLL");
  check_some(dependency.tags(), "tags");
  check_some(dependency.relations(), "relations");
  std::string out;
  for (std::size_t word = 0; word < dependency.size(); ++word) {
    const std::string_view tag = dependency.tags().empty() ? "_" : dependency.tags()[word];
    const std::string_view relation = dependency.relations().empty() ? "_" : dependency.relations()[word];
    const bool coarse = version == Conll::x || tags == TagColumn::coarse;
    const bool fine = version == Conll::x || tags == TagColumn::fine;
    check_column(version, kForm, dependency.words()[word]);
    check_column(version, static_cast<std::size_t>(tags), tag);
    check_column(version, kRelation, relation);
    out += std::to_string(word + 1);
    for (const std::string_view column :
         {dependency.words()[word], std::string_view("_"), coarse ? tag : std::string_view("_"),
          fine ? tag : std::string_view("_"), std::string_view("_")}) {
      out += '\t';
      out += column;
    }
    const std::int32_t head = dependency.head(word);
    out += '\t';
    out += head == Dependency::kNoHead ? "_" : std::to_string(head + 1);
    out += '\t';
    out += relation;
    out += "\t_\t_\n";
  }
  return out + "\n";
}

}  // namespace treeglot
