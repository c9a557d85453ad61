#include "tune/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeglot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// From left to right; of parallel lines the highest first, of equal ones that with the smaller id.
bool comes_before(const Line& a, const Line& b) {
  if (a.slope != b.slope) return a.slope < b.slope;
  if (a.intercept != b.intercept) return a.intercept > b.intercept;
  return a.id < b.id;
}

// Where the steeper of two lines begins to be higher; infinite where no number is so large.
double crossing(const Line& flat, const Line& steep) {
  const double height = flat.intercept - steep.intercept, slope = steep.slope - flat.slope;
  if (std::isfinite(height) && std::isfinite(slope)) return height / slope;
  return (flat.intercept / 2 - steep.intercept / 2) / (steep.slope / 2 - flat.slope / 2);  // halves cannot overflow
}

// The envelope of any lines, in their place. Of equal lines the one with the smallest id stays.
void keep_highest(std::vector<Line>& lines, std::vector<double>& begin) {
  std::sort(lines.begin(), lines.end(), comes_before);
  begin.clear();
  std::size_t size = 0;  // lines[0 … size) are the envelope of those seen so far
  for (const Line line : lines) {
    if (size > 0 && lines[size - 1].slope == line.slope) continue;
    double cross = -kInfinity;
    while (size > 0) {
      cross = crossing(lines[size - 1], line);
      if (cross > begin[size - 1]) break;
      begin.pop_back();
      --size;
      cross = -kInfinity;
    }
    if (cross == kInfinity) continue;  // no step is so long that the line is the highest
    lines[size++] = line;
    begin.push_back(cross);
  }
  lines.resize(size);
}

// Kernels over numbers side by side, compiled for each width of registers. No width rounds differently: there are no
// fused multiplications.
constexpr std::size_t kLanes = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));

[[gnu::always_inline]] inline const Lanes& lanes(const double* from) { return *reinterpret_cast<const Lanes*>(from); }

struct Slopes {
  double least = kInfinity, most = -kInfinity;
};

// The highest of the flattest and of the steepest lines.
struct Outermost {
  double flattest = -kInfinity, steepest = -kInfinity;
};

[[gnu::always_inline]] inline Slopes slopes_of(std::span<const double> slopes) {
  Slopes out;
  const std::size_t wide = slopes.size() - slopes.size() % kLanes;
  Lanes least = Lanes{} + kInfinity, most = Lanes{} - kInfinity;
  for (std::size_t i = 0; i < wide; i += kLanes) {
    const Lanes& slope = lanes(slopes.data() + i);
    least = slope < least ? slope : least;
    most = slope > most ? slope : most;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.least = std::min(out.least, least[lane]);
    out.most = std::max(out.most, most[lane]);
  }
  for (std::size_t i = wide; i < slopes.size(); ++i) {
    out.least = std::min(out.least, slopes[i]);
    out.most = std::max(out.most, slopes[i]);
  }
  return out;
}

[[gnu::always_inline]] inline Outermost outermost(std::span<const double> slopes, std::span<const double> intercepts,
                                                  const Slopes& ends) {
  Outermost out;
  const std::size_t wide = slopes.size() - slopes.size() % kLanes;
  const Lanes least = Lanes{} + ends.least, most = Lanes{} + ends.most, lowest = Lanes{} - kInfinity;
  Lanes flattest = lowest, steepest = lowest;
  for (std::size_t i = 0; i < wide; i += kLanes) {
    const Lanes &slope = lanes(slopes.data() + i), &intercept = lanes(intercepts.data() + i);
    const Lanes flat = slope == least ? intercept : lowest, steep = slope == most ? intercept : lowest;
    flattest = flat > flattest ? flat : flattest;
    steepest = steep > steepest ? steep : steepest;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.flattest = std::max(out.flattest, flattest[lane]);
    out.steepest = std::max(out.steepest, steepest[lane]);
  }
  for (std::size_t i = wide; i < slopes.size(); ++i) {
    if (slopes[i] == ends.least) out.flattest = std::max(out.flattest, intercepts[i]);
    if (slopes[i] == ends.most) out.steepest = std::max(out.steepest, intercepts[i]);
  }
  return out;
}

// Where two lines cross. A line that is lower in the corners of others is lower everywhere.
struct Corner {
  double at, height;
  bool reached(double slope, double intercept) const { return intercept + at * slope >= height; }
  bool reached(const Line& line) const { return reached(line.slope, line.intercept); }
};

Corner corner_of(const Line& flat, const Line& steep, double largest, double steepest) {
  constexpr double kRounding =
      1e-12;  // what a line may lack of the height, of the largest numbers that make up a height
  if (flat.slope == steep.slope) return {0.0, kInfinity};  // no line is higher on that side
  const double at = crossing(flat, steep);
  const double bound = largest + std::abs(at) * steepest;               // of the height of any line there
  if (!std::isfinite(bound)) return {0.0, -kInfinity};                  // heights may overflow: any line may be higher
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();  // an underflow takes no more
  return {at, steep.intercept + at * steep.slope - kRounding * bound - kLeast * (steepest + 2.0)};
}

