// SPDX-License-Identifier: Apache-2.0

// Realm combines instances on a GPU with kernels that it asks the CUDA runtime for, which cannot
// work on this driver. So this library must be loaded globally before Realm, and changes reduction
// operators when they are registered: their kernels become functions of this driver's, which do
// what the operators do on CPUs.

#include <dlfcn.h>
#include <realm.h>
#include <realm/cuda/cuda_module.h>

#include <cstdint>

#include "fake_driver.h"

namespace fake_driver {

namespace {

using OnCpu = void (*)(void*, std::size_t, const void*, std::size_t, std::size_t, const void*);

// The parameters of the kernels in realm/cuda/cuda_redop.h.
struct Parameters {
  std::uintptr_t left;
  std::size_t left_stride;
  std::uintptr_t right;
  std::size_t right_stride;
  std::size_t count;
};

void* make_kernel(OnCpu combine) {
  return make_function([combine](void** parameters, void** extra) {
    Parameters given{};

    if (parameters) {
      given = {
          *static_cast<std::uintptr_t*>(parameters[0]), *static_cast<std::size_t*>(parameters[1]),
          *static_cast<std::uintptr_t*>(parameters[2]), *static_cast<std::size_t*>(parameters[3]),
          *static_cast<std::size_t*>(parameters[4])};
    } else {
      // CU_LAUNCH_PARAM_BUFFER_POINTER comes first
      given = *static_cast<const Parameters*>(extra[1]);
    }
    combine(reinterpret_cast<void*>(given.left), given.left_stride,
            reinterpret_cast<const void*>(given.right), given.right_stride, given.count, nullptr);
  });
}

// In the place of cudaGetFuncBySymbol.
int same_function(void** function, void* symbol) {
  *function = symbol;
  return 0;
}

}  // namespace

}  // namespace fake_driver

namespace Realm {

__attribute__((visibility("default"))) bool Runtime::register_reduction(
    Event& event, ReductionOpID id, const ReductionOpUntyped* constant) {
  using namespace fake_driver;
  using Register = bool (*)(Runtime*, Event&, ReductionOpID, const ReductionOpUntyped*);

  auto* const operation = const_cast<ReductionOpUntyped*>(constant);
  auto* const realm = dlopen("librealm-legate.so.25", RTLD_NOLOAD | RTLD_NOW);
  const auto original = reinterpret_cast<Register>(
      dlsym(realm, "_ZN5Realm7Runtime18register_reductionERNS_5EventEiPKNS_18ReductionOpUntypedE"));

  operation->cuda_apply_excl_fn = make_kernel(operation->cpu_apply_excl_fn);
  operation->cuda_apply_nonexcl_fn = make_kernel(operation->cpu_apply_nonexcl_fn);
  operation->cuda_fold_excl_fn = make_kernel(operation->cpu_fold_excl_fn);
  operation->cuda_fold_nonexcl_fn = make_kernel(operation->cpu_fold_nonexcl_fn);
  operation->cudaGetFuncBySymbol_fn = reinterpret_cast<void*>(same_function);
  return original(this, event, id, operation);
}

// Legate has kernels of its own for some operators, of which nothing is known here.
__attribute__((visibility("default"))) bool Cuda::CudaModule::register_reduction(
    Event& event, const CudaRedOpDesc*, std::size_t) {
  event = Event{};
  return true;
}

}  // namespace Realm
