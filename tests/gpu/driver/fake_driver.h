// SPDX-License-Identifier: Apache-2.0

// A driver of CUDA whose device is the CPU: device memory is memory of the process, and whatever
// is submitted to a stream runs before the call returns. It has what Realm and Legate call of a
// driver, and loads the images that tests/codegen/gpu/emulated.py makes. These environment
// variables change it:
//
//   FAKE_CUDA_DEVICES   how many devices there are, default 1
//   FAKE_CUDA_VERSION   what cuDriverGetVersion says, default 13000
//   FAKE_CUDA_SECOND    the major number of the second device's architecture, default 9
//   FAKE_CUDA_LACKS     an entry point that programs do not find, other than Realm
//   FAKE_CUDA_FAIL      CALL:N, the N-th call fails, CALL:N-, all from it on: `load` of an image
//                       that is not Realm's own, or `launch` of a kernel of it
//   FAKE_CUDA_SEED      in which order emulated blocks and threads run: see emulated.py

#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace fake_driver {

// One entry point, by the name that cuGetProcAddress is asked for, without the suffix of a version.
struct Entry {
  const char* name;
  void* function;
};

template <typename Function>
Entry entry(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

inline CUresult succeed() {
  return CUDA_SUCCESS;
}

// The parts of the driver.
std::vector<Entry> device_entries();
std::vector<Entry> memory_entries();
std::vector<Entry> kernel_entries();

// A function of the driver that is called with the parameters of its launches, as cuLaunchKernel
// has them.
using Body = std::function<void(void** parameters, void** extra)>;
void* make_function(Body body);

// Runs one of Realm's own kernels; false if there is no such kernel.
bool run_kernel_of_realm(const char* name, void** parameters);

}  // namespace fake_driver
