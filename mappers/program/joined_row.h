// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/row_driver.h"

namespace legate_diffuse {

// Loops of a nest as one row of a kernel, where the innermost one is too short for it, or moves
// what the kernel uses at one place. The row is run in chunks. Loops that are not part of it take
// turns on each chunk, which so stays in the cache. What does not lie side by side along the row
// goes through buffers, where what repeats along it stays for all chunks.
class JoinedRow {
 public:
  static constexpr std::size_t MAX_DIM = 8;
  // Kernels are slow at rows of fewer points: a row takes 60 ns on Zen 5. Elements that are not
  // contiguous take 1 ns for each argument. A loop along which an argument moves that should repeat
  // is slower yet: 15 ns a point.
  static constexpr std::int64_t SHORT_LOOP = 16;

  using Extents = std::vector<std::int64_t>;
  using Strides = std::vector<const std::int64_t*>;

  // Chooses the loops of the row, of those of a nest, the outermost first. `strides` are those of
  // each argument along them. Returns false if the row would have fewer points than `least`.
  bool prepare(const KernelCode& code, const Extents& extents, const Strides& strides,
               std::int64_t least);

  // Runs the kernel over every point, from the first element of each argument on.
  void run(const KernelCode& code, char* const* pointers, const char* scalars);

 private:
  // Elements of a buffer.
  static constexpr std::int64_t CHUNK = 128;
  static constexpr std::int64_t MAX_ITEMSIZE = 16;

  using Position = std::array<std::int64_t, MAX_DIM>;

  struct Argument {
    std::int64_t itemsize;
    std::int64_t step;  // from one point of the row to the next, as the kernel finds it
    bool is_packed;     // in a buffer
    bool reads, writes;
    bool takes_turns;  // moves along a loop that is not part of the row
    bool is_constant;  // its buffer is the same for all chunks
    Position along_row, along_turns;
  };

  void add_loops(const Extents& extents, const std::vector<bool>& joined);
  void add_argument(const KernelArgument& argument, const std::int64_t* strides,
                    const std::vector<bool>& joined, bool updates);
  [[nodiscard]] std::int64_t period_of(const Argument& argument) const;
  void choose_chunk(std::int64_t lanes);
  void choose_turns();

  void run_turns(const KernelCode& code, std::int64_t points, const char* scalars);
  void advance(std::size_t dim, std::int64_t turns);
  void pack(std::size_t number, std::int64_t points);
  void unpack(std::size_t number, std::int64_t points);

  std::vector<Argument> arguments_;
  std::size_t row_dim_{}, turns_dim_{};
  Position row_extents_{}, turns_{};
  std::int64_t num_points_{}, chunk_{};
  // The innermost loop that takes turns, if it is the kernel's own outer one; else 1.
  std::int64_t kernel_turns_{1};
  std::vector<std::int64_t> kernel_strides_;
  // Of the current chunk, in the current turn: where its elements are, and what the kernel gets.
  Position start_{};
  std::vector<char*> memory_, passed_;
  std::vector<std::array<char, CHUNK * MAX_ITEMSIZE>> buffers_;
};

}  // namespace legate_diffuse