// The numbers of lines that are not lower in both corners.
[[gnu::always_inline]] inline void list_reaching(std::span<const double> slopes, std::span<const double> intercepts,
                                                 const Corner& left, const Corner& right,
                                                 std::vector<std::uint32_t>& out) {
  const std::size_t wide = slopes.size() - slopes.size() % kLanes;
  out.resize(slopes.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < wide; i += kLanes) {
    const Lanes &slope = lanes(slopes.data() + i), &intercept = lanes(intercepts.data() + i);
    const auto reaches = (intercept + left.at * slope >= left.height) | (intercept + right.at * slope >= right.height);
    if ((reaches[0] | reaches[1] | reaches[2] | reaches[3]) == 0) continue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      out[found] = static_cast<std::uint32_t>(i + lane);
      found += reaches[lane] == 0 ? 0 : 1;
    }
  }
  for (std::size_t i = wide; i < slopes.size(); ++i) {
    if (left.reached(slopes[i], intercepts[i]) || right.reached(slopes[i], intercepts[i]))
      out[found++] = static_cast<std::uint32_t>(i);
  }
  out.resize(found);
}

// Three lines of many: the highest of the flattest, the highest at 0, the highest of the steepest.
struct Three {
  Line flattest, here, steepest;
  double largest, steep;  // the largest intercept and slope

  Corner left() const { return corner_of(flattest, here, largest, steep); }
  Corner right() const { return corner_of(here, steepest, largest, steep); }
};

// Lists the lines that may be higher than three. Most are not.
[[gnu::always_inline]] inline Three list_promising(std::span<const double> slopes, std::span<const double> intercepts,
                                                   const Peak& peak, std::vector<std::uint32_t>& out) {
  const Slopes ends = slopes_of(slopes);
  const auto [flattest, steepest] = outermost(slopes, intercepts, ends);
  const Three three{{ends.least, flattest, 0},
                    {slopes[peak.at], intercepts[peak.at], 0},
                    {ends.most, steepest, 0},
                    peak.largest,
                    std::max(std::abs(ends.least), std::abs(ends.most))};
  list_reaching(slopes, intercepts, three.left(), three.right(), out);
  return three;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) Three list_promising_wide(std::span<const double> slopes,
                                                          std::span<const double> intercepts, const Peak& peak,
                                                          std::vector<std::uint32_t>& out) {
  return list_promising(slopes, intercepts, peak, out);
}
bool is_wide() { return __builtin_cpu_supports("avx2"); }
#else
Three list_promising_wide(std::span<const double> slopes, std::span<const double> intercepts, const Peak& peak,
                          std::vector<std::uint32_t>& out) {
  return list_promising(slopes, intercepts, peak, out);
}
bool is_wide() { return false; }
#endif

const Line& highest_at(double at, std::span<const Line> lines) {
  return *std::ranges::max_element(lines, {}, [&](const Line& line) { return line.intercept + at * line.slope; });
}

// Leaves the lines that may also be higher than the highest in the corners of three.
void drop_low(const Three& three, std::vector<Line>& lines) {
  const Line* chain[5];
  std::size_t size = 0;
  const auto add = [&](const Line& line) {
    if (size == 0 || chain[size - 1]->slope < line.slope) chain[size++] = &line;
  };
  const Corner left = three.left(), right = three.right();
  const Line second = highest_at(left.at, lines), fourth = highest_at(right.at, lines);
  add(three.flattest);
  if (second.slope < three.here.slope) add(second);
  add(three.here);
  if (fourth.slope < three.steepest.slope) add(fourth);
  add(three.steepest);
  Corner corners[4];
  for (std::size_t i = 0; i + 1 < size; ++i) {
    corners[i] = corner_of(*chain[i], *chain[i + 1], three.largest, three.steep);
    if (i > 0 && !(corners[i - 1].at <= corners[i].at)) return;  // only rounding makes it so
  }
  const std::span<const Corner> all(corners, size - 1);
  std::erase_if(lines, [&](const Line& line) {
    return std::ranges::none_of(all, [&](const Corner& corner) { return corner.reached(line); });
  });
}

}  // namespace

Peak peak_of(std::span<const double> intercepts) {
  Peak out;
  for (std::size_t i = 0; i < intercepts.size(); ++i) {
    out.largest = std::max(out.largest, std::abs(intercepts[i]));
    if (intercepts[i] > intercepts[out.at]) out.at = i;
  }
  return out;
}

// Most lines are nowhere above the highest of three: the flattest, the steepest, and the best at 0. Where the three
// meet shows which: a line that is below them in both points is below them everywhere.
void make_envelope(std::span<const double> slopes, std::span<const double> intercepts, const Peak& peak,
                   std::uint32_t first_id, Envelope& out) {
  constexpr std::size_t kFew = 8;  // lines that are sorted at once
  out.lines.clear();
  if (!slopes.empty()) {
    const Three three = (is_wide() ? list_promising_wide : list_promising)(slopes, intercepts, peak, out.promising);
    for (const std::uint32_t i : out.promising) out.lines.push_back({slopes[i], intercepts[i], first_id + i});
    if (out.lines.size() > kFew) drop_low(three, out.lines);
    const auto here = first_id + static_cast<std::uint32_t>(peak.at);
    if (std::ranges::find(out.lines, here, &Line::id) == out.lines.end())
      out.lines.push_back({slopes[peak.at], intercepts[peak.at], here});
  }
  keep_highest(out.lines, out.begin);
}

}  // namespace treeglot
