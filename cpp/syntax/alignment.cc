#include "syntax/alignment.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace treeglot {

Alignment::Alignment(std::vector<Link> links) : links_(std::move(links)) {
  if (!std::ranges::is_sorted(links_)) std::ranges::sort(links_);
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
}

bool Alignment::contains(Link link) const { return std::ranges::binary_search(links_, link); }

Alignment Alignment::transpose() const {
  std::vector<Link> links;
  links.reserve(links_.size());
  for (const Link link : links_) links.push_back({link.target, link.source});
  return Alignment(std::move(links));
}

void Alignment::check(std::size_t source_length, std::size_t target_length) const {
  for (const Link link : links_) {
    const bool bad_source = link.source >= source_length;
    if (!bad_source && link.target < target_length) continue;
    const std::size_t length = bad_source ? source_length : target_length;
    throw std::invalid_argument("link " + std::to_string(link.source) + "-" + std::to_string(link.target) + ": the " +
                                (bad_source ? "source" : "target") + " sentence has " + std::to_string(length) +
                                (length == 1 ? " word" : " words"));
  }
}

}  // namespace treeglot
