// SPDX-License-Identifier: Apache-2.0

#include "gpu/driver.h"

#include <dlfcn.h>

#include <optional>

namespace legate_diffuse {

namespace {

// The first version that has all entry points, and the one whose they are.
constexpr int LEAST_VERSION = 12000;

constexpr Driver::Result SUCCESS = 0;

// From CUdevice_attribute.
constexpr int CAPABILITY_MAJOR = 75;
constexpr int CAPABILITY_MINOR = 76;

using GetAddress = Driver::Result (*)(const char* name, void** function, int version,
                                      std::uint64_t flags);

GetAddress find_get_address() {
  auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
  auto* const found = library ? dlsym(library, "cuGetProcAddress") : nullptr;

  if (!found) throw DriverError{"there is no driver of CUDA"};
  return reinterpret_cast<GetAddress>(found);
}

template <typename Function>
void find(GetAddress get_address, const char* name, Function& function) {
  void* found = nullptr;

  if (get_address(name, &found, LEAST_VERSION, 0) != SUCCESS || !found) {
    throw DriverError{std::string{"the driver of CUDA lacks "} + name + ", install a newer one"};
  }
  function = reinterpret_cast<Function>(found);
}

Driver load() {
  const auto get_address = find_get_address();
  Driver found{};
  int version = 0;

  find(get_address, "cuDriverGetVersion", found.get_version);
  find(get_address, "cuGetErrorString", found.get_error_text);
  check(found, found.get_version(&version), "cuDriverGetVersion");
  if (version < LEAST_VERSION) {
    throw DriverError{"the driver of CUDA is too old, install one for CUDA 12 or newer"};
  }
  find(get_address, "cuInit", found.init);
  find(get_address, "cuDeviceGetCount", found.count_devices);
  find(get_address, "cuDeviceGet", found.get_device);
  find(get_address, "cuDeviceGetAttribute", found.get_attribute);
  find(get_address, "cuDevicePrimaryCtxGetState", found.get_context_state);
  find(get_address, "cuDevicePrimaryCtxRetain", found.retain_context);
  find(get_address, "cuDevicePrimaryCtxRelease", found.release_context);
  find(get_address, "cuCtxPushCurrent", found.push_context);
  find(get_address, "cuCtxPopCurrent", found.pop_context);
  find(get_address, "cuLibraryLoadData", found.load_library);
  find(get_address, "cuLibraryUnload", found.unload_library);
  find(get_address, "cuLibraryGetKernel", found.get_kernel);
  find(get_address, "cuKernelGetFunction", found.get_function);
  find(get_address, "cuLaunchKernel", found.launch);
  find(get_address, "cuMemcpyAsync", found.copy);
  find(get_address, "cuMemsetD32Async", found.fill_words);
  check(found, found.init(0), "cuInit");
  return found;
}

}  // namespace

std::string Driver::text(Result error) const {
  const char* found = nullptr;

  if (get_error_text(error, &found) != SUCCESS || !found) return std::to_string(error);
  return found;
}

void check(const Driver& driver, Driver::Result result, const char* what) {
  if (result != SUCCESS) throw DriverError{std::string{what} + ": " + driver.text(result)};
}

const Driver& driver() {
  static const auto found = load();
  return found;
}

std::string architecture() {
  const auto& cuda = driver();
  std::string found;
  int count = 0;

  check(cuda, cuda.count_devices(&count), "cuDeviceGetCount");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Driver::Device device{};
    int major = 0;
    int minor = 0;

    check(cuda, cuda.get_device(&device, ordinal), "cuDeviceGet");
    check(cuda, cuda.get_attribute(&major, CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
    check(cuda, cuda.get_attribute(&minor, CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
    const auto one = "sm_" + std::to_string(major) + std::to_string(minor);
    if (!found.empty() && one != found) {
      throw DriverError{
          "the GPUs are of different architectures, choose some by "
          "CUDA_VISIBLE_DEVICES"};
    }
    found = one;
  }
  if (found.empty()) throw DriverError{"the driver of CUDA finds no GPU"};
  return found;
}

}  // namespace legate_diffuse
