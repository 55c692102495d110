// SPDX-License-Identifier: Apache-2.0

// Modules and libraries, and the launches of their kernels. An image is an ELF object that can be
// loaded, or one of Realm's, whose kernels are known by their names.

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "device_memory.h"
#include "fake_driver.h"

namespace fake_driver {

namespace {

using Launch = const char* (*)(const char* function, const void* parameters, unsigned grid_x,
                               unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned seed);

// A module or a library; `launch` is null if it is Realm's.
struct Image {
  Launch launch;
};

// `body` is empty if it is one of an image.
struct Function {
  const Image* image;
  std::string name;
  Body body;
};

// Calls of a kind, the n-th of which fails if that was asked for, or all from the n-th on.
class Calls {
 public:
  explicit Calls(const char* kind) {
    const auto* const asked = std::getenv("FAKE_CUDA_FAIL");
    const auto length = std::strlen(kind);

    if (asked && std::strncmp(asked, kind, length) == 0 && asked[length] == ':') {
      first_ = std::atoi(asked + length + 1);
      last_ = asked[std::strlen(asked) - 1] == '-' ? LONG_MAX : first_;
    }
  }

  bool fails() {
    const auto number = ++count_;

    return first_ <= number && number <= last_;
  }
  [[nodiscard]] long count() const { return count_; }

 private:
  std::atomic<long> count_{0};
  long first_{0};
  long last_{-1};
};

Calls loads{"load"};
Calls launches{"launch"};

bool is_object(const void* image) {
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);

  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_X86_64;
}

// The library that an image is, loaded from a file without a name; null if it cannot be.
void* open_object(const void* image) {
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);
  const std::size_t size = header.e_shoff + header.e_shnum * header.e_shentsize;
  const auto file = memfd_create("image", 0);
  void* library = nullptr;

  if (write(file, image, size) == static_cast<ssize_t>(size)) {
    const auto path = "/proc/self/fd/" + std::to_string(file);
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) std::fprintf(stderr, "fake driver: %s\n", dlerror());
  }
  // An open file keeps its number, by which the loader would know the next one.
  return library;
}

template <typename Handle>
CUresult load(Handle* handle, const void* image) {
  auto* const made = new Image{};

  if (is_object(image)) {
    if (loads.fails()) return CUDA_ERROR_INVALID_IMAGE;
    auto* const library = open_object(image);
    if (!library) return CUDA_ERROR_INVALID_IMAGE;
    made->launch = reinterpret_cast<Launch>(dlsym(library, "legate_diffuse_emulated_launch"));
    if (!made->launch) return CUDA_ERROR_INVALID_IMAGE;
  }
  *handle = reinterpret_cast<Handle>(made);
  return CUDA_SUCCESS;
}

CUresult load_module(CUmodule* module, const void* image) {
  return load(module, image);
}

CUresult load_module_with(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return load(module, image);
}

CUresult load_library(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                      CUlibraryOption*, void**, unsigned) {
  return load(library, image);
}

template <typename Handle, typename Container>
CUresult find_function(Handle* function, Container container, const char* name) {
  *function = reinterpret_cast<Handle>(new Function{reinterpret_cast<Image*>(container), name, {}});
  return CUDA_SUCCESS;
}

CUresult function_of_kernel(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

CUresult function_attribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}

CUresult best_block(int* grid, int* block, CUfunction, CUoccupancyB2DSize, std::size_t, int) {
  *grid = 2;
  *block = 256;
  return CUDA_SUCCESS;
}

CUresult best_block_with_flags(int* grid, int* block, CUfunction function, CUoccupancyB2DSize size,
                               std::size_t shared, int limit, unsigned) {
  return best_block(grid, block, function, size, shared, limit);
}

CUresult active_blocks(int* blocks, CUfunction, int, std::size_t) {
  *blocks = 2;
  return CUDA_SUCCESS;
}

unsigned seed() {
  const auto* const asked = std::getenv("FAKE_CUDA_SEED");

  return asked ? static_cast<unsigned>(std::atoi(asked)) : 0;
}

// Whether kernels are not run, for programs whose launches are to be seen and no results.
bool is_idle() {
  static const bool found = std::getenv("FAKE_CUDA_IDLE") != nullptr;
  return found;
}

CUresult launch_kernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream,
                       void** parameters, void** extra) {
  const auto& function = *reinterpret_cast<const Function*>(handle);
  const auto* const name = function.name.c_str();
  const Access access;

  if (function.body) {
    function.body(parameters, extra);
    return CUDA_SUCCESS;
  }
  if (!function.image->launch) {
    if (run_kernel_of_realm(name, parameters)) return CUDA_SUCCESS;
    std::fprintf(stderr, "fake driver: there is no kernel %s\n", name);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (launches.fails()) return CUDA_ERROR_LAUNCH_FAILED;
  if (is_idle()) return CUDA_SUCCESS;
  // An image emulates one grid at a time.
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  const auto* const error = function.image->launch(name, parameters[0], grid_x, grid_y, grid_z,
                                                   block_x, block_y, block_z, seed());
  if (error) std::fprintf(stderr, "fake driver: %s: %s\n", name, error);
  return error ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

}  // namespace

void* make_function(Body body) {
  return new Function{nullptr, {}, std::move(body)};
}

std::vector<Entry> kernel_entries() {
  return {entry("cuModuleLoadData", load_module),
          entry("cuModuleLoadDataEx", load_module_with),
          entry("cuModuleGetFunction", find_function<CUfunction, CUmodule>),
          entry("cuModuleUnload", succeed),
          entry("cuLibraryLoadData", load_library),
          entry("cuLibraryGetKernel", find_function<CUkernel, CUlibrary>),
          entry("cuLibraryUnload", succeed),
          entry("cuKernelGetFunction", function_of_kernel),
          entry("cuFuncGetAttribute", function_attribute),
          entry("cuFuncSetAttribute", succeed),
          entry("cuFuncSetCacheConfig", succeed),
          entry("cuFuncSetSharedMemConfig", succeed),
          entry("cuOccupancyMaxPotentialBlockSize", best_block),
          entry("cuOccupancyMaxPotentialBlockSizeWithFlags", best_block_with_flags),
          entry("cuOccupancyMaxActiveBlocksPerMultiprocessor", active_blocks),
          entry("cuLaunchKernel", launch_kernel)};
}

}  // namespace fake_driver

// How many images that are not Realm's were loaded, and how many of their kernels launched.
extern "C" __attribute__((visibility("default"))) long fake_driver_loads() {
  return fake_driver::loads.count();
}
extern "C" __attribute__((visibility("default"))) long fake_driver_launches() {
  return fake_driver::launches.count();
}
