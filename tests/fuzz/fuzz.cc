// Mutated inputs for every reader and binary format of the core: treeglot_fuzz READER|all COUNT SEED.
//
// An input may be refused with FormatError or std::invalid_argument, nothing else. Another exception, a report of the
// sanitizers, 10 seconds of CPU time or 1 GB for one input end the run with an error. The input is then in
// fuzz-READER.bad.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/sections.h"
#include "decode/decoder.h"
#include "decode/features/dependency.h"
#include "decode/features/labels.h"
#include "decode/features/ngram.h"
#include "decode/match_chart.h"
#include "decode/match_forest.h"
#include "decode/match_head_dependents.h"
#include "foreign/grammar.h"
#include "lm/arpa.h"
#include "lm/ngram_bulk.h"
#include "lm/ngram_list.h"
#include "lm/ngram_train.h"
#include "parse/grammar_text.h"
#include "parse/parser.h"
#include "parse/trainer.h"
#include "rules/hiero.h"
#include "rules/on_demand.h"
#include "rules/pair_index.h"
#include "rules/provenance.h"
#include "rules/render.h"
#include "rules/table_builder.h"
#include "syntax/brackets.h"
#include "syntax/category.h"
#include "syntax/conll.h"
#include "syntax/dependency_brackets.h"
#include "syntax/dependency_checks.h"
#include "syntax/egret.h"
#include "syntax/forest_json.h"
#include "syntax/forest_stages.h"
#include "syntax/forest_trees.h"
#include "syntax/head_table.h"
#include "syntax/lattice_json.h"
#include "syntax/pharaoh.h"
#include "syntax/plain.h"
#include "syntax/plf.h"
#include "syntax/structure.h"
#include "syntax/symmetrize.h"
#include "syntax/to_dependency.h"
#include "targets.h"

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:quarantine_size_mb=16:max_allocation_size_mb=1024:hard_rss_limit_mb=1024";
}
extern "C" void __asan_set_death_callback(void (*)());

