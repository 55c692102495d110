// SPDX-License-Identifier: Apache-2.0

#include "program/program.h"

#include <legate_defines.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "program/kernel_table.h"

namespace legate_diffuse {

const std::int64_t* Words::take(std::int64_t count) {
  if (count < 0 || count > end_ - next_) throw InvalidProgram{"a program ends too early"};

  const auto* const taken = next_;

  next_ += count;
  return taken;
}

Scratch::Scratch(Words& words)
    : itemsize{words.take()},
      first_nest{words.take()},
      last_nest{words.take()},
      spread{words.take()},
      dim{words.take()},
      extents{words.take(dim)} {}

NestHead::NestHead(Words& words)
    : kernel{words.take()},
      num_operands{words.take()},
      num_written{words.take()},
      dim{words.take()},
      num_scalars{words.take()},
      rows{words.take()},
      shift{words.take()},
      before{words.take()},
      after{words.take()},
      distances{words.take(num_operands)},
      extents{words.take(dim)},
      first{words.take(dim)},
      scalars{words.take(2 * num_scalars)} {}

Operand::Operand(Words& words, std::int64_t dim)
    : base{words.take()},
      root_dim{words.take()},
      dims{words.take(dim)},
      low{words.take(root_dim)} {}

bool Operand::stands(std::int64_t dim) const {
  return std::all_of(dims, dims + dim, [](auto of_root) { return of_root < 0; });
}

ParsedNest::ParsedNest(Words& words) : head{words} {
  operands.reserve(head.num_operands);
  for (std::int64_t number = 0; number < head.num_operands; ++number) {
    operands.emplace_back(words, head.dim);
  }
}

void ParsedNest::restrict_to(const Tile& tile) {
  head.extents = tile.extents.data();
  head.first = tile.first.data();
  for (auto& operand : operands) operand.low = tile.first.data();
}

const Kernel& kernel_of(std::int64_t id) {
  const auto* const found = find_kernel(static_cast<std::uint32_t>(id));

  if (!found) {
    std::fprintf(stderr, "legate_diffuse: kernel %lld is not registered in this process\n",
                 static_cast<long long>(id));
    std::abort();
  }
  return *found;
}

Program::Program(Words& words) {
  const auto num_scratch = words.take();
  const auto num_bands = words.take();
  const auto num_runs = words.take();
  const auto num_nests = words.take();

  if (num_scratch < 0 || num_bands < 0 || num_runs < 0 || num_nests < 0)
    throw InvalidProgram{"a count is negative"};
  for (std::int64_t index = 0; index < num_scratch; ++index) buffers.emplace_back(words);
  for (std::int64_t index = 0; index < num_bands; ++index) {
    const auto num_nests_of_band = words.take();

    bands.push_back(
        {num_nests_of_band == INT64_MIN ? 0 : std::abs(num_nests_of_band), num_nests_of_band > 0});
  }
  for (std::int64_t index = 0; index < num_runs; ++index) {
    const auto* const run = words.take(3);

    runs.push_back({run[0], run[1], run[2]});
  }
  for (std::int64_t index = 0; index < num_nests; ++index) nests.emplace_back(words);
}

namespace {

constexpr std::int64_t MAX_SCRATCH_BYTES = std::int64_t{1} << 48;

void check_extents(std::int64_t dim, const std::int64_t* extents) {
  require(dim <= LEGATE_MAX_DIM, "a program has too many dimensions");
  require(std::all_of(extents, extents + dim, [](auto extent) { return extent >= 0; }),
          "an extent is negative");
}

void check_scratch(const Scratch& scratch, std::int64_t num_nests) {
  auto bytes = scratch.itemsize;

  check_extents(scratch.dim, scratch.extents);
  require(bytes > 0, "a scratch buffer's elements have no size");
  for (std::int64_t d = 0; d < scratch.dim; ++d) {
    require(
        !__builtin_mul_overflow(bytes, scratch.extents[d], &bytes) && bytes <= MAX_SCRATCH_BYTES,
        "a scratch buffer is too large");
  }
  require(0 <= scratch.first_nest && scratch.first_nest <= scratch.last_nest &&
              scratch.last_nest < num_nests,
          "a scratch buffer's life is not a range of nests");
}

void check_kernel(std::int64_t id) {
  require(id >= 0 && id <= UINT32_MAX && find_kernel(static_cast<std::uint32_t>(id)) != nullptr,
          "no kernel is registered under this id");
}

void check_runs(const Program& program) {
  const auto num_nests = static_cast<std::int64_t>(program.nests.size());
  std::int64_t begin = 0;

  for (const auto& run : program.runs) {
    require(
        run.first_nest >= begin && run.num_nests > 0 && run.num_nests <= num_nests - run.first_nest,
        "a run has no nests, or those of another one");
    check_kernel(run.kernel);
    begin = run.first_nest + run.num_nests;
  }
}

void check_nest(const NestHead& nest) {
  check_extents(nest.dim, nest.extents);
  check_kernel(nest.kernel);
  require(nest.num_operands > 0, "a nest has no operands");
  require(0 <= nest.num_written && nest.num_written <= nest.num_operands,
          "a nest writes more operands than it has");
}

void check_operand(const Operand& operand, const NestHead& nest, std::int64_t root_dim,
                   const std::int64_t* root_extents) {
  std::array<std::int64_t, LEGATE_MAX_DIM> last{};
  bool is_empty = false;

  require(operand.root_dim == root_dim, "an operand has another dimensionality than its root");
  std::copy(operand.low, operand.low + root_dim, last.begin());
  for (std::int64_t d = 0; d < nest.dim; ++d) {
    const auto root = operand.dims[d];

    require(root >= -1 && root < root_dim, "an operand names a dimension that its root lacks");
    is_empty = is_empty || nest.extents[d] == 0;
    require(root < 0 || !__builtin_add_overflow(last[root], nest.extents[d] - 1, &last[root]),
            "an operand leaves its root");
  }
  for (std::int64_t d = 0; d < root_dim && !is_empty; ++d) {
    require(operand.low[d] >= 0 && last[d] < root_extents[d], "an operand leaves its root");
  }
}

// Sums of rows, shifts and distances that are not beyond it do not overflow.
constexpr std::int64_t MAX_DISTANCE = std::int64_t{1} << 32;

void check_turn(const NestHead& nest) {
  const auto is_small = [](std::int64_t value) {
    return -MAX_DISTANCE <= value && value <= MAX_DISTANCE;
  };

  require(NO_ROW <= nest.rows && nest.rows < nest.dim, "a nest lacks the dimension of its rows");
  require(is_small(nest.shift) && is_small(nest.before) && is_small(nest.after) &&
              nest.before >= NO_MARGIN,
          "a shift or a margin is too large");
  require(nest.rows != NO_ROW || nest.before == NO_MARGIN, "a nest without rows has a margin");
  require(std::all_of(nest.distances, nest.distances + nest.num_operands,
                      [&](auto distance) { return distance == STANDS || is_small(distance); }),
          "a distance is too large");
}

}  // namespace

Program check_program(Words words, const std::vector<RootShape>& arguments) {
  Program program{words};
  const auto num_scratch = static_cast<std::int64_t>(program.buffers.size());
  const auto num_nests = static_cast<std::int64_t>(program.nests.size());
  std::int64_t in_bands = 0;

  for (const auto& scratch : program.buffers) check_scratch(scratch, num_nests);
  require(program.bands.empty() || program.bands.front().begins_axis, "the first band has no axis");
  for (const auto& band : program.bands) {
    require(band.num_nests > 0 && band.num_nests <= num_nests, "a band has no nests, or too many");
    in_bands += band.num_nests;
  }
  require(in_bands == num_nests, "the bands do not have all nests");
  check_runs(program);
  for (std::int64_t index = 0; index < num_nests; ++index) {
    const auto& [nest, operands] = program.nests[index];

    check_nest(nest);
    check_turn(nest);
    for (std::int64_t number = 0; number < nest.num_operands; ++number) {
      const auto& operand = operands[number];
      const auto moves = nest.distances[number] != STANDS;

      if (operand.base >= 0) {
        require(operand.base < static_cast<std::int64_t>(arguments.size()),
                "an operand names an argument that the task lacks");
        const auto& extents = arguments[operand.base].extents;
        check_operand(operand, nest, static_cast<std::int64_t>(extents.size()), extents.data());
      } else {
        require(~operand.base < num_scratch, "an operand names a scratch buffer that is not there");
        const auto& scratch = program.buffers[~operand.base];
        require(scratch.first_nest <= index && index <= scratch.last_nest,
                "an operand names a scratch buffer outside of its life");
        check_operand(operand, nest, scratch.dim, scratch.extents);
      }
      require(!moves || (nest.rows != NO_ROW && operand.root_dim > 0 &&
                         (nest.rows < 0 || operand.dims[nest.rows] == 0)),
              "an operand cannot move along");
    }
  }
  require(words.empty(), "a program ends too late");
  return program;
}

Program check_partitioned_program(Words words, const std::vector<std::size_t>& dims) {
  Program program{words};
  require(program.buffers.empty() && program.runs.empty() && program.nests.size() == 1,
          "a partitioned program is one nest");

  const auto& [nest, operands] = program.nests.front();
  check_nest(nest);
  require(nest.num_operands == static_cast<std::int64_t>(dims.size()),
          "a partitioned program has one operand for each argument");
  for (std::int64_t number = 0; number < nest.num_operands; ++number) {
    const auto& operand = operands[number];
    const auto dim = nest.dim;
    const auto is_whole = [&] {
      for (std::int64_t d = 0; d < dim; ++d) {
        if (operand.dims[d] != d || operand.low[d] != 0) return false;
      }
      return operand.base == number && operand.root_dim == dim &&
             static_cast<std::int64_t>(dims[number]) == dim;
    };

    require(is_whole(), "an operand of a partitioned program is not all of its argument");
  }
  require(words.empty(), "a program ends too late");
  return program;
}

}  // namespace legate_diffuse
