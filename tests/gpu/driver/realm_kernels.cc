// SPDX-License-Identifier: Apache-2.0

// What the kernels of Realm compute that it fills and copies with: those in `cuda_memcpy.cu` of
// Realm, whose parameters `realm/cuda/cuda_memcpy.h` describes.

#include <realm/cuda/cuda_memcpy.h>

#include <cstdio>
#include <cstring>

#include "fake_driver.h"

namespace fake_driver {

namespace {

using namespace Realm::Cuda;

// Where point `index` of a box lies in an array, counted in elements: the first dimension runs
// fastest, and `strides` are the extents of the array.
template <std::size_t N>
std::size_t position(std::size_t index, const std::size_t* extents, const std::size_t* strides) {
  std::size_t found = 0;
  std::size_t step = 1;

  for (std::size_t d = 0; d + 1 < N; ++d) {
    found += step * (index % extents[d]);
    index /= extents[d];
    step *= strides[d];
  }
  return found + step * index;
}

template <std::size_t N>
void fill(const void* parameters, std::size_t itemsize) {
  const auto& fill = *static_cast<const AffineFillInfo<N>*>(parameters);

  for (std::size_t number = 0; number < fill.num_rects; ++number) {
    const auto& box = fill.subrects[number];

    for (std::size_t index = 0; index < box.volume; ++index) {
      const auto offset = position<N>(index, box.extents, box.strides) * itemsize;

      std::memcpy(reinterpret_cast<char*>(box.addr) + offset, fill.fill_value, itemsize);
    }
  }
}

template <std::size_t N>
void copy(const void* parameters, std::size_t itemsize) {
  const auto& copy = *static_cast<const AffineCopyInfo<N>*>(parameters);

  for (std::size_t number = 0; number < copy.num_rects; ++number) {
    const auto& box = copy.subrects[number];

    for (std::size_t index = 0; index < box.volume; ++index) {
      const auto from = position<N>(index, box.extents, box.src.strides) * itemsize;
      const auto to = position<N>(index, box.extents, box.dst.strides) * itemsize;

      std::memcpy(reinterpret_cast<char*>(box.dst.addr) + to,
                  reinterpret_cast<const char*>(box.src.addr) + from, itemsize);
    }
  }
}

void transpose(const void* parameters) {
  const auto& how = *static_cast<const MemcpyTransposeInfo<std::size_t>*>(parameters);
  const auto offset = [](std::size_t x, std::size_t y, const std::size_t* strides) {
    return x * strides[1] + y * strides[0];
  };

  for (std::size_t y = 0; y < how.extents[1]; ++y) {
    for (std::size_t x = 0; x < how.extents[2]; ++x) {
      std::memcpy(reinterpret_cast<char*>(how.dst) + offset(x, y, how.dst_strides),
                  reinterpret_cast<const char*>(how.src) + offset(x, y, how.src_strides),
                  how.extents[0]);
    }
  }
}

using Batch = void (*)(const void*, std::size_t);

bool run_batch(const char* name, const char* format, const Batch (&batches)[3],
               const void* parameters) {
  int dim = 0;
  std::size_t bits = 0;

  if (std::sscanf(name, format, &dim, &bits) != 2) return false;
  batches[dim - 1](parameters, bits / 8);
  return true;
}

}  // namespace

bool run_kernel_of_realm(const char* name, void** parameters) {
  constexpr Batch FILLS[] = {fill<1>, fill<2>, fill<3>};
  constexpr Batch COPIES[] = {copy<1>, copy<2>, copy<3>};

  if (std::strncmp(name, "memcpy_transpose", std::strlen("memcpy_transpose")) == 0) {
    transpose(parameters[0]);
    return true;
  }
  return run_batch(name, "fill_affine_batch%dD_%zu", FILLS, parameters[0]) ||
         run_batch(name, "memcpy_affine_batch%dD_%zu", COPIES, parameters[0]);
}

}  // namespace fake_driver
