// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "gpu/driver.h"
#include "gpu/grid.h"
#include "gpu/kernel_code.h"

namespace legate_diffuse {

// A kernel that the driver has loaded for all GPUs of this process.
class GpuKernel {
 public:
  // `code` must outlive this. Throws DriverError.
  explicit GpuKernel(const GpuKernelCode& code);
  ~GpuKernel();
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  [[nodiscard]] const GpuKernelCode& code() const { return code_; }

  // Launches it; `partials` and `tickets` are memory for a launch that folds.
  void launch(GridLaunch& launch, Driver::Address partials, Driver::Address tickets,
              Driver::Stream stream) const;

 private:
  void load();
  void find_function(const Driver& cuda);

  const GpuKernelCode& code_;
  Driver::Library library_{};
  Driver::Kernel kernel_{};
};

// Ends the program, which is no more right than its GPU: a task cannot say that it has failed.
[[noreturn]] void end_program(const char* what, const DriverError& error);

}  // namespace legate_diffuse
