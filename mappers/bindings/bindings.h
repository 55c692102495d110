// SPDX-License-Identifier: Apache-2.0

// The parts of the module `_native`, and what they have in common.

#pragma once

#include <dlfcn.h>
#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Adds what the net calls when Legate must have what is pending.
void bind_flush(nanobind::module_& module);

// Adds what submits tasks, or runs programs in the calling thread.
void bind_submission(nanobind::module_& module);

// Adds kernels, and what Legate says of tasks.
void bind_tasks(nanobind::module_& module);

// Returns a function of the net, null if the process has none.
template <typename Function>
Function* find_in_net(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace legate_diffuse
