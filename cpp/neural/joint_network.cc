#include "neural/joint_network.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "neural/vector_math.h"

namespace treeglot {
namespace {

constexpr std::size_t kPiece = 64;              // rows that are one piece of work
constexpr float kNoWeight = -1e30f;             // log weight of a column that only fills up
constexpr std::uint64_t kRowsOfStep = 0x10001;  // more than a batch has
constexpr double kFlattened = 0.75;             // power of the counts that rare words are drawn with

std::size_t pieces(std::size_t rows) { return (rows + kPiece - 1) / kPiece; }
std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return hash_number(hash_number(a) + b); }

float share_of_each(std::span<const std::uint32_t> words) { return 1.0f / static_cast<float>(words.size()); }

void draw(std::vector<float>& values, double deviation, Random& random) {
  // Uniform, with this deviation.
  for (float& value : values) value = static_cast<float>((2 * random.uniform() - 1) * deviation * std::sqrt(3.0));
}

// Dropout: zeros values and scales the others up, so that their sum is expected to stay.
class Dropout {
 public:
  explicit Dropout(double rate)
      : threshold_(static_cast<unsigned>(std::lround(rate * 256))),
        scale_(256.0f / static_cast<float>(256 - threshold_)) {}

  bool drops() const { return threshold_ != 0; }
  // Draws which values are kept. Their number is a multiple of 8.
  void draw(std::uint8_t* kept, std::size_t length, std::uint64_t seed) const {
    if (!drops()) return;
    Random random(seed);
    for (std::size_t i = 0; i < length; i += 8) {
      const std::uint64_t bytes = random.next();
      for (unsigned k = 0; k < 8; ++k) kept[i + k] = (bytes >> (8 * k) & 0xff) >= threshold_ ? 1 : 0;
    }
  }
  void apply(float* values, const std::uint8_t* kept, std::size_t length) const {
    if (!drops()) return;
    for (std::size_t i = 0; i < length; ++i) values[i] *= scale_ * static_cast<float>(kept[i]);
  }
  float scale() const { return scale_; }

 private:
  unsigned threshold_;
  float scale_;
};

}  // namespace

JointNetwork::JointNetwork(const JointFacts& facts, std::size_t source_words,
                           std::span<const std::uint64_t> target_counts, const JointLossOptions& options,
                           std::uint64_t seed)
    : facts_(facts),
      source_words_(facts.has_source != 0 ? source_words : 0),
      target_words_(target_counts.size()),
      inputs_(std::size_t{facts.sources() + facts.history} * facts.embedding),
      last_(facts.last()),
      options_(options),
      seed_(seed) {
  const std::size_t hidden = facts.hidden, second = facts.second;
  layers_.push_back({inputs_, hidden, kWeights, kBias});
  if (second != 0) layers_.push_back({hidden, second, kSecondWeights, kSecondBias});
  const std::array<std::size_t, kBlocks> sizes = {(source_words_ + target_words_) * facts.embedding,
                                                  inputs_ * hidden,
                                                  hidden,
                                                  hidden * second,
                                                  second,
                                                  target_words_ * last_,
                                                  target_words_};
  for (std::size_t block = 0; block < kBlocks; ++block)
    for (Values* values : {&values_, &means_, &variances_}) (*values)[block].resize(sizes[block]);
  Random random(mixed(seed, 0));
  draw(values_[kEmbeddings], 0.1, random);
  draw(values_[kWeights], 1 / std::sqrt(static_cast<double>(inputs_)), random);
  draw(values_[kSecondWeights], 1 / std::sqrt(static_cast<double>(hidden)), random);
  draw(values_[kOutput], 0.01, random);
  const double total = std::accumulate(target_counts.begin(), target_counts.end(), 0.0) + double(target_words_);
  for (std::size_t word = 0; word < target_words_; ++word)
    values_[kOutputBias][word] = static_cast<float>(std::log((static_cast<double>(target_counts[word]) + 1) / total));

  std::vector<std::uint32_t> order(target_words_);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t word) { return target_counts[word]; });
  const auto always = options.samples == 0 ? order.size() : std::min<std::size_t>(order.size(), options.frequent);
  const auto border = order.begin() + static_cast<std::ptrdiff_t>(always);
  frequent_.assign(order.begin(), border);
  rare_.assign(border, order.end());
  double sum = 0;
  for (const std::uint32_t word : rare_)
    rare_sums_.push_back(sum += std::pow(static_cast<double>(target_counts[word]) + 1, kFlattened));
}

