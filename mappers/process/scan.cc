// SPDX-License-Identifier: Apache-2.0

#include "process/scan.h"

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "process/loop_types.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

using Source = nb::ndarray<nb::c_contig, nb::ro>;
using Target = nb::ndarray<nb::c_contig>;

template <typename T, typename Function>
void scan_rows(const Source& source, const Target& target, const Function& function) {
  const auto length = source.shape(source.ndim() - 1);
  const auto* from = static_cast<const T*>(source.data());
  auto* to = static_cast<T*>(target.data());

  for (const auto* const end = from + source.size(); from < end; from += length, to += length) {
    auto total = from[0];

    to[0] = total;
    for (std::size_t at = 1; at < length; ++at) to[at] = total = function(total, from[at]);
  }
}

void scan(const Source& source, const Target& target, bool multiplies) {
  if (source.ndim() == 0 || source.size() != target.size() || source.dtype() != target.dtype()) {
    throw nb::value_error("what is scanned has another shape or type than the result");
  }
  with_loop_type(source.dtype(), [&](auto like) {
    // integers wrap around
    using Type =
        std::conditional_t<std::is_integral_v<decltype(like)>, std::uint64_t, decltype(like)>;

    if (multiplies) {
      scan_rows<Type>(source, target, std::multiplies<Type>{});
    } else {
      scan_rows<Type>(source, target, std::plus<Type>{});
    }
  });
}

}  // namespace

void bind_scan(nb::module_& module) {
  module.def("scan", &scan, nb::arg("source"), nb::arg("target"), nb::arg("multiplies"));
}

}  // namespace legate_diffuse
