// SPDX-License-Identifier: Apache-2.0

#include "gpu/gpu_kernel.h"

#include <cstdio>
#include <cstdlib>

namespace legate_diffuse {

namespace {

// Calls a function with each context that is in use as the current one. Those are the primary ones,
// as Realm makes them.
template <typename Function>
void visit_contexts(const Driver& cuda, const Function& function) {
  int count = 0;

  check(cuda, cuda.count_devices(&count), "cuDeviceGetCount");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Driver::Device device{};
    Driver::Context context{};
    unsigned flags = 0;
    int is_active = 0;

    check(cuda, cuda.get_device(&device, ordinal), "cuDeviceGet");
    check(cuda, cuda.get_context_state(device, &flags, &is_active), "cuDevicePrimaryCtxGetState");
    if (is_active == 0) continue;
    check(cuda, cuda.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuda, cuda.push_context(context), "cuCtxPushCurrent");
    try {
      function();
    } catch (...) {
      cuda.pop_context(&context);
      cuda.release_context(device);
      throw;
    }
    check(cuda, cuda.pop_context(&context), "cuCtxPopCurrent");
    check(cuda, cuda.release_context(device), "cuDevicePrimaryCtxRelease");
  }
}

}  // namespace

// What fails once is tried again: Python takes an exception that does not come again for one from
// outside (launch/failure.py).
GpuKernel::GpuKernel(const GpuKernelCode& code) : code_{code} {
  try {
    load();
  } catch (const DriverError&) {
    load();
  }
}

void GpuKernel::load() {
  const auto& cuda = driver();

  check(cuda, cuda.load_library(&library_, code_.image, nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cuLibraryLoadData");
  try {
    find_function(cuda);
  } catch (...) {
    cuda.unload_library(library_);
    throw;
  }
}

void GpuKernel::find_function(const Driver& cuda) {
  check(cuda, cuda.get_kernel(&kernel_, library_, code_.name), "cuLibraryGetKernel");
  // The driver loads lazily: what it refuses it is to refuse now, while the original tasks can run
  // instead.
  visit_contexts(cuda, [&] {
    Driver::Function function{};

    check(cuda, cuda.get_function(&function, kernel_), "cuKernelGetFunction");
  });
}

GpuKernel::~GpuKernel() {
  driver().unload_library(library_);
}

void GpuKernel::launch(GridLaunch& launch, Driver::Address partials, Driver::Address tickets,
                       Driver::Stream stream) const {
  auto* const words = launch.parameters.data();
  // A parameter is aligned to 16 bytes on the device, wherever it lies here.
  void* parameters[] = {words};
  // The driver takes a kernel of a library for a function of the current context.
  auto* const function = reinterpret_cast<Driver::Function>(kernel_);
  const auto& [grid_x, grid_y, grid_z] = launch.grid;

  if (launch.folds) {
    words[GpuKernelCode::PARTIALS] = static_cast<std::int64_t>(partials);
    words[GpuKernelCode::TICKETS] = static_cast<std::int64_t>(tickets);
  }
  check(driver(),
        driver().launch(function, grid_x, grid_y, grid_z, launch.block[0], launch.block[1], 1,
                        static_cast<unsigned>(launch.shared_bytes), stream, parameters, nullptr),
        "cuLaunchKernel");
}

void end_program(const char* what, const DriverError& error) {
  std::fprintf(stderr, "legate_diffuse: %s, so the program ends (%s)\n", what, error.what());
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace legate_diffuse