void JointNetwork::draw_candidates(const Batch& batch) {
  constexpr std::uint32_t kNoColumn = 0xffffffffu;
  candidates_.words.clear();
  candidates_.log_weights.clear();
  candidates_.columns.assign(target_words_, kNoColumn);
  const auto add = [&](std::uint32_t word, float log_weight) {
    candidates_.columns[word] = static_cast<std::uint32_t>(candidates_.words.size());
    candidates_.words.push_back(word);
    candidates_.log_weights.push_back(log_weight);
  };
  for (const std::uint32_t word : frequent_) add(word, 0.0f);
  for (const std::uint32_t example : batch.chosen)
    if (candidates_.columns[batch.examples.words[example]] == kNoColumn) add(batch.examples.words[example], 0.0f);
  if (!rare_.empty()) {
    Random random(mixed(mixed(seed_, 1), batch.step));
    std::vector<std::uint32_t> drawn(static_cast<std::size_t>(options_.samples));
    for (std::uint32_t& place : drawn) {
      const auto found = std::ranges::upper_bound(rare_sums_, random.uniform() * rare_sums_.back());
      place = static_cast<std::uint32_t>(
          std::min<std::ptrdiff_t>(found - rare_sums_.begin(), static_cast<std::ptrdiff_t>(rare_.size()) - 1));
    }
    std::ranges::sort(drawn);
    for (std::size_t i = 0, end = 0; i < drawn.size(); i = end) {
      while (end < drawn.size() && drawn[end] == drawn[i]) ++end;
      const std::uint32_t place = drawn[i];
      if (candidates_.columns[rare_[place]] != kNoColumn) continue;
      const double share = (rare_sums_[place] - (place == 0 ? 0.0 : rare_sums_[place - 1])) / rare_sums_.back();
      add(rare_[place], static_cast<float>(std::log(static_cast<double>(end - i) / (double(drawn.size()) * share))));
    }
  }
  candidates_.size = candidates_.words.size();
  candidates_.words.resize(padded(candidates_.size), 0);
  candidates_.log_weights.resize(candidates_.words.size(), kNoWeight);
  candidates_.bias.clear();
  for (const std::uint32_t word : candidates_.words) candidates_.bias.push_back(values_[kOutputBias][word]);
}

// All that is random about a batch: its candidates, shorter histories and what dropout keeps.
void JointNetwork::draw_batch(const Batch& batch, neural::Crew& crew) {
  const std::size_t rows = batch.chosen.size();
  draw_candidates(batch);
  contexts_.resize(rows * batch.examples.width);
  in_kept_.resize(rows * inputs_);
  for (std::size_t l = 0; l < layers_.size(); ++l) hidden_kept_[l].resize(rows * layers_[l].units);
  const Dropout dropout(options_.dropout), in_dropout(options_.input_dropout);
  crew.run(pieces(rows), [&](std::size_t piece) {
    for (std::size_t row = piece * kPiece; row < std::min(rows, (piece + 1) * kPiece); ++row) {
      const std::uint64_t number = batch.step * kRowsOfStep + row;
      draw_context(batch, row);
      in_dropout.draw(in_kept_.data() + row * inputs_, inputs_, mixed(mixed(seed_, 2), number));
      for (std::size_t l = 0; l < layers_.size(); ++l)
        dropout.draw(hidden_kept_[l].data() + row * layers_[l].units, layers_[l].units,
                     mixed(mixed(seed_, 3 + l), number));
    }
  });
}

