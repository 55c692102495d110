// SPDX-License-Identifier: Apache-2.0

#include <legion.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/bindings.h"
#include "gpu/driver.h"
#include "mapper/library.h"
#include "places.h"
#include "process/extremes.h"
#include "process/intervals.h"
#include "process/nonzero.h"
#include "process/python.h"
#include "process/scan.h"
#include "program/kernel_table.h"

namespace nb = nanobind;

namespace {

// From now on kernels run on GPUs. Returns why they cannot, or an empty text.
std::string use_gpus() {
  try {
    legate_diffuse::architecture();
  } catch (const legate_diffuse::DriverError& error) {
    return error.what();
  }
  legate_diffuse::run_kernels_on_gpus();
  return {};
}

}  // namespace

NB_MODULE(_native, module) {
  using namespace legate_diffuse;

  // Arrays may outlive the interpreter.
  nb::set_leak_warnings(false);
  module.doc() = "Submission of programs. Import legate.core first.";
  nb::class_<Places>(module, "Places")
      .def(nb::init<>())
      .def("find", &Places::find, nb::arg("kind"))
      .def("learn", &Places::learn, nb::arg("code"), nb::arg("instruction"), nb::arg("place"))
      .def("learn_depth", &Places::learn_depth, nb::arg("kind"), nb::arg("depth"));
  module.def("start", &start_library, nb::call_guard<nb::gil_scoped_release>());
  module.def("use_gpus", &use_gpus);
  module.def("is_in_task", [] { return Legion::Runtime::has_context(); });
  bind_flush(module);
  bind_submission(module);
  bind_extremes(module);
  bind_intervals(module);
  bind_nonzero(module);
  bind_scan(module);
  bind_tasks(module);
  add_operations(module);
}
