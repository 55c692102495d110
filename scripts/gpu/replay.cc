// SPDX-License-Identifier: Apache-2.0

// Runs programs as the native part runs them on a GPU (mappers/mapper/gpu_task.cc), without Legate.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "gpu/gpu_kernel.h"
#include "gpu/nest_launcher.h"
#include "program/bases.h"
#include "program/kernel_table.h"
#include "program/program.h"
#include "program/scratch_plan.h"

using namespace legate_diffuse;

namespace {

std::string& failure() {
  static auto* const text = new std::string;
  return *text;
}

// Returns what a function returns, or -1 if it throws.
template <typename Function>
std::int64_t guarded(const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    failure() = error.what();
    return -1;
  }
}

}  // namespace

// An argument of a program: where its first element is, and byte strides.
struct ReplayArgument {
  char* pointer;
  std::int64_t strides[LEGATE_MAX_DIM];
};

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Why the last call returned -1.
EXPORTED const char* replay_failure() {
  return failure().c_str();
}

// Returns the number of a kernel. `code` must outlive the process.
EXPORTED std::int64_t replay_register(const GpuKernelCode* code) {
  return guarded([&]() -> std::int64_t {
    return register_kernel({nullptr, {}, nullptr, std::make_shared<GpuKernel>(*code)});
  });
}

// Tells how many bytes the reductions and the scratch buffers of a program need.
EXPORTED std::int64_t replay_sizes(const std::int64_t* words, std::int64_t size,
                                   std::int64_t* folds, std::int64_t* scratch) {
  return guarded([&]() -> std::int64_t {
    Words all{words, static_cast<std::size_t>(size)};
    const Program program{all};

    *folds = fold_bytes(program.nests);
    *scratch = place_scratch(program.buffers, {}).size;
    return 0;
  });
}

EXPORTED std::int64_t replay_launch(const std::int64_t* words, std::int64_t size,
                                    const ReplayArgument* arguments, std::int64_t num_arguments,
                                    char* folds, char* scratch, Driver::Stream stream) {
  return guarded([&]() -> std::int64_t {
    Words all{words, static_cast<std::size_t>(size)};
    const Program program{all};
    const auto plan = place_scratch(program.buffers, {});
    std::vector<Base> bases;

    for (std::int64_t index = 0; index < num_arguments; ++index) {
      Base base{arguments[index].pointer};

      std::copy_n(arguments[index].strides, LEGATE_MAX_DIM, base.strides.begin());
      bases.push_back(base);
    }
    for (std::size_t index = 0; index < program.buffers.size(); ++index) {
      const auto& buffer = program.buffers[index];

      bases.push_back(
          row_major(scratch + plan.offsets[index], buffer.itemsize, buffer.dim, buffer.extents));
    }
    NestLauncher launcher{bases, static_cast<std::size_t>(num_arguments),
                          prepare_folds(folds, stream), stream};
    launcher.run(program);
    return 0;
  });
}
