// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "program/program.h"

namespace legate_diffuse {

// How a program of several nests runs on many points, on each for the tile that one of its
// arguments, the leader, has there. It comes before the program (legate_diffuse/fusion/tiles.py):
//
//   TILED leader rank A axis[A] argument[num_arguments] scratch[S] nest[N]
//   argument: teller root_dim dims[root_dim] reach[A]
//   scratch:  part[A]
//   nest:     part[A]
//   reach:    low high
//   part:     dim low high
//
// Arguments are passed as stores of the same number of dimensions, `rank`; `dims` has for each
// dimension of the root the one of the argument. If `teller` is NEAR, an argument is used within
// its reach of the tile; if it is ALL, anywhere; else it is the number of an earlier argument,
// which is only read, and whose elements tell what is used: rows, each of elements that follow one
// another, or indices. The tile has a beginning and an end along each of the A axes, which are
// dimensions of the argument; along the others it is all there is. A `low` is a distance from its
// beginning, and a `high` one from its end. An argument is used within its reach. Of a scratch
// buffer the rows of its dimension `dim` are made that lie in between, and of a nest the points of
// its loop `dim`. A nest without such a loop is run if 0 lies in between (GUARD), or anyhow
// (EVERYWHERE), and a scratch buffer without such a dimension is made as a whole.

// Instead of the number of nests' scratch buffers, where a tiling comes first.
constexpr std::int64_t TILED = -1;
constexpr std::int64_t GUARD = -1;
constexpr std::int64_t EVERYWHERE = -2;
constexpr std::int64_t NEAR = -1;
constexpr std::int64_t ALL = -2;

struct Reach {
  std::int64_t low;
  std::int64_t high;
};

struct Part {
  std::int64_t dim;
  Reach reach;
};

struct TiledArgument {
  std::int64_t teller;
  std::int64_t root_dim;
  const std::int64_t* dims;
  std::vector<Reach> reach;  // by axis
};

struct Tiling {
  // Reads the tiling and the head of the program after it.
  Tiling(Words& words, std::size_t num_arguments);

  std::int64_t leader;
  std::int64_t rank;
  std::vector<std::int64_t> axes;
  std::vector<TiledArgument> arguments;
  std::vector<std::vector<Part>> buffers;
  std::vector<std::vector<Part>> nests;
};

// Whether a text begins with a tiling.
bool is_tiled(const std::vector<std::int64_t>& text);

// An argument of a tiled program, as it is passed.
struct TiledShape {
  RootShape shape;
  bool writes;
  bool is_scalar;  // a future, of which every point has a copy
};

// Checks a tiling and its program. Throws InvalidProgram for what `check_program` refuses, for a
// point that would leave what it has of an argument or a scratch buffer, and for one that would
// write outside of its own tile.
std::pair<Tiling, Program> check_tiled_program(const std::vector<std::int64_t>& text,
                                               const std::vector<TiledShape>& arguments);

// Makes a program, of these words, one for the points of a tile: with the extents of the loops and
// the scratch buffers that they need.
Program restrict_program(const Tiling& tiling, const Tile& tile, std::int64_t* words,
                         std::size_t num_words);

}  // namespace legate_diffuse
