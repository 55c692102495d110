// SPDX-License-Identifier: Apache-2.0

#include <legate.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "gpu/driver.h"
#include "gpu/gpu_kernel.h"
#include "gpu/kernel_code.h"
#include "interposition/clocks.h"
#include "mapper/library.h"
#include "program/cache.h"
#include "program/interpreter.h"
#include "program/kernel_table.h"
#include "threads/background.h"
#include "threads/team.h"
#include "versions.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// How Legate partitions (PartitionManager::compute_launch_shape): into how many pieces, and from
// how many elements on.
std::pair<std::uint64_t, std::uint64_t> launch_policy() {
  const auto machine = legate::Scope::machine();
  const auto& policy = legate::Scope::parallel_policy();

  return {std::uint64_t{machine.count()} * policy.overdecompose_factor(),
          partitioning_threshold(policy, machine.preferred_target())};
}

// The numbers of the processors, but for GPUs, on which tasks run.
std::vector<std::uint64_t> cpu_processors() {
  const auto machine = Realm::Machine::get_machine();
  std::vector<std::uint64_t> numbers;

  for (const auto kind : {Realm::Processor::LOC_PROC, Realm::Processor::OMP_PROC}) {
    Realm::Machine::ProcessorQuery query{machine};

    for (const auto processor : query.only_kind(kind)) numbers.push_back(processor.id);
  }
  return numbers;
}

// Whether more than its stores ties a task to a place in the program, in some variant.
bool is_bound(const legate::TaskInfo& task) {
  for (const auto code :
       {legate::VariantCode::CPU, legate::VariantCode::OMP, legate::VariantCode::GPU}) {
    if (const auto variant = task.find_variant(code)) {
      const auto& options = variant->options();

      if (options.concurrent || options.has_side_effect || options.may_throw_exception ||
          options.communicators) {
        return true;
      }
    }
  }
  return false;
}

// A task's name, and whether it is bound.
std::pair<std::string, bool> describe_task(std::uintptr_t library, std::int64_t id) {
  const auto task = reinterpret_cast<const legate::Library*>(library)->find_task(
      static_cast<legate::LocalTaskID>(id));

  return {std::string{task.name()}, is_bound(task)};
}

nb::bytes scalar_bytes(std::uintptr_t handle) {
  const auto& scalar = *reinterpret_cast<const legate::Scalar*>(handle);
  return nb::bytes{scalar.ptr(), scalar.size()};
}

// An argument, the kernel that combines its values, and their identity.
using NamedReduction = std::tuple<std::uint32_t, std::uint32_t, nb::bytes>;

std::uint32_t register_kernel_address(std::uintptr_t address,
                                      const std::vector<NamedReduction>& reductions, bool timed) {
  if (address == 0) throw nb::value_error("a kernel's address is null");
  if (kernels_run_on_gpus()) {
    const auto& code = *reinterpret_cast<const GpuKernelCode*>(address);

    return register_kernel({nullptr, {}, nullptr, std::make_shared<GpuKernel>(code), nullptr});
  }
  Kernel kernel{reinterpret_cast<const KernelCode*>(address), {}, nullptr, nullptr, nullptr};

  if (kernel.code->indices >> LEGATE_MAX_DIM != 0) throw nb::value_error("no such dimension");
  for (const auto& [argument, combine, identity] : reductions) {
    auto& reduction = kernel.reductions.emplace_back(Reduction{argument, combine, {}});

    if (identity.size() > SCALAR_SIZE) throw nb::value_error("a value takes at most 16 bytes");
    if (!find_kernel(combine)) throw nb::value_error("no kernel is registered under this id");
    std::memcpy(reduction.identity.bytes.data(), identity.c_str(), identity.size());
  }
  if (timed) kernel.clock = new Clock;  // as the kernel, it stays for as long as the process
  return register_kernel(std::move(kernel));
}

// The id of a kernel whose text is interpreted; none if it has to be compiled.
std::optional<std::uint32_t> interpret_kernel(const std::string& text, std::int64_t lanes) {
  const std::shared_ptr<const Interpreter> interpreter = Interpreter::make(text, lanes);

  if (!interpreter || interpreter->indices >> LEGATE_MAX_DIM != 0) return std::nullopt;
  return register_kernel({interpreter.get(), {}, nullptr, nullptr, interpreter});
}

// Whether a kernel was not forgotten, and need not be compiled now.
bool is_kernel_ready(std::uint32_t id) {
  const auto* const kernel = find_kernel(id);

  return kernel && kernel->is_ready();
}

// The processors for which kernels are compiled: see codegen/__init__.py.
std::string target() {
  return kernels_run_on_gpus() ? architecture() : "cpu";
}

// Whether tasks that are submitted now run where kernels do.
bool scope_runs_kernels() {
  return !kernels_run_on_gpus() ||
         legate::Scope::machine().preferred_target() == legate::mapping::TaskTarget::GPU;
}

using TaskTime = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

std::vector<TaskTime> task_times() {
  auto* const visit_clocks =
      find_in_net<decltype(legate_diffuse_clocks_visit)>("legate_diffuse_clocks_visit");
  std::vector<TaskTime> times;

  if (!visit_clocks) return times;
  visit_clocks(
      [](void* data, const char* name, const char* provenance, std::int64_t nanoseconds,
         std::int64_t calls) {
        static_cast<std::vector<TaskTime>*>(data)->emplace_back(name, provenance, nanoseconds,
                                                                calls);
      },
      &times);
  return times;
}

}  // namespace

void bind_tasks(nb::module_& module) {
  module.def("register_kernel", &register_kernel_address, nb::arg("address"),
             nb::arg("reductions") = nb::tuple(), nb::arg("timed") = false);
  module.def("interpret_kernel", &interpret_kernel, nb::arg("text"), nb::arg("lanes"));
  module.def("is_kernel_ready", &is_kernel_ready, nb::arg("kernel"));
  module.def(
      "forget_kernel",
      [](std::uint32_t kernel) {
        // which may still run it
        Background::wait();
        forget_kernel(kernel);
      },
      nb::arg("kernel"));
  module.def("kernel_nanoseconds", &kernel_nanoseconds);
  module.def("task_times", &task_times);
  module.def(
      "name_task",
      [](std::string name) { return static_cast<std::int64_t>(name_task(std::move(name))); },
      nb::arg("name"), nb::call_guard<nb::gil_scoped_release>());
  module.def("launch_policy", &launch_policy);
  module.def("cpu_processors", &cpu_processors);
  module.def("target", &target);
  module.def("scope_runs_kernels", &scope_runs_kernels);
  module.attr("COPY_TASK") = static_cast<std::int64_t>(COPY_TASK);
  module.def("kernels_run_in_process", [] { return !kernels_run_on_gpus(); });
  module.def("num_threads", [] { return current_sharing().num_threads; });
  module.def("set_num_threads", &set_num_threads, nb::arg("threads"));
  module.def("set_cache_bytes", &set_cache_bytes, nb::arg("bytes"));
  module.def("set_nearest_cache_bytes", &set_nearest_cache_bytes, nb::arg("bytes"));
  module.def("describe_task", &describe_task, nb::arg("library"), nb::arg("task"));
  module.def("scalar_bytes", &scalar_bytes, nb::arg("handle"));
}

}  // namespace legate_diffuse