namespace treeglot {
namespace {

std::string g_input, g_name;  // for the handler of the last moment

void save() {
  const std::string path = "fuzz-" + g_name + ".bad";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (write(file, g_input.data(), g_input.size()) >= 0) std::fprintf(stderr, "the input is in %s\n", path.c_str());
  close(file);
}

[[noreturn]] void fail(const std::string& problem) {
  std::fprintf(stderr, "%s: %s\n", g_name.c_str(), problem.c_str());
  save();
  std::_Exit(1);
}

}  // namespace

std::string as_file(std::string_view bytes) {
  static const int file = memfd_create("fuzz", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail("cannot write to memory");
  return "/proc/self/fd/" + std::to_string(file);
}

std::string file_bytes(const std::function<void(const std::string&)>& write_to) {
  const std::string path = "/tmp/treeglot-fuzz-" + std::to_string(getpid());
  write_to(path);
  std::string bytes;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) bytes += static_cast<char>(byte);
  std::fclose(file);
  std::remove(path.c_str());
  return bytes;
}

namespace {

// ------------------------------------------------------------------------------------------------ seeds

constexpr std::string_view kTrees =
    "(S (NP (DT das) (NN haus)) (VP (VB ist) (JJ klein)))\n( (S\n    (NP-SBJ (PRP I))\n    (VP (VBD left))))\n(())\n";
constexpr std::string_view kConll =
    "# text = das haus\n1\tdas\tdas\tDET\tDT\t_\t2\tdet\t_\t_\n2\thaus\thaus\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
    "3-4\tam\t_\t_\t_\t_\t_\t_\t_\t_\n3\tist\tsein\tAUX\tVB\t_\t0\troot\t_\t_\n4\tan\tan\tADP\tIN\t_\t3\tx\t_\t_\n\n";
constexpr std::string_view kArpa =
    "\\data\\\nngram 1=5\nngram 2=4\nngram 3=2\n\n\\1-grams:\n-1.5\t<unk>\n0\t<s>\t-0.4\n-0.9\t</s>\n"
    "-0.6\tthe\t-0.3\n-0.7\thouse\t-0.2\n\n\\2-grams:\n-0.3\t<s> the\t-0.1\n-0.8\tthe house\t-0.5\n"
    "-0.4\thouse the\t-0.25\n-0.2\tthe </s>\n\n\\3-grams:\n-0.15\t<s> the house\n-0.05\tthe house the\n\n\\end\\\n";
constexpr std::string_view kEgret =
    "sentence 1 :\ndas haus ist\nDT[0,0] => das ||| 0\nNN[1,1] => haus ||| -0.1\nVB[2,2] => ist ||| -0.2\n"
    "NP^g[0,1] => DT[0,0] NN[1,1] ||| -0.5\nS[0,2] => NP^g[0,1] VB[2,2] ||| -1e-05\n"
    "S[0,2] => DT[0,0] NN[1,1] VB[2,2] ||| -3\nROOT[0,2] => S[0,2] ||| 0\n\nsentence 2 :\nno parse\n\n\n";
constexpr std::string_view kHeads = "# heads\n%default first\nS = first VP VB\nNP = last NN\n";

template <class R, class... Options>
auto read_all(std::string_view bytes, Options... options) {
  R reader("in", options...);
  auto values = reader.feed(bytes.substr(0, bytes.size() / 2));
  for (auto& value : reader.feed(bytes.substr(bytes.size() / 2))) values.push_back(std::move(value));
  for (auto& value : reader.finish()) values.push_back(std::move(value));
  return values;
}

Tree seed_tree() { return *read_all<BracketReader>(kTrees, false).front(); }
ParseForest seed_forest() { return *read_all<EgretReader>(kEgret, false, false, 1.0).front(); }
Dependency seed_dependency() { return *read_all<ConllReader>(kConll, false, Conll::u, TagColumn::fine).front(); }

RuleTable seed_table() {
  RuleTableBuilder builder({"p", "q"});
  const Symbol x = builder.label("X"), noun = builder.label("NN"), np = builder.label("NP");
  const auto word = [&](std::string_view text) { return builder.source_word(text); };
  const auto target = [&](std::string_view text) { return static_cast<std::int32_t>(builder.target_word(text)); };
  const SparseFeature sparse[] = {{builder.feature("rare"), 1.0f}};
  const RuleLink links[] = {{0, 0}, {1, 1}};
  const float values[] = {-1.0f, 0.5f};
  const auto add = [&](Symbol lhs, std::vector<Symbol> source, std::vector<std::int32_t> side, const RuleNotes& notes) {
    builder.add(lhs, source, side, values, notes);
  };
  const Symbol labels[] = {x, noun, np};
  const std::int32_t heads[] = {2, 0};
  add(x, {word("das"), word("haus")}, {target("the"), target("house")}, {sparse, links, labels, heads});
  add(x, {word("das"), nonterminal(x)}, {target("the"), -1}, {{}, std::span(links).first(1), labels, heads});
  add(x, {nonterminal(x), word("ist"), nonterminal(x)}, {-2, target("is"), -1}, {});
  add(np, {word(" NP("), word(" DT("), word("das"), word(" )"), nonterminal(noun), word(" )")}, {-1, target("it")}, {});
  add(noun, {word("haus")}, {target("home")}, {});
  add(x, {word("klein")}, {}, {});
  return builder.finish();
}

HieroOptions seed_hiero() {
  HieroOptions options;
  options.max_phrase = options.max_target_phrase = options.max_symbols = Limit(5);
  options.max_nonterminals = Limit(2);
  options.min_hole = Limit(1);
  return options;
}

// A pair that one of the table's rules comes from.
void append_seed_pair(BitextBuilder& pairs, std::span<const float> weights = {}) {
  const std::string_view source[] = {"haus", "ist", "klein"}, target[] = {"small", "is", "house"};
  pairs.append(source, target, Alignment({{0, 2}, {1, 1}, {2, 0}}), weights);
}

void write_seed_provenance(const std::string& path) {
  BitextBuilder pairs;
  append_seed_pair(pairs);
  HieroExtractor extractor(std::make_shared<const Bitext>(pairs.finish()), seed_hiero());
  Tally tally;
  extractor.extract(0, tally, 1 << 20, 1);
  Provenance::write(path, seed_table(), extractor, 1);
}

void write_seed_index(const std::string& path) {
  BitextBuilder pairs;
  append_seed_pair(pairs, std::array{1.0f, 0.5f, 0.25f});
  append_seed_pair(pairs);
  PairIndex::build(pairs.finish(), seed_hiero()).write(path);
}

NgramModel seed_lm(NgramLayout layout) {
  ArpaReader reader("seed");
  reader.feed(kArpa);
  return reader.finish(layout);
}

NgramModel seed_class_lm() {
  Strings words;
  for (const char* word : {"the", "a", "dog", "cat"}) words.append(word);
  const auto classes = std::make_shared<const WordClasses>(words, std::vector<std::uint32_t>{0, 0, 1, 1});
  NgramTrainOptions options;
  options.order = 2;
  NgramTrainer trainer(options, classes);
  TrainingText text("seed", trainer);
  text.feed("the dog\na cat\n");
  text.finish();
  EstimateCollector sink;
  (void)trainer.finish("seed", sink, [](std::string_view, std::uint64_t, std::uint64_t) {});
  return compile(sink.estimate, NgramLayout::fast, classes.get());
}

DependencyModel seed_dependency_lm() {
  DependencyTrainer trainer(DependencyUnit::words, {0.5f, 1.0f, 1.5f}, DependencyConditioning::sibling);
  trainer.add(seed_dependency());
  const DependencyEstimate made = trainer.finish();
  return compile_dependency(DependencyUnit::words, DependencyConditioning::sibling, made.left.ngrams, made.right.ngrams,
                            made.root.ngrams);
}

Trainer seed_trainer() {
  static const auto bank = [] {
    auto out = std::make_shared<Treebank>(BinarizeOptions{}, "ROOT");
    out->add(seed_tree());
    return out;
  }();
  Trainer trainer(bank, SignatureKind{});
  return trainer;
}

// ------------------------------------------------------------------------------------------------ mutants

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {}

