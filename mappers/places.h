// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace legate_diffuse {

// Where in the program its operations come from, as text, by code and instruction. A frame that
// Python makes for a person to look at takes time, so as few as possible are looked at.
class Places {
 public:
  // The place of the program's innermost frame, empty if that takes a walk over all frames. Those
  // are tried, the nearest first, that were the program's when operations of this kind came before.
  nanobind::str find(std::int64_t kind) const;

  // Takes note of an instruction's place, empty if it is not the program's.
  void learn(nanobind::handle code, int instruction, nanobind::str place);

  // Takes note that the program's frame was so many above the one that asks.
  void learn_depth(std::int64_t kind, int depth);

 private:
  using Instruction = std::pair<const void*, int>;

  struct Hash {
    std::size_t operator()(const Instruction& one) const {
      return std::hash<const void*>{}(one.first) * 31 + static_cast<std::size_t>(one.second);
    }
  };

  std::unordered_map<Instruction, nanobind::str, Hash> places_;
  std::unordered_map<std::int64_t, std::vector<nanobind::int_>> depths_;
  // They are kept, so that their addresses stay their own.
  std::unordered_map<const void*, nanobind::object> codes_;
  nanobind::str unknown_{""};
  nanobind::object frame_ = nanobind::module_::import_("sys").attr("_getframe");
};

}  // namespace legate_diffuse
