// SPDX-License-Identifier: Apache-2.0

#include "process/nonzero.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "process/given.h"
#include "process/numpy_api.h"
#include "threads/team.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// To find places among fewer elements takes no longer than to wake a thread that helps.
constexpr std::int64_t LEAST_IN_PART = std::int64_t{1} << 17;
// Places are put one behind the other where writing to one too many harms nobody.
constexpr std::int64_t BLOCK = 256;

template <typename T>
[[gnu::always_inline]] inline std::int64_t count_in(const T* row, std::int64_t count) {
  std::int64_t found = 0;

  for (std::int64_t at = 0; at < count; ++at) found += row[at] != T{};
  return found;
}

template <typename T>
void find_in(const T* row, std::int64_t first, std::int64_t end, std::int64_t* to) {
  std::array<std::int64_t, BLOCK> places;

  for (auto at = first; at < end;) {
    const auto last = std::min(end, at + BLOCK);
    std::size_t found = 0;

    for (; at < last; ++at) {
      places[found] = at;
      found += row[at] != T{};
    }
    std::memcpy(to, places.data(), found * sizeof(std::int64_t));
    to += found;
  }
}

}  // namespace

#define LEGATE_DIFFUSE_COUNT(T)                                                           \
  __attribute__((target_clones("avx512f", "avx2", "default"))) std::int64_t count_in_row( \
      const T* row, std::int64_t count) {                                                 \
    return count_in(row, count);                                                          \
  }
LEGATE_DIFFUSE_COUNT(double)
LEGATE_DIFFUSE_COUNT(float)
LEGATE_DIFFUSE_COUNT(std::int64_t)
LEGATE_DIFFUSE_COUNT(std::int32_t)
LEGATE_DIFFUSE_COUNT(std::uint8_t)
#undef LEGATE_DIFFUSE_COUNT

namespace {

// Calls `visit` with a zero of a type whose elements are zero where those of an array are.
template <typename Visit>
nb::object with_type(const ArrayContent& content, const Visit& visit) {
  const auto is_float = content.kind == 'f';

  if (is_float && content.itemsize == sizeof(double)) return visit(double{});
  if (is_float && content.itemsize == sizeof(float)) return visit(float{});
  if (content.kind != 'c' && content.itemsize == 8) return visit(std::int64_t{});
  if (content.kind != 'c' && content.itemsize == 4) return visit(std::int32_t{});
  if (content.itemsize == 1) return visit(std::uint8_t{});
  throw nb::value_error("a type that has no loop");
}

template <typename T>
nb::object find_places(const T* row, std::int64_t count) {
  const auto most = std::max(count / LEAST_IN_PART, std::int64_t{1});
  const auto parts = std::clamp(current_sharing().num_threads, std::int64_t{1}, most);
  const auto begin = [&](std::int64_t part) { return count * part / parts; };
  std::vector<std::int64_t> places(static_cast<std::size_t>(parts) + 1);

  Team::run(parts, [&](std::int64_t part) {
    places[part + 1] = count_in_row(row + begin(part), begin(part + 1) - begin(part));
  });
  for (std::int64_t part = 0; part < parts; ++part) places[part + 1] += places[part];

  auto made = new_array_of_numpy(nb::handle{numpy().dtypes}["int64"].ptr(), 1, &places.back());
  auto* const to = reinterpret_cast<std::int64_t*>(content_of(made.ptr()).elements);

  Team::run(parts, [&](std::int64_t part) {
    find_in(row, begin(part), begin(part + 1), to + places[part]);
  });
  return made;
}

nb::object find_nonzero(nb::handle array) {
  if (!is_array_of_numpy(array.ptr())) throw nb::type_error("not an array of NumPy's");

  const auto content = content_of(array.ptr());

  if (!content.is_in_order()) throw nb::value_error("elements that are in no row");
  return with_type(content, [&](auto like) {
    return find_places(reinterpret_cast<const decltype(like)*>(content.elements), content.volume);
  });
}

}  // namespace

void bind_nonzero(nb::module_& module) {
  module.def("find_nonzero", &find_nonzero, nb::arg("array"));
}

}  // namespace legate_diffuse
