// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <legate.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "interposition/net.h"
#include "mapper/fused_task.h"
#include "mapper/library.h"
#include "mapper/program_task.h"
#include "program/kernel_table.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/team.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Owned; null when no callback is set. Written and read with the GIL held.
PyObject* flush_callable = nullptr;

void call_flush_callable() {
  if (!Py_IsInitialized()) return;

  const auto gil = PyGILState_Ensure();

  // The caller may be propagating a Python exception, which is none of the callable's.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (auto* const callable = flush_callable) {
    Py_INCREF(callable);
    if (auto* const result = PyObject_CallNoArgs(callable)) {
      Py_DECREF(result);
    } else {
      PyErr_WriteUnraisable(callable);
    }
    Py_DECREF(callable);
  }
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(gil);
}

template <typename Function>
Function* find_in_net(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void set_flush_callback(nb::object callable) {
  auto* const previous = flush_callable;

  flush_callable = callable.is_none() ? nullptr : callable.release().ptr();
  Py_XDECREF(previous);
  if (auto* const connect = find_in_net<decltype(legate_diffuse_net_set_callback)>(
          "legate_diffuse_net_set_callback")) {
    connect(flush_callable ? call_flush_callable : nullptr);
  }
}

std::optional<std::string> missing_symbol() {
  auto* const find =
      find_in_net<decltype(legate_diffuse_net_missing_symbol)>("legate_diffuse_net_missing_symbol");
  const auto* const name = find ? find() : nullptr;

  return name ? std::optional<std::string>{name} : std::nullopt;
}

void set_pending(bool pending) {
  static auto* const set =
      find_in_net<decltype(legate_diffuse_net_set_pending)>("legate_diffuse_net_set_pending");
  if (set) set(pending);
}

constexpr Privilege LAST_REDUCTION = REDUCE + static_cast<Privilege>(legate::ReductionOpKind::XOR);

std::vector<Access> parse_arguments(const nb::tuple& stores, const nb::bytes& privileges,
                                    Privilege last_privilege) {
  const auto count = stores.size();
  std::vector<Access> arguments(count);

  if (privileges.size() != count) throw nb::value_error("one privilege is needed for each store");
  for (std::size_t index = 0; index < count; ++index) {
    const auto handle = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(stores.ptr(), index));
    const auto privilege = static_cast<Privilege>(privileges.c_str()[index]);

    if (PyErr_Occurred()) throw nb::python_error();
    if (handle == 0) throw nb::value_error("a store's handle is null");
    if (privilege < READ || privilege > last_privilege) {
      throw nb::value_error("a privilege is not one of those that are allowed here");
    }
    arguments[index] = {reinterpret_cast<const legate::LogicalStore*>(handle), privilege};
  }
  return arguments;
}

// Calls a function that submits a task, without the GIL.
template <typename Function>
void call_legate(std::optional<std::string_view> provenance, const Function& function) {
  const nb::gil_scoped_release no_gil;
  std::optional<legate::Scope> scope;

  try {
    if (provenance) scope.emplace(std::string{*provenance});
    function();
  } catch (const InvalidProgram&) {
    throw;
  } catch (const std::exception& error) {
    // Legate's exceptions have several bases, which would become several Python types.
    throw std::runtime_error{error.what()};
  }
}

void submit(std::uint32_t kernel, const nb::tuple& stores, const nb::bytes& privileges,
            const nb::bytes& scalars, std::optional<std::string_view> provenance) {
  const auto arguments = parse_arguments(stores, privileges, LAST_REDUCTION);

  if (!find_kernel(kernel)) throw nb::value_error("no kernel is registered under this id");
  if (scalars.size() % 16 != 0) throw nb::value_error("a scalar takes 16 bytes");

  const std::string_view scalar_bytes{scalars.c_str(), scalars.size()};
  call_legate(provenance, [&] { submit_fused_task(kernel, arguments, scalar_bytes); });
}

