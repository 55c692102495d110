// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <legate.h>
#include <legion.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "interposition/clocks.h"
#include "interposition/net.h"
#include "mapper/library.h"
#include "mapper/program_task.h"
#include "mapper/store_task.h"
#include "places.h"
#include "process/small_array.h"
#include "program/kernel_table.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/team.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Owned; null when no callback is set. Written and read with the GIL held.
PyObject* flush_callable = nullptr;

// Owned; an exception that waits to be raised. Written and read with the GIL held.
PyObject* kept_exception = nullptr;

// Runs on Python's main thread, where Python goes on.
int raise_kept_exception(void*) {
  auto* const exception = std::exchange(kept_exception, nullptr);

  if (!exception) return 0;
  Py_INCREF(Py_TYPE(exception));
  PyErr_Restore(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception,
                PyException_GetTraceback(exception));
  return -1;
}

// The native caller has no use for the exception that is set: it's raised when the caller has
// returned to Python.
void keep_exception(PyObject* callable) {
  PyObject *type, *value, *traceback;

  if (kept_exception || Py_AddPendingCall(raise_kept_exception, nullptr) != 0) {
    PyErr_WriteUnraisable(callable);
    return;
  }
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  kept_exception = value;
}

// Python objects that were dropped on other threads than the window's. Read and written with the
// GIL held.
std::vector<PyObject*>& dropped_elsewhere() {
  static auto* const objects = new std::vector<PyObject*>;
  return *objects;
}

std::thread::id window_thread;

// Runs on Python's main thread, where Python goes on.
int drop_what_was_dropped_elsewhere(void*) {
  for (auto* const object : std::exchange(dropped_elsewhere(), {})) Py_DECREF(object);
  return 0;
}

// Keeps a Python object whose last reference must go on the window's thread: Legate allows no other
// thread to drop its stores.
class Keeper {
 public:
  explicit Keeper(nb::object kept) : kept_{std::move(kept)} {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  ~Keeper() {
    if (std::this_thread::get_id() == window_thread) return;
    dropped_elsewhere().push_back(kept_.release().ptr());
    // If Python has no place for another call, the next one that is dropped asks again.
    Py_AddPendingCall(drop_what_was_dropped_elsewhere, nullptr);
  }

 private:
  nb::object kept_;
};

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
      keep_exception(callable);
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

  window_thread = std::this_thread::get_id();
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

// While one lives, calls of Legate on this thread are the window's own, which the net lets pass.
class Passage {
 public:
  Passage() : before_{set(true)} {}
  ~Passage() { set(before_); }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  static bool set(bool passing) {
    static auto* const function =
        find_in_net<decltype(legate_diffuse_net_set_passing)>("legate_diffuse_net_set_passing");
    return function && function(passing);
  }

