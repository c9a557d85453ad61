// What a fuzzer of one reader is made of.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

struct Target {
  std::vector<std::string> seeds;
  std::function<void(std::string_view)> use;
  bool binary = false;
};

// The name of a file in memory that holds these bytes until the next call.
std::string as_file(std::string_view bytes);
// What write_to(path) writes.
std::string file_bytes(const std::function<void(const std::string&)>& write_to);

std::map<std::string, Target> text_targets();    // those of cpp/text
std::map<std::string, Target> align_targets();   // those of cpp/align
std::map<std::string, Target> neural_targets();  // those of cpp/neural

}  // namespace treeglot