// The context of an example, perhaps with a shorter history.
void JointNetwork::draw_context(const Batch& batch, std::size_t row) {
  const std::size_t width = batch.examples.width;
  std::uint32_t* const context = contexts_.data() + row * width;
  std::copy_n(batch.examples.contexts.data() + batch.chosen[row] * width, width, context);
  Random random(mixed(mixed(seed_, 5), batch.step * kRowsOfStep + row));
  if (random.uniform() < options_.short_history) {
    const auto known = static_cast<std::size_t>(random.uniform() * facts_.history);
    std::fill(context + facts_.affiliated() + known, context + width, JointVocabulary::kNone);
  }
}

JointBatch JointNetwork::drawn(const Batch& batch, neural::Crew& crew, const neural::AdamStep& step) {
  draw_batch(batch, crew);
  JointBatch out;
  out.step = step;
  out.mean_at = facts_.sentence != 0 ? static_cast<std::int64_t>(facts_.affiliated()) : -1;
  out.begins.push_back(0);
  for (std::size_t row = 0; row < batch.chosen.size(); ++row) {
    for (std::size_t k = 0; k < batch.examples.width; ++k)
      out.places.push_back(static_cast<std::int64_t>(place(k, contexts_[row * batch.examples.width + k])));
    std::ranges::copy(batch.examples.source(batch.chosen[row]), std::back_inserter(out.sources));
    out.begins.push_back(static_cast<std::int64_t>(out.sources.size()));
    out.columns.push_back(candidates_.columns[batch.examples.words[batch.chosen[row]]]);
  }
  out.candidates.assign(candidates_.words.begin(),
                        candidates_.words.begin() + static_cast<std::ptrdiff_t>(candidates_.size));
  out.log_weights.assign(candidates_.log_weights.begin(),
                         candidates_.log_weights.begin() + static_cast<std::ptrdiff_t>(candidates_.size));
  const Dropout dropout(options_.dropout), in_dropout(options_.input_dropout);
  out.in_scale = in_dropout.scale();
  out.hidden_scale = dropout.scale();
  if (in_dropout.drops()) out.in_kept = in_kept_;
  if (dropout.drops()) {
    out.hidden_kept = hidden_kept_[0];
    out.second_kept = hidden_kept_[1];
  }
  return out;
}

void JointNetwork::embed(const std::uint32_t* context, std::span<const std::uint32_t> source, float* out) const {
  const std::size_t width = facts_.affiliated() + facts_.history, dimensions = facts_.embedding;
  const float* const embeddings = values_[kEmbeddings].data();
  for (std::size_t k = 0; k < width; ++k)
    std::copy_n(embeddings + place(k, context[k]) * dimensions, dimensions, out + input(k));
  if (facts_.sentence == 0) return;
  float* const mean = out + facts_.affiliated() * dimensions;
  std::fill_n(mean, dimensions, 0.0f);
  for (const std::uint32_t word : source)
    neural::vector_math().add_scaled(mean, embeddings + word * dimensions, share_of_each(source), dimensions);
}

void JointNetwork::activate(const Layer& layer, const float* in, float* out, std::size_t rows) const {
  for (std::size_t row = 0; row < rows; ++row) std::ranges::copy(values_[layer.bias], out + row * layer.units);
  neural::multiply_add(in, layer.inputs, values_[layer.weights].data(), layer.units, out, layer.units, rows,
                       layer.inputs, layer.units);
  neural::vector_math().tanh(out, rows * layer.units);
}

