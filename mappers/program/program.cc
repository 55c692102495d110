// SPDX-License-Identifier: Apache-2.0

#include "program/program.h"

#include <legate_defines.h>

#include <algorithm>
#include <array>
#include <utility>

#include "program/kernel_table.h"

namespace legate_diffuse {

const std::int64_t* Words::take(std::int64_t count) {
  if (count < 0 || count > end_ - next_) throw InvalidProgram{"a program ends too early"};

  const auto* const taken = next_;

  next_ += count;
  return taken;
}

namespace {

constexpr std::array<std::int64_t, LEGATE_MAX_DIM> ORIGIN{};

}  // namespace

Scratch::Scratch(Words& words)
    : itemsize{words.take()},
      first_nest{words.take()},
      last_nest{words.take()},
      dim{words.take()},
      extents{words.take(dim)} {}

NestHead::NestHead(Words& words)
    : kernel{words.take()},
      num_operands{words.take()},
      num_written{words.take()},
      dim{words.take()},
      num_scalars{words.take()},
      extents{words.take(dim)},
      scalars{words.take(2 * num_scalars)},
      first{ORIGIN.data()} {}

Operand::Operand(Words& words, std::int64_t dim)
    : base{words.take()},
      root_dim{words.take()},
      dims{words.take(dim)},
      low{words.take(root_dim)} {}

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

namespace {

constexpr std::int64_t MAX_SCRATCH_BYTES = std::int64_t{1} << 48;

void require(bool condition, const char* message) {
  if (!condition) throw InvalidProgram{message};
}

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

void check_nest(const NestHead& nest) {
  check_extents(nest.dim, nest.extents);
  require(nest.kernel >= 0 && nest.kernel <= UINT32_MAX &&
              find_kernel(static_cast<std::uint32_t>(nest.kernel)) != nullptr,
          "no kernel is registered under this id");
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

}  // namespace

Program check_program(Words words, const std::vector<RootShape>& arguments) {
  const auto num_scratch = words.take();
  const auto num_nests = words.take();
  std::vector<Scratch> buffers;

  for (std::int64_t index = 0; index < num_scratch; ++index) {
    check_scratch(buffers.emplace_back(words), num_nests);
  }

  const auto nests = words;
  for (std::int64_t index = 0; index < num_nests; ++index) {
    const NestHead nest{words};

    check_nest(nest);
    for (std::int64_t number = 0; number < nest.num_operands; ++number) {
      const Operand operand{words, nest.dim};

      if (operand.base >= 0) {
        require(operand.base < static_cast<std::int64_t>(arguments.size()),
                "an operand names an argument that the task lacks");
        const auto& extents = arguments[operand.base].extents;
        check_operand(operand, nest, static_cast<std::int64_t>(extents.size()), extents.data());
      } else {
        require(~operand.base < num_scratch, "an operand names a scratch buffer that is not there");
        const auto& scratch = buffers[~operand.base];
        require(scratch.first_nest <= index && index <= scratch.last_nest,
                "an operand names a scratch buffer outside of its life");
        check_operand(operand, nest, scratch.dim, scratch.extents);
      }
    }
  }
  require(num_scratch >= 0 && num_nests >= 0 && words.empty(), "a program ends too late");
  return {std::move(buffers), num_nests, nests};
}

void check_partitioned_program(Words words, const std::vector<std::uint32_t>& dims) {
  require(words.take() == 0 && words.take() == 1, "a partitioned program is one nest");

  const NestHead nest{words};
  check_nest(nest);
  require(nest.num_operands == static_cast<std::int64_t>(dims.size()),
          "a partitioned program has one operand for each argument");
  for (std::int64_t number = 0; number < nest.num_operands; ++number) {
    const Operand operand{words, nest.dim};
    const auto is_whole = [&] {
      for (std::int64_t d = 0; d < nest.dim; ++d) {
        if (operand.dims[d] != d || operand.low[d] != 0) return false;
      }
      return operand.base == number && operand.root_dim == nest.dim && dims[number] == nest.dim;
    };

    require(is_whole(), "an operand of a partitioned program is not all of its argument");
  }
  require(words.empty(), "a program ends too late");
}

}  // namespace legate_diffuse
