// SPDX-License-Identifier: Apache-2.0

#include "mapper/arguments.h"

#include <algorithm>
#include <utility>

#include "versions.h"

namespace legate_diffuse {

std::vector<std::optional<Elements>> find_arguments(const legate::TaskContext& context,
                                                    const Privilege* privileges, std::size_t count,
                                                    const Copy& copy) {
  std::vector<std::optional<Elements>> found(count);
  std::uint32_t num_inputs = 0;
  std::uint32_t num_outputs = 0;
  std::uint32_t num_reductions = 0;

  for (std::size_t index = 0; index < count; ++index) {
    const auto privilege = privileges[index];
    const auto input =
        reads(privilege) ? store_of(context.input(num_inputs++)) : legate::PhysicalStore{nullptr};
    const auto store = reduces(privilege)  ? store_of(context.reduction(num_reductions++))
                       : writes(privilege) ? store_of(context.output(num_outputs++))
                                           : input;

    found[index] = find_elements(store);
    // The new value of a future does not lie where the old one does.
    if (privilege == READ_WRITE && found[index] && found[index]->is_future) {
      copy(found[index]->pointer, find_elements(input)->pointer, store.type().size());
    }
  }
  return found;
}

std::optional<Tile> find_tile(const std::vector<std::optional<Elements>>& arguments,
                              const Privilege* privileges, const NestHead& nest) {
  // Futures report the bounds of the whole array, and broadcast regions may do so: the bounds of
  // this point task are those of the first region that is written, or else of any region.
  const auto leader_rank = [&](std::size_t index) {
    return std::pair{arguments[index]->is_future, !writes(privileges[index])};
  };
  std::size_t leader = 0;

  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (!arguments[index]) return std::nullopt;
    if (leader_rank(index) < leader_rank(leader)) leader = index;
  }

  auto lower = arguments[leader]->lower;
  auto upper = arguments[leader]->upper;
  Tile tile;

  for (std::int64_t d = 0; d < nest.dim; ++d) {
    for (const auto& argument : arguments) {
      if (argument->is_future) continue;
      lower[d] = std::max(lower[d], argument->lower[d]);
      upper[d] = std::min(upper[d], argument->upper[d]);
    }
    // Tiles may reach beyond the array: Legate doesn't clip what it derives from a partition that a
    // task has chosen, as sorting does.
    tile.first[d] = std::max<std::int64_t>(lower[d], 0);
    tile.extents[d] =
        std::max<std::int64_t>(std::min(upper[d], nest.extents[d] - 1) - tile.first[d] + 1, 0);
  }
  return tile;
}

}  // namespace legate_diffuse
