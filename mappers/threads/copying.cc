// SPDX-License-Identifier: Apache-2.0

#include "threads/copying.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "program/elements.h"
#include "program/loop_nest.h"
#include "threads/team.h"

namespace legate_diffuse {

namespace {

// From so many bytes on a thread that helps is worth waking, and they are not in its cache anyhow.
constexpr std::int64_t LEAST_SHARED = std::int64_t{1} << 21;

// Puts the dimension whose elements lie closest in the source next to the last one, where
// `copy_elements` copies block by block.
void bring_together(std::int64_t dim, std::int64_t* extents, std::int64_t* to, std::int64_t* from) {
  const auto* const closest = std::min_element(
      from, from + dim, [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); });
  const auto place = closest - from;

  if (place >= dim - 2) return;
  for (auto* const each : {extents, to, from}) std::swap(each[place], each[dim - 2]);
}

}  // namespace

void copy_by_threads(char* to, const std::int64_t* to_strides, const char* from,
                     const std::int64_t* from_strides, std::int64_t dim,
                     const std::int64_t* extents, std::size_t itemsize) {
  auto num_bytes = static_cast<std::int64_t>(itemsize);

  for (std::int64_t d = 0; d < dim; ++d) num_bytes *= extents[d];
  if (num_bytes < LEAST_SHARED || dim == 0) {
    if (num_bytes > 0) copy_elements(to, to_strides, from, from_strides, dim, extents, itemsize);
    return;
  }

  Nest::Strides count{}, target{}, source{};

  std::copy_n(extents, dim, count.begin());
  std::copy_n(to_strides, dim, target.begin());
  std::copy_n(from_strides, dim, source.begin());
  dim = merge_dims(dim, count.data(), target.data(), source.data());
  bring_together(dim, count.data(), target.data(), source.data());

  const auto longest =
      std::max_element(count.begin(), count.begin() + std::max(dim - 1, std::int64_t{1})) -
      count.begin();
  const auto rows = count[longest];
  const auto parts = std::clamp(current_sharing().num_threads, std::int64_t{1}, rows);

  Team::run(parts, [&](std::int64_t part) {
    const auto first = rows * part / parts;
    auto own = count;

    own[longest] = rows * (part + 1) / parts - first;
    copy_elements(to + first * target[longest], target.data(), from + first * source[longest],
                  source.data(), dim, own.data(), itemsize);
  });
}

}  // namespace legate_diffuse
