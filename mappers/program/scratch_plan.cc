// SPDX-License-Identifier: Apache-2.0

#include "program/scratch_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace legate_diffuse {

namespace {

// The first and the last nest that use a buffer.
struct Life {
  std::int64_t first{};
  std::int64_t last{};
};

std::int64_t round_up(std::int64_t size) {
  return (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

std::int64_t scratch_bytes(const Scratch& scratch, const CircularBuffer& circular) {
  const auto is_circular = circular.rows > 0;

  return round_up(std::accumulate(scratch.extents + is_circular, scratch.extents + scratch.dim,
                                  scratch.itemsize * (is_circular ? circular.num_places() : 1),
                                  std::multiplies<>{}));
}

// The nests of a blocked band run at the same time, so that a buffer that one of them uses lives
// as long as all of them do.
Life life_of(const Scratch& scratch, const Schedule& schedule) {
  Life life{scratch.first_nest, scratch.last_nest};
  std::int64_t first = 0;

  for (const auto& band : schedule.bands) {
    const auto last = first + band.num_nests - 1;

    if (band.block > 0 && first <= life.last && life.first <= last) {
      life = {std::min(life.first, first), std::max(life.last, last)};
    }
    first = last + 1;
  }
  return life;
}

}  // namespace

// The largest buffers are placed first, each at the lowest offset where no buffer lies that lives
// at the same time.
ScratchPlan place_scratch(const std::vector<Scratch>& buffers, const Schedule& schedule) {
  const auto count = buffers.size();
  std::vector<std::int64_t> sizes(count);
  std::vector<Life> lives(count);
  std::vector<std::size_t> order(count);
  std::vector<std::size_t> placed;  // by offset
  ScratchPlan plan{std::vector<std::int64_t>(count), 0};

  for (std::size_t index = 0; index < count; ++index) {
    sizes[index] = scratch_bytes(
        buffers[index], schedule.circular.empty() ? CircularBuffer{} : schedule.circular[index]);
    lives[index] = life_of(buffers[index], schedule);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sizes[a] > sizes[b]; });
  for (const auto index : order) {
    std::int64_t offset = 0;
    for (const auto other : placed) {
      if (lives[other].last < lives[index].first || lives[index].last < lives[other].first) {
        continue;
      }
      if (offset + sizes[index] <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[index] = offset;
    plan.size = std::max(plan.size, offset + sizes[index]);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), index,
                         [&](auto a, auto b) { return plan.offsets[a] < plan.offsets[b]; }),
        index);
  }
  return plan;
}

}  // namespace legate_diffuse
