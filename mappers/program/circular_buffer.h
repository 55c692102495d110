// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

namespace legate_diffuse {

// The first of the rows that tile `tile` takes.
inline std::int64_t tile_begin(std::int64_t num_rows, std::int64_t tile, std::int64_t num_tiles) {
  return num_rows * tile / num_tiles;
}

// Where the rows of a scratch buffer lie that has places only for those that are in use at a time.
// Every tile of a band has places of its own, in which row i lies at i % rows. Rows that are used
// on both sides of where a tile begins are a seam, and have places of their own until the end of
// the band, which are no more than a tile has rows:
//
//   tile 0 | seam | tile 1 | seam | tile 2
struct CircularBuffer {
  std::int64_t rows{};  // places of a tile; 0 if the buffer holds all of its rows in order
  std::int64_t num_tiles{};
  std::int64_t tiled_rows{};  // what the tiles divide
  std::int64_t seam_begin{};  // from the row at which the next tile begins
  std::int64_t seam_rows{};

  struct Place {
    std::int64_t row;
    std::int64_t left;  // for how many rows the places follow one another
  };

  [[nodiscard]] Place find(std::int64_t row) const {
    const Place in_turn{row % rows, rows - row % rows};
    if (num_tiles <= 1) return in_turn;

    const auto from_seam = row - seam_begin;
    const auto tile =
        from_seam < 0 ? 0 : std::min(((from_seam + 1) * num_tiles - 1) / tiled_rows, num_tiles - 1);
    const auto first = tile * (rows + seam_rows);
    const auto in_seam = from_seam - tile_begin(tiled_rows, tile, num_tiles);

    if (tile > 0 && in_seam < seam_rows) {
      return {first - seam_rows + in_seam, seam_rows - in_seam};
    }
    const auto left = tile + 1 < num_tiles ? tile_begin(tiled_rows, tile + 1, num_tiles) - from_seam
                                           : in_turn.left;
    return {first + in_turn.row, std::min(left, in_turn.left)};
  }

  [[nodiscard]] std::int64_t num_places() const {
    return num_tiles * rows + (num_tiles - 1) * seam_rows;
  }
};

}  // namespace legate_diffuse
