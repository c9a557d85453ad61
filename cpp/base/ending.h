// Ends the process soon after a signal, whatever it is doing: Python's handlers wait for the interpreter, which a
// library may keep busy for minutes.
#pragma once

#include <map>
#include <string>
#include <thread>

namespace treeglot {

class Ending {
 public:
  // `words` holds the last message for each signal. After a signal the process has `grace` seconds to end by itself. A
  // second signal ends it at once.
  Ending(std::map<int, std::string> words, double grace);
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  int descriptor() const { return mouth_; }  // where the number of each signal is written, as a byte

 private:
  void watch() const;

  std::map<int, std::string> words_;
  double grace_;
  int ear_, mouth_;
  std::thread thread_;
};

}  // namespace treeglot
