// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "program/interpreter.h"

namespace legate_diffuse {

// Reads the text of a kernel (kernel/text.py).
class KernelReader {
 public:
  explicit KernelReader(Interpreter& kernel) : kernel_{kernel} {}

  // False if there is something that cannot be interpreted.
  bool read(const std::string& text);

  [[nodiscard]] bool has_reductions() const { return has_reductions_; }

 private:
  using Kind = Interpreter::Kind;
  using Step = Interpreter::Step;

  bool read_line(std::istringstream& words);
  bool read_argument(std::istringstream& words);
  bool read_value(std::istringstream& words);
  bool read_argument_number(std::istringstream& words, Step& step) const;
  bool read_operator(const std::string& name, std::istringstream& words, Step& step);
  bool read_effect(std::istringstream& words, bool reduces);
  bool combine(Step& step);

  Interpreter& kernel_;
  std::vector<std::string> types_;       // of arguments
  std::vector<std::string> reduced_;     // the operators with which arguments are reduced to
  std::vector<std::string> results_;     // the types of values
  std::vector<std::size_t> dimensions_;  // of indices
  bool has_reductions_{};
};

}  // namespace legate_diffuse
