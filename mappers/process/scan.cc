// SPDX-License-Identifier: Apache-2.0

#include "process/scan.h"

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>

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

template <typename T>
void scan_elements(const Source& source, const Target& target, bool multiplies) {
  if (multiplies) {
    scan_rows<T>(source, target, std::multiplies<T>{});
  } else {
    scan_rows<T>(source, target, std::plus<T>{});
  }
}

void scan(const Source& source, const Target& target, bool multiplies) {
  if (source.ndim() == 0 || source.size() != target.size() || source.dtype() != target.dtype()) {
    throw nb::value_error("what is scanned has another shape or type than the result");
  }
  if (source.dtype() == nb::dtype<double>()) {
    scan_elements<double>(source, target, multiplies);
  } else if (source.dtype() == nb::dtype<float>()) {
    scan_elements<float>(source, target, multiplies);
  } else if (source.dtype() == nb::dtype<std::int64_t>()) {
    // they wrap around
    scan_elements<std::uint64_t>(source, target, multiplies);
  } else {
    throw nb::value_error("a type that is not scanned");
  }
}

}  // namespace

void bind_scan(nb::module_& module) {
  module.def("scan", &scan, nb::arg("source"), nb::arg("target"), nb::arg("multiplies"));
}

}  // namespace legate_diffuse
