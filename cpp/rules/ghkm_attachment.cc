#include "rules/ghkm_attachment.h"

#include <algorithm>

namespace treeglot {

bool Attachments::well_formed(Span span) const {
  return structures_ == nullptr || structures_->of(span).kind != Structure::Kind::ill_formed;
}

void Attachments::find_runs(Span target, bool whole, std::span<const Span> holes) {
  runs_.clear();
  // What a whole sentence begins and ends with is inside; around another rule's words there may be runs.
  const Span around = whole ? target
                            : Span{target.begin - links_.target_loose_before(target.begin),
                                   target.end + links_.target_loose_after(target.end)};
  for (std::uint32_t at = around.begin; at < around.end;) {
    const auto hole = std::ranges::find_if(holes, [&](Span span) { return span.begin == at; });
    if (hole != holes.end()) {
      at = hole->end;
      continue;
    }
    const std::uint32_t begin = at;
    while (at < around.end && !links_.target_aligned(at)) ++at;
    if (at == begin) {
      ++at;
      continue;
    }
    Run run = {{begin, at}, {}};
    if (target.contains(run.words)) {
      run.takers.push_back(Taker::rule);
      for (std::uint32_t i = 0; i < holes.size(); ++i) {
        if (holes[i].end == begin) {
          run.left = i;
          run.takers.push_back(Taker::left);
        } else if (holes[i].begin == at) {
          run.right = i;
          run.takers.push_back(Taker::right);
        }
      }
    } else {
      run.takers = {Taker::nobody, Taker::rule};
    }
    runs_.push_back(std::move(run));
  }
}

bool Attachments::find(Span target, bool whole, std::span<const Span> holes, std::size_t most,
                       std::vector<Attachment>& out) {
  out.clear();
  find_runs(target, whole, holes);
  std::size_t ways = 1;
  for (const Run& run : runs_) ways = std::min(ways * run.takers.size(), most + 1);
  const bool too_many = ways > most;
  chosen_.assign(runs_.size(), 0);
  std::vector<Span> spans;
  while (true) {
    Span whole_target = target;
    spans.assign(holes.begin(), holes.end());
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Run& run = runs_[r];
      switch (run.takers[chosen_[r]]) {
        case Taker::rule: whole_target = hull(whole_target, run.words); break;
        case Taker::left: spans[run.left].end = run.words.end; break;
        case Taker::right: spans[run.right].begin = run.words.begin; break;
        case Taker::nobody: break;
      }
    }
    if (well_formed(whole_target) && std::ranges::all_of(spans, [&](Span span) { return well_formed(span); }))
      out.push_back({whole_target, spans});
    if (too_many) return true;
    // The next choice, like the next number: the first run turns fastest.
    std::size_t r = 0;
    while (r < runs_.size() && ++chosen_[r] == runs_[r].takers.size()) chosen_[r++] = 0;
    if (r == runs_.size()) return false;
  }
}

}  // namespace treeglot