  bool before_;
};

std::uint64_t num_net_calls() {
  static auto* const function =
      find_in_net<decltype(legate_diffuse_net_num_calls)>("legate_diffuse_net_num_calls");
  return function ? function() : 0;
}

// The launches of the window are numbered from 1 on; Legate has all up to this one. Only a launch
// with a higher number is made, and the number is taken down at the moment when Legate has it, so
// that no launch is made twice, whatever interrupts the Python code around it. Launches that are
// no part of the window have the number 0.
std::uint64_t last_launch = 0;

bool was_made(std::uint64_t launch) {
  return launch != 0 && launch <= last_launch;
}

void note_made(std::uint64_t launch) {
  last_launch = std::max(last_launch, launch);
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

// Calls a function that submits a task, without the GIL, unless the launch was made before.
template <typename Function>
void call_legate(std::uint64_t launch, std::optional<std::string_view> provenance,
                 const Function& function) {
  if (was_made(launch)) return;

  const nb::gil_scoped_release no_gil;
  const Passage passage;
  std::optional<legate::Scope> scope;

  try {
    if (provenance) scope.emplace(std::string{*provenance});
    function();
    note_made(launch);
  } catch (const InvalidProgram&) {
    throw;
  } catch (const std::exception& error) {
    // Legate's exceptions have several bases, which would become several Python types.
    throw std::runtime_error{error.what()};
  }
}

std::vector<std::int64_t> parse_program(const nb::bytes& program) {
  std::vector<std::int64_t> words(program.size() / sizeof(std::int64_t));

  if (program.size() % sizeof(std::int64_t) != 0) {
    throw nb::value_error("a program consists of words of 8 bytes");
  }
  std::memcpy(words.data(), program.c_str(), program.size());
  return words;
}

void submit_program(const nb::tuple& stores, const nb::bytes& privileges, const nb::bytes& program,
                    bool partitioned, std::optional<std::string_view> provenance,
                    std::uint64_t launch, std::int64_t task) {
  const auto arguments =
      parse_arguments(stores, privileges, partitioned ? LAST_REDUCTION : READ_WRITE);
  const auto words = parse_program(program);
  const auto id = static_cast<legate::LocalTaskID>(task);

  call_legate(launch, provenance, [&] { submit_program_task(id, arguments, words, partitioned); });
}

// Values that small arrays have before a program runs: which argument, the value, and whether
// Legate's store has it as well.
using FirstValue = std::tuple<std::size_t, nb::bytes, bool>;

void set_value(SmallArray& array, const nb::bytes& value, bool is_stored) {
  if (value.size() != array.num_bytes()) throw nb::value_error("the value has another size");
  std::memcpy(array.elements(), value.c_str(), value.size());
  is_stored ? array.set_stored() : array.set_changed();
}

void run_program(const nb::tuple& arrays, const nb::bytes& privileges, const nb::bytes& program,
                 const std::vector<FirstValue>& first_values, std::uint64_t launch) {
  const auto count = arrays.size();
  const auto words = parse_program(program);
  std::vector<SmallArray*> arguments(count);
  std::vector<RootShape> shapes(count);

  if (privileges.size() != count) throw nb::value_error("one privilege is needed for each array");
  for (std::size_t index = 0; index < count; ++index) {
    arguments[index] = nb::cast<SmallArray*>(arrays[index]);
    shapes[index] = arguments[index]->shape();
  }
  for (const auto& [index, value, is_stored] : first_values) {
    if (index >= count) throw nb::value_error("a value is that of no array");
  }
  const auto checked = check_program({words.data(), words.size()}, shapes);

  if (was_made(launch)) return;
  for (const auto& [index, value, is_stored] : first_values) {
    set_value(*arguments[index], value, is_stored);
  }
  run_here(checked, arguments);
  for (std::size_t index = 0; index < count; ++index) {
    if (writes(static_cast<Privilege>(privileges.c_str()[index]))) arguments[index]->set_changed();
  }
  note_made(launch);
}

void store_array(SmallArray& array, std::uintptr_t handle, bool keep) {
  if (array.is_valid() && !array.is_stored()) {
    call_legate(0, std::nullopt, [&] {
      store_small_array(*reinterpret_cast<const legate::LogicalStore*>(handle), array);
      array.set_stored();
    });
  }
  if (!keep) array.drop();
}

std::int64_t scratch_bytes_of(const nb::tuple& stores, const nb::bytes& privileges,
                              const nb::bytes& program) {
  return scratch_bytes(parse_arguments(stores, privileges, READ_WRITE), parse_program(program));
}

// Collects no garbage while it lives, so that no finalizer runs.
class NoCollection {
 public:
  NoCollection() : enabled_{PyGC_Disable() != 0} {}
  ~NoCollection() {
    if (enabled_) PyGC_Enable();
  }
  NoCollection(const NoCollection&) = delete;
  NoCollection& operator=(const NoCollection&) = delete;

 private:
  bool enabled_;
};

// Calls a method of Legate's own Python runtime, which is compiled, so that no Python code runs
// within the call.
void submit_original(std::uint64_t launch, const nb::callable& method, const nb::args& arguments) {
  if (was_made(launch)) return;

  const Passage passage;
  const NoCollection no_collection;
  const auto calls_before = num_net_calls();

  try {
    method(*arguments);
  } catch (...) {
    // Legate may refuse an operation, or run it and pass its exception on: in any case it had it.
    if (num_net_calls() != calls_before) note_made(launch);
    throw;
  }
  note_made(launch);
}

nb::object call_legate_method(const nb::callable& method, const nb::args& arguments) {
  const Passage passage;

  return method(*arguments);
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
  Kernel kernel{reinterpret_cast<const KernelCode*>(address), {}, nullptr};

  if (address == 0) throw nb::value_error("a kernel's address is null");
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

}  // namespace legate_diffuse

NB_MODULE(_native, module) {
  using namespace legate_diffuse;

  // Arrays may outlive the interpreter.
  nb::set_leak_warnings(false);
  module.doc() = "Submission of programs. Import legate.core first.";
  nb::class_<Keeper>(module, "Keeper").def(nb::init<nb::object>());
  nb::class_<Places>(module, "Places")
      .def(nb::init<>())
      .def("find", &Places::find, nb::arg("kind"))
      .def("learn", &Places::learn, nb::arg("code"), nb::arg("instruction"), nb::arg("place"))
      .def("learn_depth", &Places::learn_depth, nb::arg("kind"), nb::arg("depth"));
  nb::class_<SmallArray>(module, "SmallArray")
      .def(
          "__init__",
          [](SmallArray* array, std::int64_t itemsize, std::vector<std::int64_t> extents,
             std::optional<nb::bytes> value) {
            new (array) SmallArray{{std::move(extents), itemsize}};
            if (value) set_value(*array, *value, false);
          },
          nb::arg("itemsize"), nb::arg("extents"), nb::arg("value") = nb::none())
      .def_prop_ro("valid", &SmallArray::is_valid)
      .def("value",
           [](SmallArray& array) { return nb::bytes{array.elements(), array.num_bytes()}; });
  module.def("small_array_bytes", &SmallArray::total_bytes);
  module.def("run_program", &run_program, nb::arg("arrays"), nb::arg("privileges"),
             nb::arg("program"), nb::arg("first_values"), nb::arg("launch") = 0);
  module.def("store_array", &store_array, nb::arg("array"), nb::arg("handle"), nb::arg("keep"));
  module.def("start", &start_library, nb::call_guard<nb::gil_scoped_release>());
  module.def("register_kernel", &register_kernel_address, nb::arg("address"),
             nb::arg("reductions") = nb::tuple(), nb::arg("timed") = false);
  module.def("forget_kernel", &forget_kernel, nb::arg("kernel"));
  module.def("kernel_nanoseconds", &kernel_nanoseconds);
  module.def("task_times", &task_times);
  module.def(
      "name_task",
      [](std::string name) { return static_cast<std::int64_t>(name_task(std::move(name))); },
      nb::arg("name"), nb::call_guard<nb::gil_scoped_release>());
  module.def("submit_program", &submit_program, nb::arg("stores"), nb::arg("privileges"),
             nb::arg("program"), nb::arg("partitioned"), nb::arg("provenance").none(),
             nb::arg("launch") = 0, nb::arg("task") = static_cast<std::int64_t>(PROGRAM_TASK));
  module.def("scratch_bytes", &scratch_bytes_of, nb::arg("stores"), nb::arg("privileges"),
             nb::arg("program"));
  module.def("submit_original", &submit_original);
  module.def("call", &call_legate_method);
  module.def("last_launch", [] { return last_launch; });
  module.def("give_up_launch", &note_made, nb::arg("launch"));
  module.def("is_in_task", [] { return Legion::Runtime::has_context(); });
  module.def("launch_policy", &launch_policy);
  module.def("num_threads", [] { return current_sharing().num_threads; });
  module.def("set_num_threads", &set_num_threads, nb::arg("threads"));
  module.def("set_cache_bytes", &set_cache_bytes, nb::arg("bytes"));
  module.def("describe_task", &describe_task, nb::arg("library"), nb::arg("task"));
  module.def("scalar_bytes", &scalar_bytes, nb::arg("handle"));
  module.def("missing_symbol", &missing_symbol);
  module.def("set_flush_callback", &set_flush_callback, nb::arg("callback").none());
  module.def("set_pending", &set_pending, nb::arg("flag"));
}
