// SPDX-License-Identifier: Apache-2.0

#include "program/kernel_reader.h"

#include <algorithm>
#include <string_view>

namespace legate_diffuse {

namespace {

bool is_complex(std::string_view dtype) {
  return dtype == "complex64" || dtype == "complex128";
}

std::string component(const std::string& dtype) {
  if (dtype == "complex128") return "float64";
  return dtype == "complex64" ? "float32" : dtype;
}

// The number after a letter, as of %3.
bool read_number(std::istringstream& words, std::size_t& number) {
  char sign{};

  return static_cast<bool>(words >> sign >> number);
}

// Sets the bytes of a number that is written in hexadecimal digits.
template <typename Value>
bool set_bits(std::string digits, Value& value) {
  if (digits.size() < 3 || digits.size() > 2 + 2 * value.size()) return false;
  digits.erase(0, 2);
  if (digits.size() % 2 != 0) digits.insert(0, 1, '0');
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    value[digits.size() / 2 - 1 - at / 2] =
        static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  }
  return true;
}

}  // namespace

bool KernelReader::read(const std::string& text) {
  std::istringstream lines{text};
  std::string line;

  while (std::getline(lines, line)) {
    std::istringstream words{line};

    if (!read_line(words) || kernel_.steps_.size() > Interpreter::MAX_VALUES) return false;
  }
  std::sort(dimensions_.begin(), dimensions_.end());
  dimensions_.erase(std::unique(dimensions_.begin(), dimensions_.end()), dimensions_.end());
  for (const auto dimension : dimensions_) {
    kernel_.described_.push_back({1, KernelArgument::INDEX});
    kernel_.indices |= std::int64_t{1} << dimension;
  }
  for (auto& step : kernel_.steps_) {
    if (step.kind != Kind::INDEX) continue;
    // indices come after the arguments, in the order of their dimensions
    const auto found = std::find(dimensions_.begin(), dimensions_.end(), step.number);

    step.number = types_.size() + static_cast<std::size_t>(found - dimensions_.begin());
  }
  return true;
}

bool KernelReader::read_line(std::istringstream& words) {
  std::string first;

  words >> first;
  if (first == "kernel" || first == "scalar") return true;
  if (first == "argument") return read_argument(words);
  if (first == "store" || first == "reduce") return read_effect(words, first == "reduce");
  return read_value(words);
}

bool KernelReader::read_argument(std::istringstream& words) {
  std::string number;
  std::string dtype;
  std::string word;
  std::string reduced;
  std::int64_t flags = 0;
  bool repeats = false;

  words >> number >> dtype;
  while (words >> word) {
    if (word == "whole") return false;
    if (word == "read") flags |= KernelArgument::READ;
    if (word == "write") flags |= KernelArgument::WRITE;
    if (word == "broadcast") repeats = true;
    if (word == "reduce") words >> reduced;
  }
  // as codegen/module.py has it
  if (!reduced.empty()) {
    flags = repeats ? KernelArgument::INVARIANT : KernelArgument::UPDATED;
  } else if (repeats && flags == KernelArgument::READ) {
    flags |= KernelArgument::INVARIANT;
  }
  types_.push_back(dtype);
  reduced_.push_back(reduced);
  kernel_.described_.push_back({size_of(dtype), flags});
  return size_of(dtype) != 0;
}

// For example, after the number: float64 = mul %0 %1
bool KernelReader::read_value(std::istringstream& words) {
  std::string dtype;
  std::string sign;
  std::string name;
  std::string digits;
  Step step;

  words >> dtype >> sign >> name;
  results_.push_back(dtype);
  step.size = size_of(dtype);
  if (step.size == 0) return false;
  if (name == "load") {
    step.kind = Kind::LOAD;
    if (!read_argument_number(words, step)) return false;
    step.is_uniform = (kernel_.described_[step.number].flags & KernelArgument::INVARIANT) != 0;
  } else if (name == "scalar") {
    step.kind = Kind::SCALAR;
    step.is_uniform = true;
    words >> step.number;
  } else if (name == "constant") {
    step.kind = Kind::CONSTANT;
    step.is_uniform = true;
    words >> digits;
    if (!set_bits(digits, step.value)) return false;
  } else if (name == "index") {
    step.kind = Kind::INDEX;
    words >> step.number;
    dimensions_.push_back(step.number);
  } else if (!read_operator(name, words, step)) {
    return false;
  }
  kernel_.steps_.push_back(step);
  return true;
}

bool KernelReader::read_argument_number(std::istringstream& words, Step& step) const {
  return words >> step.number && step.number < types_.size();
}

bool KernelReader::read_operator(const std::string& name, std::istringstream& words, Step& step) {
  std::size_t operand{};

  step.kind = Kind::OPERATOR;
  step.is_uniform = true;
  while (read_number(words, operand)) {
    if (step.num_operands == step.operands.size() || operand >= kernel_.steps_.size()) return false;
    step.operands[step.num_operands++] = operand;
    step.is_uniform = step.is_uniform && kernel_.steps_[operand].is_uniform;
  }
  if (step.num_operands == 0) return false;
  step.apply = find_operator(name, results_[step.operands[step.num_operands - 1]], results_.back());
  return step.apply != nullptr;
}

bool KernelReader::read_effect(std::istringstream& words, bool reduces) {
  Step step;

  if (!read_argument_number(words, step) || !read_number(words, step.operands[0]) ||
      step.operands[0] >= results_.size()) {
    return false;
  }
  step.num_operands = 1;
  step.kind = reduces ? Kind::REDUCE : Kind::STORE;
  step.size = size_of(types_[step.number]);
  // what is true in memory may be any byte
  if (!reduces && types_[step.number] == "bool") step.apply = find_operator("cast", "bool", "bool");
  if (reduces && !combine(step)) return false;
  kernel_.steps_.push_back(step);
  return true;
}

bool KernelReader::combine(Step& step) {
  const auto& dtype = types_[step.number];
  const auto& name = reduced_[step.number];

  has_reductions_ = true;
  if (is_complex(dtype) && name != "add") return false;
  step.apply = find_operator(name, component(dtype), component(dtype));
  step.parts = is_complex(dtype) ? 2 : 1;
  step.is_updated = (kernel_.described_[step.number].flags & KernelArgument::UPDATED) != 0;
  step.is_limited = (name == "min" || name == "max") && dtype.rfind("float", 0) == 0;
  return step.apply && set_identity(name, component(dtype), step.value.data());
}

}  // namespace legate_diffuse
