// SPDX-License-Identifier: Apache-2.0

// Memory of the device and of the host, copies and fills.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "device_memory.h"
#include "fake_driver.h"

namespace fake_driver {

namespace {

constexpr std::size_t ALIGNMENT = 4096;

char* at(CUdeviceptr address) {
  return reinterpret_cast<char*>(address);
}

CUresult allocate_host(void** memory, std::size_t size, unsigned) {
  *memory = std::aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocate_host_plainly(void** memory, std::size_t size) {
  return allocate_host(memory, size, 0);
}

CUresult free_host(void* memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult allocate(CUdeviceptr* address, std::size_t size) {
  auto* const memory = map_memory(size);

  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  guard_memory(memory, size);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

// The host may touch it as well.
CUresult allocate_managed(CUdeviceptr* address, std::size_t size, unsigned) {
  return allocate_host(reinterpret_cast<void**>(address), size, 0);
}

CUresult allocate_on_stream(CUdeviceptr* address, std::size_t size, CUstream) {
  return allocate(address, size);
}

CUresult free_memory(CUdeviceptr address) {
  unmap_memory(at(address), 0);
  return CUDA_SUCCESS;
}

CUresult free_on_stream(CUdeviceptr address, CUstream) {
  return free_memory(address);
}

CUresult device_pointer(CUdeviceptr* address, void* memory, unsigned) {
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult free_and_total(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}

CUresult pointer_attributes(unsigned count, CUpointer_attribute*, void** values, CUdeviceptr) {
  std::for_each(values, values + count, [](void* value) { std::memset(value, 0, sizeof(int)); });
  return CUDA_SUCCESS;
}

CUresult allocation_granularity(std::size_t* bytes, const CUmemAllocationProp*,
                                CUmemAllocationGranularity_flags) {
  *bytes = std::size_t{1} << 21;
  return CUDA_SUCCESS;
}

// Addresses have memory from the beginning.
CUresult reserve_addresses(CUdeviceptr* address, std::size_t size, std::size_t, CUdeviceptr,
                           unsigned long long) {
  *address = reinterpret_cast<CUdeviceptr>(map_memory(size));
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult free_addresses(CUdeviceptr address, std::size_t size) {
  unmap_memory(at(address), size);
  return CUDA_SUCCESS;
}

// What is all of a handle: whether the memory is the device's.
constexpr CUmemGenericAllocationHandle OF_DEVICE = 1;
constexpr CUmemGenericAllocationHandle OF_HOST = 2;

CUresult create_memory(CUmemGenericAllocationHandle* handle, std::size_t,
                       const CUmemAllocationProp* properties, unsigned long long) {
  *handle = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? OF_DEVICE : OF_HOST;
  return CUDA_SUCCESS;
}

CUresult map_created(CUdeviceptr address, std::size_t size, std::size_t,
                     CUmemGenericAllocationHandle handle, unsigned long long) {
  if (handle == OF_DEVICE) guard_memory(at(address), size);
  return CUDA_SUCCESS;
}

CUresult address_range(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  if (base) *base = address;
  if (size) *size = ALIGNMENT;
  return CUDA_SUCCESS;
}

CUresult memory_handle(CUipcMemHandle* handle, CUdeviceptr) {
  *handle = {};
  return CUDA_SUCCESS;
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  const Access access;

  std::memmove(at(to), at(from), size);
  return CUDA_SUCCESS;
}

CUresult copy_on_stream(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream) {
  return copy(to, from, size);
}

// The row `y` of the plane `z` of one side of a copy.
char* row(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t offset) {
  return (type == CU_MEMORYTYPE_HOST ? static_cast<char*>(const_cast<void*>(host)) : at(device)) +
         offset;
}

CUresult copy_3d(const CUDA_MEMCPY3D* how, CUstream) {
  const Access access;

  for (std::size_t z = 0; z < how->Depth; ++z) {
    for (std::size_t y = 0; y < how->Height; ++y) {
      const auto from = ((how->srcZ + z) * how->srcHeight + how->srcY + y) * how->srcPitch;
      const auto to = ((how->dstZ + z) * how->dstHeight + how->dstY + y) * how->dstPitch;

      std::memcpy(row(how->dstMemoryType, how->dstHost, how->dstDevice, to + how->dstXInBytes),
                  row(how->srcMemoryType, how->srcHost, how->srcDevice, from + how->srcXInBytes),
                  how->WidthInBytes);
    }
  }
  return CUDA_SUCCESS;
}

CUresult copy_2d(const CUDA_MEMCPY2D* how, CUstream) {
  const Access access;

  for (std::size_t y = 0; y < how->Height; ++y) {
    const auto from = (how->srcY + y) * how->srcPitch + how->srcXInBytes;
    const auto to = (how->dstY + y) * how->dstPitch + how->dstXInBytes;

    std::memcpy(row(how->dstMemoryType, how->dstHost, how->dstDevice, to),
                row(how->srcMemoryType, how->srcHost, how->srcDevice, from), how->WidthInBytes);
  }
  return CUDA_SUCCESS;
}

template <typename Value>
CUresult fill(CUdeviceptr address, Value value, std::size_t count, CUstream) {
  const Access access;

  std::fill_n(reinterpret_cast<Value*>(address), count, value);
  return CUDA_SUCCESS;
}

template <typename Value>
CUresult fill_2d(CUdeviceptr address, std::size_t pitch, Value value, std::size_t width,
                 std::size_t height, CUstream stream) {
  for (std::size_t y = 0; y < height; ++y) fill(address + y * pitch, value, width, stream);
  return CUDA_SUCCESS;
}

}  // namespace

std::vector<Entry> memory_entries() {
  return {entry("cuMemAlloc", allocate),
          entry("cuMemAllocManaged", allocate_managed),
          entry("cuMemAllocAsync", allocate_on_stream),
          entry("cuMemAllocHost", allocate_host_plainly),
          entry("cuMemHostAlloc", allocate_host),
          entry("cuMemFree", free_memory),
          entry("cuMemFreeAsync", free_on_stream),
          entry("cuMemFreeHost", free_host),
          entry("cuMemHostGetDevicePointer", device_pointer),
          entry("cuMemHostRegister", succeed),
          entry("cuMemHostUnregister", succeed),
          entry("cuMemGetInfo", free_and_total),
          entry("cuMemGetAddressRange", address_range),
          entry("cuMemGetAllocationGranularity", allocation_granularity),
          entry("cuMemAddressReserve", reserve_addresses),
          entry("cuMemAddressFree", free_addresses),
          entry("cuMemCreate", create_memory),
          entry("cuMemMap", map_created),
          entry("cuMemUnmap", succeed),
          entry("cuMemSetAccess", succeed),
          entry("cuMemRelease", succeed),
          entry("cuMemAdvise", succeed),
          entry("cuMemPrefetchAsync", succeed),
          entry("cuIpcGetMemHandle", memory_handle),
          entry("cuIpcCloseMemHandle", succeed),
          entry("cuPointerGetAttributes", pointer_attributes),
          entry("cuMemcpy", copy),
          entry("cuMemcpyHtoD", copy),
          entry("cuMemcpyDtoH", copy),
          entry("cuMemcpyAsync", copy_on_stream),
          entry("cuMemcpyDtoDAsync", copy_on_stream),
          entry("cuMemcpyDtoHAsync", copy_on_stream),
          entry("cuMemcpyHtoDAsync", copy_on_stream),
          entry("cuMemcpy2DAsync", copy_2d),
          entry("cuMemcpy3DAsync", copy_3d),
          entry("cuMemsetD8Async", fill<unsigned char>),
          entry("cuMemsetD16Async", fill<unsigned short>),
          entry("cuMemsetD32Async", fill<unsigned>),
          entry("cuMemsetD2D8Async", fill_2d<unsigned char>),
          entry("cuMemsetD2D16Async", fill_2d<unsigned short>),
          entry("cuMemsetD2D32Async", fill_2d<unsigned>)};
}

}  // namespace fake_driver