double JointNetwork::pass(const Batch& batch, neural::Crew& crew, const neural::AdamStep* step) {
  const std::size_t rows = batch.chosen.size();
  draw_batch(batch, crew);
  const std::size_t columns = candidates_.words.size();
  in_.resize(rows * inputs_);
  in_gradient_.resize(rows * inputs_);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    hidden_[l].resize(rows * layers_[l].units);
    hidden_gradient_[l].resize(rows * layers_[l].units);
  }
  scores_.resize(rows * columns);
  columns_.resize(last_ * columns);
  rows_.resize(columns * last_);
  losses_.assign(rows, 0.0);
  const Dropout dropout(options_.dropout), in_dropout(options_.input_dropout);

  crew.run(pieces(columns), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, end = std::min(columns, begin + kPiece);
    for (std::size_t c = begin; c < end; ++c)
      std::copy_n(values_[kOutput].data() + candidates_.words[c] * last_, last_, rows_.data() + c * last_);
    neural::transpose(rows_.data() + begin * last_, last_, columns_.data() + begin, columns, end - begin, last_);
  });
  crew.run(pieces(rows), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, end = std::min(rows, begin + kPiece);
    for (std::size_t row = begin; row < end; ++row) {
      float* const in = in_.data() + row * inputs_;
      embed(contexts_.data() + row * batch.examples.width, batch.examples.source(batch.chosen[row]), in);
      in_dropout.apply(in, in_kept_.data() + row * inputs_, inputs_);
    }
    const float* in = in_.data() + begin * inputs_;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::size_t units = layers_[l].units;
      activate(layers_[l], in, hidden_[l].data() + begin * units, end - begin);
      dropout.apply(hidden_[l].data() + begin * units, hidden_kept_[l].data() + begin * units, (end - begin) * units);
      in = hidden_[l].data() + begin * units;
    }
    for (std::size_t row = begin; row < end; ++row) std::ranges::copy(candidates_.bias, scores_.data() + row * columns);
    neural::multiply_add(in, last_, columns_.data(), columns, scores_.data() + begin * columns, columns, end - begin,
                         last_, columns);
    for (std::size_t row = begin; row < end; ++row)
      losses_[row] = output_row(batch.examples.words[batch.chosen[row]], row, rows);
    // What the scores' gradients are for the last hidden layer.
    const std::size_t top = layers_.size() - 1;
    float* const gradient = hidden_gradient_[top].data() + begin * last_;
    std::fill_n(gradient, (end - begin) * last_, 0.0f);
    neural::multiply_add(scores_.data() + begin * columns, columns, rows_.data(), last_, gradient, last_, end - begin,
                         columns, last_);
  });
  learn_output(rows, crew, step);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    back_through(l, rows, crew);
    learn_layer(layers_[l], l > 0 ? hidden_[l - 1] : in_, hidden_gradient_[l], rows, crew, step);
  }
  learn_embeddings(batch, crew, step);
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

// The loss of one example; its scores become their gradients of the mean loss.
double JointNetwork::output_row(std::uint32_t word, std::size_t row, std::size_t rows) {
  const std::size_t columns = candidates_.words.size(), column = candidates_.columns[word];
  float* const scores = scores_.data() + row * columns;
  const float score = scores[column];
  const float log_sum = neural::softmax(scores, candidates_.log_weights.data(), columns);
  const auto scale = static_cast<float>((1 + 2 * options_.penalty * log_sum) / static_cast<double>(rows));
  for (std::size_t c = 0; c < columns; ++c) scores[c] *= scale;
  scores[column] -= 1.0f / static_cast<float>(rows);
  return double{log_sum} - score + options_.penalty * log_sum * log_sum;
}

void JointNetwork::learn_output(std::size_t rows, neural::Crew& crew, const neural::AdamStep* step) {
  const std::size_t columns = candidates_.words.size();
  const std::vector<float>& in = hidden_[layers_.size() - 1];
  crew.run(pieces(candidates_.size), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, end = std::min(candidates_.size, begin + kPiece);
    std::vector<float> transposed((end - begin) * rows), gradient((end - begin) * last_);
    neural::transpose(scores_.data() + begin, columns, transposed.data(), rows, rows, end - begin);
    neural::multiply_add(transposed.data(), rows, in.data(), last_, gradient.data(), last_, end - begin, rows, last_);
    for (std::size_t c = begin; c < end; ++c) {
      const std::uint32_t word = candidates_.words[c];
      const float* const of_word = transposed.data() + (c - begin) * rows;
      const float sum = std::accumulate(of_word, of_word + rows, 0.0f);
      update(kOutput, word * last_, gradient.data() + (c - begin) * last_, last_, step);
      update(kOutputBias, word, &sum, 1, step);
    }
  });
}

