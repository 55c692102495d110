// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "process/at_once.h"
#include "process/function.h"
#include "process/lazy_thunk.h"
#include "process/runs.h"

namespace legate_diffuse {

// A new reference to a new array, whose elements `write` sets, given where the first one is; to
// None if that is left to Python. `look` finds operands again, as a finalizer may have come while
// objects were made. Both return false if it is. The name is that of an operation; null for none.
template <typename Look, typename Write>
PyObject* new_result(const Function& function, const Signature* signature, std::int64_t dim,
                     const std::int64_t* extents, const char* name, const Look& look,
                     const Write& write) {
  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(extents, dim).ptr()};
  LocalOperand target;
  std::optional<Run> run;

  if (!made.is_here(target) || !look()) Py_RETURN_NONE;
  if (name) run.emplace(name);
  target.small->reserve();
  if (!write(target.small->own_elements())) Py_RETURN_NONE;
  target.small->set_changed();
  if (run) run->done();
  return made.array.release().ptr();
}

}  // namespace legate_diffuse