void submit_program(const nb::tuple& stores, const nb::bytes& privileges, const nb::bytes& program,
                    std::optional<std::string_view> provenance) {
  const auto arguments = parse_arguments(stores, privileges, READ_WRITE);
  std::vector<std::int64_t> words(program.size() / sizeof(std::int64_t));

  if (program.size() % sizeof(std::int64_t) != 0) {
    throw nb::value_error("a program consists of words of 8 bytes");
  }
  std::memcpy(words.data(), program.c_str(), program.size());
  call_legate(provenance, [&] { submit_program_task(arguments, words); });
}

// How Legate partitions (PartitionManager::compute_launch_shape): into how many pieces, and from
// how many elements on. Where threads share the loops of a task, there is one piece.
std::pair<std::uint64_t, std::uint64_t> launch_policy() {
  const auto machine = legate::Scope::machine();
  const auto& policy = legate::Scope::parallel_policy();

  const auto pieces = std::uint64_t{machine.count()} * policy.overdecompose_factor();

  return {current_sharing().num_threads > 1 ? 1 : pieces,
          policy.partitioning_threshold(machine.preferred_target())};
}

nb::bytes scalar_bytes(std::uintptr_t handle) {
  const auto& scalar = *reinterpret_cast<const legate::Scalar*>(handle);
  return nb::bytes{scalar.ptr(), scalar.size()};
}

// An argument, the kernel that combines its values, and their identity.
using NamedReduction = std::tuple<std::uint32_t, std::uint32_t, nb::bytes>;

std::uint32_t register_kernel_address(std::uintptr_t address, const std::vector<int>& indices,
                                      std::vector<std::uint32_t> repeated,
                                      const std::vector<NamedReduction>& reductions) {
  Kernel kernel{reinterpret_cast<KernelFunction>(address), 0, std::move(repeated), {}};

  if (address == 0) throw nb::value_error("a kernel's address is null");
  for (const auto index : indices) {
    if (index < 0 || index >= LEGATE_MAX_DIM) throw nb::value_error("no such dimension");
    kernel.indices |= std::uint32_t{1} << index;
  }
  for (const auto& [argument, combine, identity] : reductions) {
    auto& reduction = kernel.reductions.emplace_back(Reduction{argument, combine, {}});

    if (identity.size() > SCALAR_SIZE) throw nb::value_error("a value takes at most 16 bytes");
    if (!find_kernel(combine)) throw nb::value_error("no kernel is registered under this id");
    std::memcpy(reduction.identity.bytes.data(), identity.c_str(), identity.size());
  }
  return register_kernel(std::move(kernel));
}

}  // namespace

}  // namespace legate_diffuse

NB_MODULE(_native, module) {
  using namespace legate_diffuse;

  module.doc() = "Submission of fused tasks. Import legate.core first.";
  module.def("start", &start_library, nb::call_guard<nb::gil_scoped_release>());
  module.def("register_kernel", &register_kernel_address, nb::arg("address"),
             nb::arg("indices") = nb::tuple(), nb::arg("repeated") = nb::tuple(),
             nb::arg("reductions") = nb::tuple());
  module.def("submit", &submit, nb::arg("kernel"), nb::arg("stores"), nb::arg("privileges"),
             nb::arg("scalars"), nb::arg("provenance").none());
  module.def("submit_program", &submit_program, nb::arg("stores"), nb::arg("privileges"),
             nb::arg("program"), nb::arg("provenance").none());
  module.def("launch_policy", &launch_policy);
  module.def("num_threads", [] { return current_sharing().num_threads; });
  module.def("set_num_threads", &set_num_threads, nb::arg("threads"));
  module.def("set_cache_bytes", &set_cache_bytes, nb::arg("bytes"));
  module.def("scalar_bytes", &scalar_bytes, nb::arg("handle"));
  module.def("missing_symbol", &missing_symbol);
  module.def("set_flush_callback", &set_flush_callback, nb::arg("callback").none());
  module.def("set_pending", &set_pending, nb::arg("flag"));
}
