// SPDX-License-Identifier: Apache-2.0

#include "places.h"

#include <algorithm>

namespace legate_diffuse {

namespace nb = nanobind;

namespace {

// More are not worth the time to try them.
constexpr std::size_t MAX_DEPTHS = 4;
// Cells of notebooks, and what `exec` runs, are always new codes.
constexpr std::size_t MAX_CODES = 4096;

}  // namespace

nb::str Places::find(std::int64_t kind) const {
  const auto depths = depths_.find(kind);

  if (depths == depths_.end()) return unknown_;
  for (const auto& depth : depths->second) {
    const auto frame = nb::steal(PyObject_CallOneArg(frame_.ptr(), depth.ptr()));

    if (!frame.is_valid()) {  // there are fewer frames
      PyErr_Clear();
      return unknown_;
    }
    auto* const one = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const auto code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(one)));
    const auto place = places_.find({code.ptr(), PyFrame_GetLasti(one)});

    if (place == places_.end()) return unknown_;
    if (nb::len(place->second) > 0) return place->second;
  }
  return unknown_;
}

void Places::learn(nb::handle code, int instruction, nb::str place) {
  if (codes_.size() >= MAX_CODES && codes_.count(code.ptr()) == 0) {
    places_.clear();

    // a finalizer may come
    const auto forgotten = std::exchange(codes_, {});
  }
  codes_.try_emplace(code.ptr(), nb::borrow(code));
  places_.insert_or_assign({code.ptr(), instruction}, std::move(place));
}

void Places::learn_depth(std::int64_t kind, int depth) {
  auto& depths = depths_[kind];
  const auto at = std::lower_bound(depths.begin(), depths.end(), depth,
                                   [](auto& a, int b) { return nb::cast<int>(a) < b; });

  if (depths.size() >= MAX_DEPTHS || (at != depths.end() && nb::cast<int>(*at) == depth)) return;
  depths.insert(at, nb::int_(depth));
}

}  // namespace legate_diffuse
