// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate_defines.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace legate_diffuse {

struct Kernel;

// A program is a sequence of loop nests, each with a kernel of its own, over the arguments of one
// task and over scratch buffers that live as long as the task. It is written in 64-bit words:
//
//   program: S B R N scratch[S] band[B] run[R] nest[N]
//   scratch: itemsize first_nest last_nest spread ndim extents[ndim]
//   band:    num_nests, or -num_nests for one on the axis of the band before it
//   run:     first_nest num_nests kernel
//   nest:    kernel num_operands num_written dim num_scalars rows shift before after
//            distance[num_operands] extents[dim] first[dim] scalars[2 * num_scalars]
//            operand[num_operands]
//   operand: base root_dim dims[dim] low[root_dim]
//
// Bands are the nests that may take turns on blocks of rows (legate_diffuse/ir/nest.py). `rows` is
// the nest's dimension along rows, ONE_ROW or NO_ROW. Row x of the nest touches row x + distance of
// an operand that moves along, and runs at time x + shift. Which rows of roots lie side by side
// follows from the first nest of an axis that moves along both; a band has an axis of its own, or
// that of the band before it, from which it was cut. `before` is NO_MARGIN if the band cannot be
// divided. `spread` is how many rows more than those of a block are in use of a scratch
// buffer at a time, or ALL_ROWS if it needs all of its rows. `first` is the index of the first
// point along each dimension, 0 unless the nest is a part of a larger one.
//
// The nests of a run touch the same rows only where they conflict, so that a kernel may run all of
// them on one row after the other (legate_diffuse/fusion/rows.py).
//
// A base of 0 or more is the number of an argument; else ~base is the number of a scratch buffer,
// which is in row-major order. The point (i_0, ...) of a nest has the element
// low + sum over d of i_d * (unit vector of dims[d]) of the operand's root; dims[d] is -1 where the
// operand repeats. The operands that the kernel writes or reduces to, num_written of them, come
// before those that it only reads.
//
// A partitioned program runs on many points, on each for a tile. If it has several nests, a tiling
// comes first (tiling.h). Else operand n is all of argument n, and a point runs the tile that the
// arguments have there.

// Instead of the dimension of a nest that runs along rows: it has one row, which is a row of some
// root; or none.
constexpr std::int64_t ONE_ROW = -1;
constexpr std::int64_t NO_ROW = -2;
// Instead of a distance: the operand does not move along.
constexpr std::int64_t STANDS = INT64_MIN;
constexpr std::int64_t NO_MARGIN = -1;
constexpr std::int64_t ALL_ROWS = -1;

class InvalidProgram : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

inline void require(bool condition, const char* message) {
  if (!condition) throw InvalidProgram{message};
}

// Reads words one after the other.
class Words {
 public:
  Words(const std::int64_t* begin, std::size_t size) : next_{begin}, end_{begin + size} {}

  std::int64_t take() { return *take(1); }

  // Throws InvalidProgram if fewer words are left.
  const std::int64_t* take(std::int64_t count);

  [[nodiscard]] bool empty() const { return next_ == end_; }

  // Those that are left.
  [[nodiscard]] const std::int64_t* begin() const { return next_; }
  [[nodiscard]] const std::int64_t* end() const { return end_; }

 private:
  const std::int64_t* next_;
  const std::int64_t* end_;
};

struct Scratch {
  explicit Scratch(Words& words);

  std::int64_t itemsize;
  std::int64_t first_nest;
  std::int64_t last_nest;
  std::int64_t spread;
  std::int64_t dim;
  const std::int64_t* extents;
};

// The head of a nest. Its operands follow.
struct NestHead {
  explicit NestHead(Words& words);

  std::int64_t kernel;
  std::int64_t num_operands;
  std::int64_t num_written;
  std::int64_t dim;
  std::int64_t num_scalars;
  std::int64_t rows;
  std::int64_t shift;
  std::int64_t before;
  std::int64_t after;
  const std::int64_t* distances;
  const std::int64_t* extents;
  const std::int64_t* first;
  const std::int64_t* scalars;
};

struct Operand {
  Operand(Words& words, std::int64_t dim);

  // Whether it is one element for all points of a nest of so many dimensions.
  [[nodiscard]] bool stands(std::int64_t dim) const;

  // The number of its root, where scratch buffers come after so many arguments.
  [[nodiscard]] std::size_t root(std::size_t num_arguments) const {
    return base >= 0 ? static_cast<std::size_t>(base)
                     : num_arguments + static_cast<std::size_t>(~base);
  }

  std::int64_t base;
  std::int64_t root_dim;
  const std::int64_t* dims;
  const std::int64_t* low;
};

// A part of a nest's points.
struct Tile {
  std::array<std::int64_t, LEGATE_MAX_DIM> first{};
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{};
};

struct ParsedNest {
  explicit ParsedNest(Words& words);

  // Leaves the points of a tile, which must outlive the nest. Every operand has the dimensions of
  // the nest.
  void restrict_to(const Tile& tile);

  NestHead head;
  std::vector<Operand> operands;
};

// The kernel of a nest, or of a run; ends the process if there is none.
const Kernel& kernel_of(std::int64_t id);
inline const Kernel& kernel_of(const NestHead& head) {
  return kernel_of(head.kernel);
}

// The extents of an argument of the task, and the bytes of its elements.
struct RootShape {
  std::vector<std::int64_t> extents;
  std::int64_t itemsize;
};

// Nests that take turns, and whether their rows lie on an axis of their own.
struct BandOfNests {
  std::int64_t num_nests;
  bool begins_axis;
};

// Nests that a kernel runs together, row by row.
struct RowRun {
  std::int64_t first_nest;
  std::int64_t num_nests;
  std::int64_t kernel;
};

// A program as it is read, once. Its words must outlive it.
struct Program {
  explicit Program(Words& words);

  std::vector<Scratch> buffers;
  std::vector<BandOfNests> bands;
  std::vector<RowRun> runs;
  std::vector<ParsedNest> nests;
};

// Checks a program, which then runs unchecked. Throws InvalidProgram for one that is not
// well-formed, calls a kernel that is not registered, or leaves the memory of its roots.
Program check_program(Words words, const std::vector<RootShape>& arguments);

// Checks a partitioned program over arguments of these dimensionalities; its points stay within the
// tiles of the arguments, whatever their extents are.
Program check_partitioned_program(Words words, const std::vector<std::size_t>& dims);

}  // namespace legate_diffuse
