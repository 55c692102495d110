// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/circular_buffer.h"
#include "program/elements.h"
#include "program/program.h"

namespace legate_diffuse {

// The memory of an argument or a scratch buffer: the address of the element with index 0 and the
// byte strides.
struct Base {
  char* origin{};
  Nest::Strides strides{};
  CircularBuffer circular{};
};

// The base of elements in row-major order.
Base row_major(char* elements, std::int64_t itemsize, std::int64_t dim,
               const std::int64_t* extents);

// The base of an argument of a task, of which some elements are here.
Base base_of(const Elements& elements);

// What is here of it.
RootShape shape_of(const Elements& elements);

// The memory of a program's operands: that of its arguments, and then of its scratch buffers.
class Bases {
 public:
  // `all` must outlive this.
  Bases(const std::vector<Base>& all, std::size_t num_arguments)
      : all_{all}, num_arguments_{num_arguments} {}

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::size_t num_arguments() const { return num_arguments_; }
  [[nodiscard]] std::size_t number(const Operand& operand) const {
    return operand.root(num_arguments_);
  }
  [[nodiscard]] const Base& of(const Operand& operand) const { return all_[number(operand)]; }

  // The address of an operand's first element.
  [[nodiscard]] char* address(const Operand& operand) const {
    return at_row(operand, -1, 0).address;
  }

  struct Row {
    char* address;
    std::int64_t left;  // for how many rows it goes on in equal steps
  };

  // Where an operand is `row` rows along dimension `dim` of its nest, if it moves along that.
  [[nodiscard]] Row at_row(const Operand& operand, std::int64_t dim, std::int64_t row) const;

  // Finds the byte strides of an operand along the dimensions of its nest.
  void find_strides(const Operand& operand, std::int64_t dim, Nest::Strides& strides) const;

 private:
  const std::vector<Base>& all_;
  std::size_t num_arguments_;
};

}  // namespace legate_diffuse