  std::string text() {
    std::string out = pick(seeds_);
    for (std::size_t left = 1 + below(6); left > 0; --left) change(out);
    return out;
  }

  // Of a binary file: numbers within it change more often than its size; half of the mutants have right checksums.
  std::string binary() {
    std::string out = pick(seeds_);
    for (std::size_t left = 1 + below(4); left > 0; --left) {
      static constexpr std::uint32_t kNumbers[] = {0,          1,          2,          3,          7,
                                                   31,         32,         255,        0x7fffffff, 0x80000000,
                                                   0x80000001, 0xffffffff, 0x7f800000, 0x7fc00000, 0xfffffffe};
      const std::size_t at = below(out.size() / 4) * 4;
      std::uint32_t number;
      std::memcpy(&number, out.data() + at, 4);
      const std::size_t how = below(8);
      if (how < 3) number = kNumbers[below(std::size(kNumbers))];
      if (how == 3) number += static_cast<std::uint32_t>(below(5)) - 2;
      if (how == 4) std::memcpy(&number, out.data() + below(out.size() / 4) * 4, 4);
      if (how == 5) number ^= 1u << below(32);
      std::memcpy(out.data() + at, &number, 4);
      if (how == 6) out[below(out.size())] = static_cast<char>(below(256));
      if (how == 7 && below(8) == 0) change(out);
    }
    if (below(2) == 0) fix_checksums(out);
    return out;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_.next() % count; }
  const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  void change(std::string& out) {
    // clang-format off
    static const std::vector<std::string> kParts = {
        "(", ")", "(())", "\n", "\n\n", "\t", " ", "|||", "[X,1]", "[X]", "-", "0-0", "4294967295", "4294967296", "-1",
        "18446744073709551616", "1e999", "nan", "inf", "-0.0", "0x10", "\"", "\\", "\\u0000", "\\ud800", "{", "}", "[", "]",
        ",", ":", "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x98\x80", std::string(1, '\0'), "\r", "=>", "=", "#", "<s>",
        "<unk>", "ngram 9=1", "\\end\\", "\\9-grams:", "sentence 1 :", "_", "1-2", "1.1", "^g", "@", "<x translation=\"",
        "</x>", "&amp;", "\"nodes\":", "null", "1e-400", "->", "_0", "x0:NN", "x1"};
    // clang-format on
    const std::size_t at = below(out.size() + 1),
                      length = std::min(out.size() - at, 1 + below(below(4) == 0 ? 200 : 8));
    switch (below(9)) {
      case 0:
        if (!out.empty()) out[below(out.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 1: out.erase(at, length); break;
      case 2: out.insert(at, pick(kParts)); break;
      case 3: out.insert(at, out.substr(below(out.size() + 1), length)); break;
      case 4: out.replace(at, length, pick(kParts)); break;
      case 5: {
        const std::string& other = pick(seeds_);
        out = out.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
      case 6: {  // much of one thing: depth, width, digits
        std::string part = below(2) == 0 ? pick(kParts) : out.substr(at, length), many;
        for (std::size_t left = 1 + below(below(16) == 0 ? 5000 : 50); left > 0; --left) many += part;
        out.insert(at, many);
        break;
      }
      case 7: out.resize(at); break;
      default:
        if (!out.empty()) out[below(out.size())] = static_cast<char>(below(256));
    }
  }

  static std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
    Checksum sum(seed);
    sum.add(bytes);
    return sum.sum();
  }

  // As sections.h and blocks.h say: the header has 64 bytes, an entry of the table 64, and blocks begin with the file.
  static void fix_checksums(std::string& out) {
    if (out.size() < 128) return;
    const auto number = [&](std::size_t at) -> std::uint64_t& { return *reinterpret_cast<std::uint64_t*>(&out[at]); };
    const auto bytes = [&](std::size_t at, std::size_t size) {
      return std::as_bytes(std::span(out).subspan(at, size));
    };
    const std::uint64_t sections = number(40);
    if (sections > (out.size() - 64) / 64) return;
    number(56) = 0;
    number(56) = checksum(bytes(64, 64 * sections), checksum(bytes(0, 64)));
    std::size_t content = 64 + 64 * sections;
    for (std::size_t entry = 64; entry < 64 + 64 * sections; entry += 64) {
      const std::uint64_t size = number(entry + 40);
      if (size > out.size()) return;
      content += (size + 63) / 64 * 64;
    }
    if (content > out.size() || sums_size(content) != out.size() - content) return;
    BlockSums sums;
    sums.add(bytes(0, content));
    const std::vector<std::byte> end = sums.finish();
    std::memcpy(out.data() + content, end.data(), end.size());
  }

  std::vector<std::string> seeds_;
  Random random_;
};

// ------------------------------------------------------------------------------------------------ readers

// What is made of values that were read.
void use(const Tree& tree) {
  static const HeadTable heads = HeadTable::read(kHeads, "heads");
  (void)show_brackets(tree);
  (void)to_dependency(tree, heads);
  (void)span_categories(tree, 4);
}
void use(const Dependency& dependency) {
  (void)is_tree(dependency.heads());
  (void)nonprojective_arcs(dependency.heads());
  (void)Structures(dependency.heads()).well_formed(5);
  if (cycles(dependency.heads()).empty()) (void)projectivise(dependency.heads());
}
void use(const ParseForest& forest) {
  (void)write_forest_json(forest);
  (void)kbest_trees(forest, 3);
  (void)prune_conditional(forest, 2.0);
  (void)count_trees(forest);
}
void use(const Lattice& lattice) {
  if (parse_lattice_json(write_lattice_json(lattice)) != lattice) throw std::logic_error("another lattice");
}
void use(const Alignment& alignment) { (void)write_pharaoh(symmetrize(alignment, alignment, Symmetrization::union_)); }
void use(const std::vector<std::string>&) {}

template <class R, class... Options>
void read_and_use(std::string_view bytes, Options... options) {
  for (const auto& value : read_all<R>(bytes, options...))
    if (value) use(*value);
}

void use_table(std::string_view bytes, Opening how) {
  const auto table = std::make_shared<const RuleTable>(RuleTable::open(as_file(bytes), how));
  static const auto lm = std::make_shared<const NgramModel>(seed_lm(NgramLayout::fast));
  static const auto forest = std::make_shared<ParseForest>(seed_forest());
  static const auto dependency = std::make_shared<Dependency>(seed_dependency());
  const auto decode = [&](const std::shared_ptr<FeatureSet>& features, std::shared_ptr<const Matcher> matcher,
                          const Source& source) {
    const std::pair<std::string, double> weights[] = {{"p", 1.0}, {"lm", 0.5}, {"rare", 1.0}, {"glue", -1.0}};
    DecoderOptions options;
    options.search.pop_limit = 10;
    const Decoder decoder(features, std::move(matcher), weights, options);
    const Source sources[] = {source};
    for (const Translation& found : decoder.translate(sources, {}, {}, {.kbest = 3, .distinct = false}, 1))
      if (found.problem.find("bad_alloc") != std::string::npos) fail(found.problem);
  };
  const auto features = [&] {
    auto out = std::make_shared<FeatureSet>(table);
    add_ngram(*out, lm);
    return out;
  };
  const auto chart = features(), trees = features(), dependents = features();
  decode(chart, std::make_shared<ChartMatcher>(table, ChartOptions{}), std::string("das haus ist das haus klein ist"));
  decode(trees, std::make_shared<ForestMatcher>(*trees, nullptr, ForestOptions{}, ChartOptions{}), forest);
  decode(dependents,
         std::make_shared<HeadDependentsMatcher>(*dependents, nullptr, HeadDependentsMatchOptions{.augmented = true},
                                                 ChartOptions{}),
         dependency);
  for (RuleId rule = 0; rule < table->rules(); ++rule) (void)table->rule(rule);
}

void use_index(std::string_view bytes) {
  const auto index = std::make_shared<const PairIndex>(PairIndex::open(as_file(bytes)));
  const std::vector<std::string> features = {"p_target_given_source", "p_source_given_target", "count"};
  const DemandScoring scoring = {.smoothing = RuleSmoothing::kneser_ney, .discounts = {0.5, 0.7, 0.9}, .rules = 9};
  const std::string_view sentence[] = {"haus", "ist", "klein", "haus"};
  for (const std::uint32_t samples : {0u, 1u}) {
    const RulesOnDemand rules({index, index}, features, {samples, samples, samples}, scoring);
    (void)rules.rules_for(sentence, 4);
  }
  BitextBuilder pairs;
  index->append_to(pairs);
}

void use_provenance(std::string_view bytes) {
  static const RuleTable table = seed_table();
  const Provenance index = Provenance::open(as_file(bytes));
  for (std::size_t pair = 0; pair < index.pairs(); ++pair) {
    (void)index.source(pair);
    (void)index.target(pair);
    for (RuleId rule = 0; rule < table.rules(); ++rule) (void)index.mark(table, rule, pair);
  }
  for (RuleId rule = 0; rule < index.rules(); ++rule) (void)index.pairs_of(rule, 3);
  (void)index.find({"ist", "klein"}, {"small"}, 3);
}

void use_lm(std::string_view bytes) {
  const NgramModel model = NgramModel::open(as_file(bytes));
  const std::string_view texts[] = {"the house the house", "x the </s> <s>", ""};
  const auto [ids, offsets] = model.encode(texts);
  for (const float score : score_texts(model, ids, offsets, {}))
    if (score != score) fail("a score is no number");
  (void)score_words(model, ids, offsets, {});
  const std::variant<WordId, NgramModel::Chart> parts[] = {ids[0], ids[1], ids[0]};
  NgramModel::Chart out;
  (void)model.score_rule(parts, true, out);
  write_arpa(model, [](std::string_view) {});
}

// In a search, which verifies what it uses.
void use_lm_in_search(std::string_view bytes) {
  const auto model = std::make_shared<const NgramModel>(NgramModel::open(as_file(bytes), Opening::on_use));
  static const auto table = std::make_shared<const RuleTable>(seed_table());
  const auto features = std::make_shared<FeatureSet>(table);
  add_ngram(*features, model);
  const std::pair<std::string, double> weights[] = {{"p", 1.0}, {"lm", 0.5}};
  const Decoder decoder(features, std::make_shared<ChartMatcher>(table, ChartOptions{}), weights, {});
  if (!std::isfinite(decoder.translate("das haus ist das haus klein ist").hypotheses.at(0)->score))
    fail("a score is not finite");
  model->verify();
}

void use_dependency_lm(std::string_view bytes) {
  const DependencyModel model = DependencyModel::open(as_file(bytes), true);
  static const Dependency sentence = seed_dependency();
  const Dependency* const sentences[] = {&sentence};
  (void)score_words(model, sentences);
  for (WordId unit = 0; unit < std::min<std::size_t>(model.vocabulary().size(), 20); ++unit)
    (void)model.vocabulary().word(unit);
}

// Rows of a rule table: their columns are between tabs.
void use_rows(std::string_view bytes) {
  std::vector<std::string> text(6);
  std::vector<std::vector<std::int32_t>> offsets(6, {0});
  std::vector<float> dense;
  while (!bytes.empty()) {
    std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    for (std::size_t column = 0; column < 6; ++column) {
      const std::string_view cell = line.substr(0, line.find('\t'));
      line.remove_prefix(std::min(line.size(), cell.size() + 1));
      text[column] += cell;
      offsets[column].push_back(static_cast<std::int32_t>(text[column].size()));
    }
    dense.push_back(0.5f);
  }
  const auto column = [&](std::size_t at) { return Codes(offsets[at], text[at]); };
  RuleTableBuilder builder({"p"});
  builder.expand({true, {builder.source_word("das")}, {builder.target_word("the")}});
  RuleRows rows = {column(0), column(1), column(2), column(3), column(4), column(5), {dense}, {{"lhs", column(0)}}};
  builder.add_rows(rows, "in", 1);
  const RuleTable table = builder.finish();
  for (RuleId rule = 0; rule < table.rules(); ++rule) (void)table.rule(rule);
}

// A coded side that follows another one.
void use_codes(std::string_view bytes) {
  Strings words, labels;
  for (const char* const word : {"das", "haus", "(", "[X,1]"}) words.append(word);
  for (const char* const label : {"X", "NP"}) labels.append(label);
  const Renderer renderer(words, words, labels);
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(bytes.size() / 2),
                                  static_cast<std::int32_t>(bytes.size())};
  const Codes codes(offsets, bytes);
  const auto each = [&](const auto& render) {
    try {
      render();
    } catch (const std::invalid_argument&) {
    }
  };
  each([&] { (void)renderer.source(codes); });
  each([&] { (void)renderer.target(codes, codes); });
  each([&] { (void)renderer.labels(codes); });
  each([&] { (void)Renderer::alignment(codes); });
}

void use_line(std::string_view bytes) {
  static const Decoder decoder = [] {
    const auto table = std::make_shared<const RuleTable>(seed_table());
    const auto features = std::make_shared<FeatureSet>(table);
    const std::pair<std::string, double> weights[] = {{"p", 1.0}};
    DecoderOptions options;
    options.markup = true;
    options.search.pop_limit = 10;
    return Decoder(features, std::make_shared<ChartMatcher>(table, ChartOptions{}), weights, options);
  }();
  std::string line(bytes.substr(0, 300));  // time grows with the square of a line's length
  (void)decoder.translate(line);
}

void use_trainer(std::string_view bytes) {
  Trainer trainer = seed_trainer();
  trainer.restore(bytes);
  trainer.em(1);
  trainer.finish_level(1, 0.0, 0.1);
  for (std::size_t level = 0; level < trainer.levels(); ++level) (void)write_level(*trainer.grammar(), level);
  const std::string_view words[] = {"das", "haus", "ist"};
  (void)SplitParser(trainer.grammar(), trainer.levels() - 1).tree(words, {});
}

void use_split_grammar(std::string_view bytes) {
  const std::size_t first = std::min(bytes.find('\x1e'), bytes.size());
  const std::size_t second = std::min(bytes.find('\x1e', first + 1), bytes.size());
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::string(bytes.substr(std::min(begin, bytes.size()), end - std::min(begin, end)));
  };
  const LevelFiles files = {
      {"states", part(0, first)}, {"grammar", part(first + 1, second)}, {"lexicon", part(second + 1, bytes.size())}};
  const auto grammar = std::make_shared<SplitGrammar>(read_grammar({files}, SignatureKind{}));
  (void)write_level(*grammar, 0);
  const SplitParser parser(grammar, 0);
  const std::string_view words[] = {"das", "haus", "ist"};
  (void)parser.forest(words, {});
}

void use_grammar(std::string_view bytes, GrammarFormat format) {
  RuleTableBuilder builder({});
  GrammarReader reader("in", true, format, "f", builder);
  reader.feed(bytes);
  reader.finish();
  const RuleTable table = builder.finish();
  for (RuleId rule = 0; rule < table.rules(); ++rule) (void)table.rule(rule);
}

std::map<std::string, Target> targets() {
  std::map<std::string, Target> out;
  const std::string trees(kTrees), conll(kConll), egret(kEgret), json = write_forest_json(seed_forest()) + "\n";
  out["trees"] = {{trees}, [](auto bytes) { read_and_use<BracketReader>(bytes, true); }};
  out["conllu"] = {{conll}, [](auto bytes) { read_and_use<ConllReader>(bytes, true, Conll::u, TagColumn::coarse); }};
  out["conllx"] = {{conll}, [](auto bytes) { read_and_use<ConllReader>(bytes, true, Conll::x, TagColumn::fine); }};
  out["alignments"] = {{"0-0 1-1 2-3\n\n3-0\n"}, [](auto bytes) { read_and_use<PharaohReader>(bytes, true); }};
  out["egret"] = {{egret}, [](auto bytes) { read_and_use<EgretReader>(bytes, true, false, 1.0); }};
  out["jsonl"] = {{json}, [](auto bytes) { read_and_use<ForestJsonReader>(bytes, true); }};
  out["plf"] = {{"((('das',0.9,1),('d\\'s',0.1,2),),((\"haus\",1,1),('*EPS*',1,1),),)\n"},
                [](auto bytes) { read_and_use<PlfReader>(bytes, true, ArcScores::probability); }};
  out["lattice"] = {{"{\"arcs\": [[0, 1, \"das\", -0.1], [0, 2, \"x\", 0], [1, 2, \"\", 0.5]]}\n"},
                    [](auto bytes) { read_and_use<LatticeJsonReader>(bytes, true); }};
  out["plain"] = {{"das haus\n\nist klein\n"}, [](auto bytes) { read_and_use<PlainReader>(bytes, true); }};
  out["arpa"] = {{std::string(kArpa)}, [](auto bytes) {
                   ArpaReader reader("in", bytes.size());
                   reader.feed(bytes);
                   (void)reader.finish(bytes.size() % 2 == 0 ? NgramLayout::fast : NgramLayout::small);
                 }};
  const std::string cdec = "[X] ||| das [X,1] ||| the [X,1] ||| p=0.5 q=1e-3 ||| 0-0\n[X] ||| haus ||| house ||| p=1\n";
  const std::string moses = "das [X][X] [X] ||| the [X][X] [X] ||| 0.5 0.1 ||| 0-0 1-1 ||| 2 3 2\n";
  const std::string travatar = "NP ( DT ( \"das\" ) x0:NN ) ||| \"the\" x0:NN ||| p=0.5 q=1\n";
  const std::string cdec_trees = "(NP (DT das) [NN]) ||| the [1] ||| p=0.5\n";
  const std::vector<std::string> grammars = {cdec, moses, travatar, cdec_trees};
  out["grammar-cdec"] = {grammars, [](auto bytes) { use_grammar(bytes, GrammarFormat::cdec); }};
  out["grammar-joshua"] = {grammars, [](auto bytes) { use_grammar(bytes, GrammarFormat::joshua); }};
  out["grammar-moses"] = {grammars, [](auto bytes) { use_grammar(bytes, GrammarFormat::moses); }};
  out["grammar-travatar"] = {grammars, [](auto bytes) { use_grammar(bytes, GrammarFormat::travatar); }};
  out["rule-rows"] = {{"X\tdas [X,1]\tthe [X,1]\t0-0\tX NP\t2 0\nNP\tNP( DT( das ) [NN,1] )\t[NN,1] it\t\t\t0 1\n"},
                      use_rows};
  out["rule-codes"] = {{"\x10\x11\x00\x12", "\x0a\x01\x0b\x01\x10\x0c\x10", "\x08\x09\x01\x09\x01\x02"}, use_codes};
  out["line"] = {{"das haus <x translation=\"the||a house\">ist &lt; klein</x> ist"}, use_line};
  out["heads"] = {{std::string(kHeads)}, [](auto bytes) { (void)HeadTable::read(bytes, "in"); }};
  out["dependency-brackets"] = {{to_brackets(seed_dependency())}, [](auto bytes) { (void)from_brackets(bytes); }};
  out.merge(text_targets());
  out.merge(align_targets());
  out.merge(neural_targets());
  Trainer trainer = seed_trainer();
  trainer.finish_level(1, 0.0, 0.0);
  const LevelTexts level = write_level(*trainer.grammar(), 0);
  out["split-grammar"] = {{level.states + '\x1e' + level.grammar + '\x1e' + level.lexicon}, use_split_grammar};
  trainer.split(1, 0.01);
  trainer.em(1);
  out["trainer-state"] = {{trainer.state()}, use_trainer, true};
  out["dependency-lm.bin"] = {
      {file_bytes([](auto& path) { seed_dependency_lm().write(path); })}, use_dependency_lm, true};
  out["index.bin"] = {{file_bytes(write_seed_index)}, use_index, true};
  out["provenance.bin"] = {{file_bytes(write_seed_provenance)}, use_provenance, true};
  out["rules.table"] = {{file_bytes([](auto& path) { seed_table().write(path); })},
                        [](auto bytes) { use_table(bytes, Opening::verified); },
                        true};
  out["rules.table-on-use"] = {{file_bytes([](auto& path) { seed_table().write(path); })},
                               [](auto bytes) { use_table(bytes, Opening::on_use); },
                               true};
  out["lm.bin"] = {{file_bytes([](auto& path) { seed_lm(NgramLayout::fast).write(path); }),
                    file_bytes([](auto& path) { seed_lm(NgramLayout::small).write(path); }),
                    file_bytes([](auto& path) { seed_class_lm().write(path); })},
                   use_lm,
                   true};
  out["lm.bin-on-use"] = {out["lm.bin"].seeds, use_lm_in_search, true};
  return out;
}

// CPU time: other processes have no part in it.
void limit_time(long seconds) {
  const itimerval left = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &left, nullptr);
}

