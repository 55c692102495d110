// SPDX-License-Identifier: Apache-2.0

#include "process/small_array.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

#include "program/schedule.h"
#include "program/scratch_plan.h"
#include "threads/team_runner.h"

namespace legate_diffuse {

namespace {

std::atomic<std::size_t> total{0};

}  // namespace

SmallArray::SmallArray(RootShape shape)
    : shape_{std::move(shape)},
      num_bytes_{static_cast<std::size_t>(std::accumulate(
          shape_.extents.begin(), shape_.extents.end(), shape_.itemsize, std::multiplies<>{}))} {}

char* SmallArray::elements() {
  if (!memory_) keep(std::calloc(std::max<std::size_t>(num_bytes_, 1), 1));
  return memory_.get();
}

void SmallArray::reserve() {
  if (!memory_) keep(std::malloc(std::max<std::size_t>(num_bytes_, 1)));
}

void SmallArray::keep(void* memory) {
  memory_.reset(static_cast<char*>(memory));
  if (!memory_) throw std::bad_alloc{};
  total += num_bytes_;
}

void SmallArray::fill(const char* element) {
  reserve();

  auto* const to = elements();
  const auto itemsize = static_cast<std::size_t>(shape_.itemsize);

  for (std::size_t at = 0; at < num_bytes_; at += itemsize) std::memcpy(to + at, element, itemsize);
  set_changed();
}

void SmallArray::take(SmallArray& other) {
  drop();
  memory_ = std::move(other.memory_);
  is_valid_ = std::exchange(other.is_valid_, false);
  is_stored_ = std::exchange(other.is_stored_, false);
}

void SmallArray::drop() {
  if (memory_) total -= num_bytes_;
  memory_.reset();
  is_valid_ = is_stored_ = false;
}

std::size_t SmallArray::total_bytes() {
  return total;
}

void run_here(const Program& program, const std::vector<SmallArray*>& arguments) {
  const auto plan = place_scratch(program.buffers, {});
  const std::unique_ptr<char, decltype(&std::free)> scratch{
      static_cast<char*>(std::aligned_alloc(SCRATCH_ALIGNMENT, plan.size)), &std::free};
  std::vector<Base> bases;

  if (plan.size > 0 && !scratch) throw std::bad_alloc{};
  bases.reserve(arguments.size() + program.buffers.size());
  for (auto* const argument : arguments) {
    const auto& [extents, itemsize] = argument->shape();
    const auto dim = static_cast<std::int64_t>(extents.size());

    bases.push_back(row_major(argument->elements(), itemsize, dim, extents.data()));
  }
  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    const auto& buffer = program.buffers[index];

    bases.push_back(row_major(scratch.get() + plan.offsets[index], buffer.itemsize, buffer.dim,
                              buffer.extents));
  }
  Runner runner{bases, arguments.size()};
  auto words = program.nests;

  for (std::int64_t nest = 0; nest < program.num_nests; ++nest) runner.run(words);
}

}  // namespace legate_diffuse
