// SPDX-License-Identifier: Apache-2.0

#include <legate.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "interposition/net.h"
#include "mapper/library.h"
#include "mapper/program_task.h"
#include "mapper/scratch.h"
#include "mapper/store_task.h"
#include "process/numpy_memory.h"
#include "process/programs.h"
#include "process/small_array.h"
#include "program/elements.h"
#include "program/program.h"
#include "threads/background.h"
#include "threads/copying.h"
#include "threads/team.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

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
  if (!words.empty()) std::memcpy(words.data(), program.c_str(), program.size());
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
using FirstValue = std::tuple<std::size_t, nb::object, bool>;

// Memory of a Python object, while this lives.
class Buffer {
 public:
  explicit Buffer(const nb::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] void* begin() const { return view_.buf; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }
  [[nodiscard]] int dim() const { return view_.ndim; }
  [[nodiscard]] bool is_in_order() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }

  // In row-major order.
  void copy_to(char* to) const {
    Nest::Strides extents{}, strides{};

    std::copy_n(view_.shape, view_.ndim, extents.begin());
    std::copy_n(view_.strides, view_.ndim, strides.begin());
    copy_in_order(to, static_cast<const char*>(view_.buf), strides.data(), view_.ndim,
                  extents.data(), view_.itemsize);
  }

 private:
  Py_buffer view_{};
};

void set_value(SmallArray& array, const nb::object& value, bool is_stored) {
  const Buffer buffer{value};

  if (buffer.size() != array.num_bytes() || buffer.dim() > LEGATE_MAX_DIM) {
    throw nb::value_error("the value has another size");
  }
  array.reserve();
  buffer.copy_to(array.own_elements());
  is_stored ? array.set_stored() : array.set_changed();
}

// Whether an array has taken over the memory of one of NumPy's, which is not to be used any more.
bool adopt(SmallArray& array, const nb::object& value) {
  const Buffer buffer{value};
  auto* const memory = buffer.size() == array.num_bytes() && buffer.is_in_order()
                           ? take_from_numpy(buffer.begin(), buffer.size())
                           : nullptr;

  if (memory) array.adopt(memory);
  return memory != nullptr;
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
  try {
    run_here(checked, arguments, reinterpret_cast<const Privilege*>(privileges.c_str()),
             current_sharing());
  } catch (const std::bad_alloc& error) {
    // the original tasks, which run instead, may need less
    throw std::runtime_error{error.what()};
  }
  note_made(launch);
}

void store_array(SmallArray& array, std::uintptr_t handle, bool keep) {
  // not without the GIL, as others may have the same memory
  if (array.is_used()) Background::wait();
  if (array.is_valid() && !array.is_stored()) {
    array.own_elements();
    call_legate(0, std::nullopt, [&] {
      store_small_array(*reinterpret_cast<const legate::LogicalStore*>(handle), array);
    });
  }
  if (!keep) array.drop();
}

// The elements as bytes, for as long as somebody refers to what is returned.
template <void (SmallArray::*GIVE)(), void (SmallArray::*TAKE_BACK)()>
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> bytes_of(nb::handle self) {
  auto* const array = nb::inst_ptr<SmallArray>(self);
  const nb::capsule owner{self.inc_ref().ptr(), [](void* given) noexcept {
                            auto* const back = static_cast<PyObject*>(given);

                            (nb::inst_ptr<SmallArray>(back)->*TAKE_BACK)();
                            Py_DECREF(back);
                          }};

  (array->*GIVE)();
  return {const_cast<char*>(array->elements()), {array->num_bytes()}, owner};
}

// Extents and bytes of an element of each argument.
using Shapes = std::vector<std::pair<std::vector<std::int64_t>, std::int64_t>>;

std::int64_t scratch_bytes_of(const Shapes& roots, const nb::bytes& program) {
  std::vector<RootShape> shapes;

  for (const auto& [extents, itemsize] : roots) shapes.push_back({extents, itemsize});
  return scratch_bytes(shapes, parse_program(program));
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

nb::object call_uncollected(const nb::callable& call) {
  const NoCollection no_collection;

  return call();
}

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

// What keeps an object of Python's; null for None.
std::shared_ptr<void> kept(const nb::object& object) {
  if (object.is_none()) return nullptr;
  return {object.inc_ref().ptr(), [](void* one) {
            if (!Py_IsInitialized()) return;  // its end has begun

            const nb::gil_scoped_acquire acquired;
            Py_DECREF(static_cast<PyObject*>(one));
          }};
}

void bind_small_arrays(nb::module_& module) {
  nb::class_<SmallArray>(module, "SmallArray")
      .def(
          "__init__",
          [](SmallArray* array, std::int64_t itemsize, std::vector<std::int64_t> extents,
             const nb::object& value) {
            new (array) SmallArray{{std::move(extents), itemsize}};
            if (!value.is_none()) set_value(*array, value, false);
          },
          nb::arg("itemsize"), nb::arg("extents"), nb::arg("value") = nb::none())
      .def_prop_ro("valid", &SmallArray::is_valid)
      .def("drop", &SmallArray::drop)
      .def("clear", &SmallArray::clear)
      .def(
          "map",
          [](SmallArray& array, std::uintptr_t address, const nb::object& keeper) {
            array.map(reinterpret_cast<char*>(address), kept(keeper));
          },
          nb::arg("address"), nb::arg("keeper").none())
      .def("unmap", &SmallArray::unmap)
      .def("own", &SmallArray::own)
      .def("expose", &SmallArray::expose)
      .def(
          "put", [](SmallArray& array, const nb::object& value) { set_value(array, value, false); },
          nb::arg("value"))
      .def("adopt", &adopt, nb::arg("value"))
      .def_prop_ro("shown", &SmallArray::is_shown)
      .def("lend", &bytes_of<&SmallArray::lend, &SmallArray::take_back>)
      .def("show", &bytes_of<&SmallArray::show, &SmallArray::hide>)
      .def("value",
           [](SmallArray& array) { return nb::bytes{array.elements(), array.num_bytes()}; });
  module.def("small_array_bytes", &SmallArray::total_bytes);
  module.def("num_given_away", &SmallArray::num_given_away);
  module.def("store_array", &store_array, nb::arg("array"), nb::arg("handle"), nb::arg("keep"));
}

}  // namespace

void bind_submission(nb::module_& module) {
  bind_small_arrays(module);
  module.def(
      "call_with_memory",
      [](nb::handle call) {
        auto made = nb::steal(call_with_memory(call.ptr()));

        if (!made.is_valid()) throw nb::python_error();
        return made;
      },
      nb::arg("call"));
  module.def("run_program", &run_program, nb::arg("arrays"), nb::arg("privileges"),
             nb::arg("program"), nb::arg("first_values"), nb::arg("launch") = 0);
  module.def("submit_program", &submit_program, nb::arg("stores"), nb::arg("privileges"),
             nb::arg("program"), nb::arg("partitioned"), nb::arg("provenance").none(),
             nb::arg("launch") = 0, nb::arg("task") = static_cast<std::int64_t>(PROGRAM_TASK));
  module.def("scratch_bytes", &scratch_bytes_of, nb::arg("roots"), nb::arg("program"));
  module.def("memory_of_kernels", &memory_of_kernels);
  module.def("submit_original", &submit_original);
  module.def("call", &call_legate_method);
  module.def("call_uncollected", &call_uncollected, nb::arg("call"));
  module.def("last_launch", [] { return last_launch; });
  module.def("give_up_launch", &note_made, nb::arg("launch"));
}

}  // namespace legate_diffuse