void run(const std::string& name, const Target& target, std::uint64_t count, std::uint64_t seed) {
  g_name = name;
  Mutator mutator(target.seeds, seed);
  for (const std::string& good : target.seeds) target.use(good);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    g_input = target.binary ? mutator.binary() : mutator.text();
    limit_time(10);
    try {
      target.use(g_input);
    } catch (const FormatError&) {
      ++refused;
    } catch (const std::invalid_argument&) {
      ++refused;
    } catch (const std::exception& error) {
      fail(std::string("another exception: ") + error.what());
    }
  }
  limit_time(0);
  std::printf("%s: %llu inputs, %llu refused, seed %llu\n", name.c_str(), static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(refused), static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

}  // namespace
}  // namespace treeglot

int main(int arguments, char** argument) {
  using namespace treeglot;
  if (arguments != 4) {
    std::fprintf(stderr, "usage: treeglot_fuzz READER|all COUNT SEED, or READER FILE - for one input\n");
    return 2;
  }
  __asan_set_death_callback(save);
  std::signal(SIGPROF, [](int) { fail("takes more than 10 seconds of CPU time"); });
  const std::string name = argument[1];
  const auto all = targets();
  if (name != "all" && !all.contains(name)) {
    for (const auto& [known, target] : all) std::fprintf(stderr, "%s\n", known.c_str());
    return 2;
  }
  if (std::string_view(argument[3]) == "-") {
    all.at(name).use(file_bytes([&](const std::string& path) { std::filesystem::copy_file(argument[2], path); }));
    return 0;
  }
  for (const auto& [known, target] : all)
    if (name == "all" || name == known)
      run(known, target, std::strtoull(argument[2], nullptr, 10), std::strtoull(argument[3], nullptr, 10));
}
