// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

struct CUstream_st;

namespace legate_diffuse {

// What is called of CUDA's driver, with the types that its header has, which no build needs.
struct Driver {
  using Result = int;
  using Device = int;
  using Address = unsigned long long;
  using Stream = CUstream_st*;
  using Context = struct CUctx_st*;
  using Library = struct CUlib_st*;
  using Kernel = struct CUkern_st*;
  using Function = struct CUfunc_st*;

  Result (*init)(unsigned flags);
  Result (*get_version)(int* version);
  Result (*get_error_text)(Result error, const char** text);
  Result (*count_devices)(int* count);
  Result (*get_device)(Device* device, int ordinal);
  Result (*get_attribute)(int* value, int attribute, Device device);
  Result (*get_context_state)(Device device, unsigned* flags, int* active);
  Result (*retain_context)(Context* context, Device device);
  Result (*release_context)(Device device);
  Result (*push_context)(Context context);
  Result (*pop_context)(Context* context);
  Result (*load_library)(Library* library, const void* image, int* jit_options, void** jit_values,
                         unsigned num_jit_options, int* options, void** values,
                         unsigned num_options);
  Result (*unload_library)(Library library);
  Result (*get_kernel)(Kernel* kernel, Library library, const char* name);
  Result (*get_function)(Function* function, Kernel kernel);
  Result (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   Stream stream, void** parameters, void** extra);
  Result (*copy)(Address to, Address from, std::size_t size, Stream stream);
  Result (*fill_words)(Address to, unsigned value, std::size_t count, Stream stream);

  // What an error means, in the driver's words.
  [[nodiscard]] std::string text(Result error) const;
};

// A call of the driver failed; the message says which, and why.
class DriverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws DriverError if a call did not succeed.
void check(const Driver& driver, Driver::Result result, const char* what);

// The driver of this process. Throws DriverError if there is none that has all of this.
const Driver& driver();

// The architecture that all GPUs of this process have, such as "sm_90". Throws DriverError.
std::string architecture();

}  // namespace legate_diffuse