// From the gradient of a layer's units to that of what the units sum up, and of their inputs.
void JointNetwork::back_through(std::size_t l, std::size_t rows, neural::Crew& crew) {
  const Layer& layer = layers_[l];
  std::vector<float>& to = l > 0 ? hidden_gradient_[l - 1] : in_gradient_;
  const Dropout dropout(options_.dropout), in_dropout(options_.input_dropout);
  transposed_.resize(layer.units * layer.inputs);
  crew.run(pieces(layer.inputs), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, end = std::min(layer.inputs, begin + kPiece);
    neural::transpose(values_[layer.weights].data() + begin * layer.units, layer.units, transposed_.data() + begin,
                      layer.inputs, end - begin, layer.units);
  });
  crew.run(pieces(rows), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, count = std::min(rows - begin, kPiece);
    const std::size_t first = begin * layer.units, units = count * layer.units;
    float* const gradient = hidden_gradient_[l].data() + first;
    for (std::size_t i = 0; i < units; ++i) {
      const float value = hidden_[l][first + i] / dropout.scale();  // that of a dropped unit does not matter
      gradient[i] *= 1.0f - value * value;
    }
    dropout.apply(gradient, hidden_kept_[l].data() + first, units);
    float* const out = to.data() + begin * layer.inputs;
    std::fill_n(out, count * layer.inputs, 0.0f);
    neural::multiply_add(gradient, layer.units, transposed_.data(), layer.inputs, out, layer.inputs, count, layer.units,
                         layer.inputs);
    if (l == 0) in_dropout.apply(out, in_kept_.data() + begin * layer.inputs, count * layer.inputs);
  });
}

void JointNetwork::learn_layer(const Layer& layer, const std::vector<float>& in, const std::vector<float>& out_gradient,
                               std::size_t rows, neural::Crew& crew, const neural::AdamStep* step) {
  crew.run(pieces(layer.inputs) + 1, [&](std::size_t piece) {
    if (piece == pieces(layer.inputs)) {
      std::vector<float> sums(layer.units);
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < layer.units; ++i) sums[i] += out_gradient[row * layer.units + i];
      update(layer.bias, 0, sums.data(), layer.units, step);
      return;
    }
    const std::size_t begin = piece * kPiece, end = std::min(layer.inputs, begin + kPiece);
    std::vector<float> transposed((end - begin) * rows), gradient((end - begin) * layer.units);
    neural::transpose(in.data() + begin, layer.inputs, transposed.data(), rows, rows, end - begin);
    neural::multiply_add(transposed.data(), rows, out_gradient.data(), layer.units, gradient.data(), layer.units,
                         end - begin, rows, layer.units);
    update(layer.weights, begin * layer.units, gradient.data(), gradient.size(), step);
  });
}

void JointNetwork::learn_embeddings(const Batch& batch, neural::Crew& crew, const neural::AdamStep* step) {
  const std::size_t width = batch.examples.width, dimensions = facts_.embedding;
  // A word's place, where the gradient is, and how much of it the word has.
  std::vector<std::tuple<std::uint64_t, std::uint64_t, float>> uses;
  for (std::size_t row = 0; row < batch.chosen.size(); ++row) {
    for (std::size_t k = 0; k < width; ++k)
      uses.emplace_back(place(k, contexts_[row * width + k]), row * inputs_ + input(k), 1.0f);
    if (facts_.sentence == 0) continue;
    const std::span<const std::uint32_t> source = batch.examples.source(batch.chosen[row]);
    for (const std::uint32_t word : source)
      uses.emplace_back(word, row * inputs_ + facts_.affiliated() * dimensions, share_of_each(source));
  }
  std::ranges::sort(uses);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (i == 0 || std::get<0>(uses[i]) != std::get<0>(uses[i - 1])) begins.push_back(i);
  begins.push_back(uses.size());
  crew.run(pieces(begins.size() - 1), [&](std::size_t piece) {
    std::vector<float> sum(dimensions);
    for (std::size_t g = piece * kPiece; g < std::min(begins.size() - 1, (piece + 1) * kPiece); ++g) {
      std::ranges::fill(sum, 0.0f);
      for (std::size_t i = begins[g]; i < begins[g + 1]; ++i) {
        const auto& [_, at, share] = uses[i];
        neural::vector_math().add_scaled(sum.data(), in_gradient_.data() + at, share, dimensions);
      }
      update(kEmbeddings, std::get<0>(uses[begins[g]]) * dimensions, sum.data(), dimensions, step);
    }
  });
}

