// Products of matrices for training. Rows are contiguous; numbers of columns are multiples of kLanes.
//
// A product's rounding depends on the processor, but not on how its rows are shared among threads.
#pragma once

#include <cstddef>

namespace treeglot::neural {

// c[m][n] += a[m][k] b[k][n]; a stride is the distance of two rows.
void multiply_add(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float* c,
                  std::size_t c_stride, std::size_t m, std::size_t k, std::size_t n);

// to[columns][rows] = from[rows][columns]
void transpose(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t rows,
               std::size_t columns);

// Replaces scores by probabilities, exp(score + log weight) / Z, and returns log Z.
float softmax(float* scores, const float* log_weights, std::size_t length);

// One step of Adam (Kingma and Ba 2015) with weight decay (Loshchilov and Hutter 2019) for `length` values with
// gradient `gradient`.
struct AdamStep {
  float rate;           // bias corrections included
  float first, second;  // decay of the moments
  float epsilon;
  float decay = 0;  // share of the values that is lost
};
void adam(const AdamStep& step, const float* gradient, float* values, float* mean, float* variance, std::size_t length);

}  // namespace treeglot::neural