void JointNetwork::update(Block block, std::size_t at, const float* gradient, std::size_t length,
                          const neural::AdamStep* step) {
  if (step == nullptr) {
    std::copy_n(gradient, length, gradients_[block].begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  neural::AdamStep used = *step;
  if (block == kBias || block == kSecondBias || block == kOutputBias) used.decay = 0;  // biases need no decay
  neural::adam(used, gradient, values_[block].data() + at, means_[block].data() + at, variances_[block].data() + at,
               length);
}

double JointNetwork::differentiate(const Batch& batch, neural::Crew& crew) {
  for (std::size_t block = 0; block < kBlocks; ++block) gradients_[block].assign(values_[block].size(), 0.0f);
  return pass(batch, crew, nullptr);
}

JointNetwork::Scores JointNetwork::evaluate(const JointExamples& examples, neural::Crew& crew) const {
  const std::size_t columns = padded(target_words_);
  std::vector<float> weights(last_ * columns), log_weights(columns, kNoWeight);
  neural::transpose(values_[kOutput].data(), last_, weights.data(), columns, target_words_, last_);
  std::fill_n(log_weights.begin(), target_words_, 0.0f);
  Scores out;
  out.log_probabilities.resize(examples.size());
  out.log_sums.resize(examples.size());
  crew.run(pieces(examples.size()), [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, rows = std::min(examples.size() - begin, kPiece);
    std::vector<float> in(rows * inputs_), scores(rows * columns);
    for (std::size_t row = 0; row < rows; ++row)
      embed(examples.contexts.data() + (begin + row) * examples.width, examples.source(begin + row),
            in.data() + row * inputs_);
    for (const Layer& layer : layers_) {
      std::vector<float> hidden(rows * layer.units);
      activate(layer, in.data(), hidden.data(), rows);
      in = std::move(hidden);
    }
    for (std::size_t row = 0; row < rows; ++row) std::ranges::copy(values_[kOutputBias], scores.data() + row * columns);
    neural::multiply_add(in.data(), last_, weights.data(), columns, scores.data(), columns, rows, last_, columns);
    for (std::size_t row = 0; row < rows; ++row) {
      const float score = scores[row * columns + examples.words[begin + row]];
      out.log_sums[begin + row] = neural::softmax(scores.data() + row * columns, log_weights.data(), columns);
      out.log_probabilities[begin + row] = score - out.log_sums[begin + row];
    }
  });
  return out;
}

JointModel JointNetwork::model(const JointWords& source, const JointWords& target) const {
  const std::size_t dimensions = facts_.embedding, hidden = facts_.hidden, sources = facts_.sources();
  std::vector<float> tables(facts_.history * target_words_ * hidden);
  for (std::size_t k = 0; k < facts_.history; ++k)
    neural::multiply_add(values_[kEmbeddings].data() + source_words_ * dimensions, dimensions,
                         values_[kWeights].data() + (sources + k) * dimensions * hidden, hidden,
                         tables.data() + k * target_words_ * hidden, hidden, target_words_, dimensions, hidden);
  std::vector<float> second(values_[kSecondWeights].size());
  neural::transpose(values_[kSecondWeights].data(), facts_.second, second.data(), hidden,
                    facts_.second != 0 ? hidden : 0, facts_.second);
  JointParts parts;
  parts.facts = facts_;
  parts.facts.source_fallbacks = source.fallbacks;
  parts.facts.target_fallbacks = target.fallbacks;
  parts.source_words = source.texts;
  parts.target_words = target.texts;
  parts.source_embeddings = std::span(values_[kEmbeddings]).first(source_words_ * dimensions);
  parts.source_weights = std::span(values_[kWeights]).first(sources * dimensions * hidden);
  parts.tables = tables;
  parts.bias = values_[kBias];
  parts.second_weights = second;
  parts.second_bias = values_[kSecondBias];
  parts.output = values_[kOutput];
  parts.output_bias = values_[kOutputBias];
  parts.share = target.share;
  return JointModel(parts);
}

}  // namespace treeglot
