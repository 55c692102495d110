// SPDX-License-Identifier: Apache-2.0

// Devices, contexts, streams and events. Streams and events have nothing to do.

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fake_driver.h"

namespace fake_driver {

namespace {

constexpr int MAX_DEVICES = 8;

std::array<char, MAX_DEVICES> contexts;
thread_local std::vector<CUcontext> current;

int number(const char* variable, int otherwise) {
  const auto* const value = std::getenv(variable);

  return value ? std::atoi(value) : otherwise;
}

CUcontext context_of(CUdevice device) {
  return reinterpret_cast<CUcontext>(&contexts[device]);
}

CUdevice device_of(CUcontext context) {
  return context ? static_cast<CUdevice>(reinterpret_cast<char*>(context) - contexts.data()) : 0;
}

CUcontext current_context() {
  return current.empty() ? nullptr : current.back();
}

CUresult driver_version(int* version) {
  *version = number("FAKE_CUDA_VERSION", 13000);
  return CUDA_SUCCESS;
}

CUresult device_count(int* count) {
  *count = number("FAKE_CUDA_DEVICES", 1);
  return CUDA_SUCCESS;
}

CUresult device(CUdevice* found, int ordinal) {
  *found = ordinal;
  return CUDA_SUCCESS;
}

CUresult device_name(char* name, int size, CUdevice) {
  std::strncpy(name, "no GPU", size);
  return CUDA_SUCCESS;
}

CUresult device_uuid(CUuuid* uuid, CUdevice device) {
  *uuid = {};
  uuid->bytes[0] = static_cast<char>(device + 1);
  return CUDA_SUCCESS;
}

CUresult total_memory(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}

CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = device == 1 ? number("FAKE_CUDA_SECOND", 9) : 9;
      break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
      *value = 1;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 2;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      break;
    // Realm derives bandwidths from these two, and asserts that they are positive.
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      *value = 1000;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult no_peer(int* can_access, CUdevice, CUdevice) {
  *can_access = 0;
  return CUDA_SUCCESS;
}

CUresult retain_context(CUcontext* context, CUdevice device) {
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult context_state(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

CUresult push_context(CUcontext context) {
  current.push_back(context);
  return CUDA_SUCCESS;
}

CUresult pop_context(CUcontext* context) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}

CUresult set_context(CUcontext context) {
  if (!current.empty()) current.pop_back();
  if (context) current.push_back(context);
  return CUDA_SUCCESS;
}

CUresult get_context(CUcontext* context) {
  *context = current_context();
  return CUDA_SUCCESS;
}

CUresult device_of_current(CUdevice* device) {
  *device = device_of(current_context());
  return CUDA_SUCCESS;
}

// As cuCtxGetDevice is from CUDA 13 on.
CUresult device_of_context(CUdevice* device, CUcontext context) {
  *device = device_of(context ? context : current_context());
  return CUDA_SUCCESS;
}

std::atomic<long> synchronizations{0};

CUresult synchronize() {
  ++synchronizations;
  return CUDA_SUCCESS;
}

CUresult context_flags(unsigned* flags) {
  *flags = 0;
  return CUDA_SUCCESS;
}

CUresult context_limit(std::size_t* value, CUlimit) {
  *value = 1024;
  return CUDA_SUCCESS;
}

CUresult stream_priorities(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -1;
  return CUDA_SUCCESS;
}

CUresult create_stream(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(new char);
  return CUDA_SUCCESS;
}

CUresult create_stream_with_priority(CUstream* stream, unsigned flags, int) {
  return create_stream(stream, flags);
}

CUresult add_callback(CUstream stream, CUstreamCallback function, void* data, unsigned) {
  function(stream, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

CUresult launch_host_function(CUstream, CUhostFn function, void* data) {
  function(data);
  return CUDA_SUCCESS;
}

CUresult create_event(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new char);
  return CUDA_SUCCESS;
}

CUresult elapsed_time(float* milliseconds, CUevent, CUevent) {
  *milliseconds = 1e-3F;
  return CUDA_SUCCESS;
}

CUresult error_text(CUresult, const char** text) {
  *text = "an error that a test asked for";
  return CUDA_SUCCESS;
}

}  // namespace

std::vector<Entry> device_entries() {
  // cuCtxGetDevice is another function from CUDA 13 on: see `find` in entry_points.cc
  return {entry(
              "cuInit", +[](unsigned) { return CUDA_SUCCESS; }),
          entry("cuDriverGetVersion", driver_version),
          entry("cuDeviceGetCount", device_count),
          entry("cuDeviceGet", device),
          entry("cuDeviceGetName", device_name),
          entry("cuDeviceGetUuid", device_uuid),
          entry("cuDeviceTotalMem", total_memory),
          entry("cuDeviceGetAttribute", device_attribute),
          entry("cuDeviceCanAccessPeer", no_peer),
          entry("cuDevicePrimaryCtxRetain", retain_context),
          entry("cuDevicePrimaryCtxRelease", succeed),
          entry("cuDevicePrimaryCtxSetFlags", succeed),
          entry("cuDevicePrimaryCtxGetState", context_state),
          entry("cuCtxPushCurrent", push_context),
          entry("cuCtxPopCurrent", pop_context),
          entry("cuCtxSetCurrent", set_context),
          entry("cuCtxGetCurrent", get_context),
          entry("cuCtxGetDevice", device_of_current),
          entry("cuCtxGetDevice13", device_of_context),
          entry("cuCtxGetFlags", context_flags),
          entry("cuCtxGetLimit", context_limit),
          entry("cuCtxSetLimit", succeed),
          entry("cuCtxGetStreamPriorityRange", stream_priorities),
          entry("cuCtxSynchronize", synchronize),
          entry("cuCtxRecordEvent", synchronize),
          entry("cuCtxSetSharedMemConfig", succeed),
          entry("cuCtxSetCacheConfig", succeed),
          entry("cuCtxEnablePeerAccess", succeed),
          entry("cuStreamCreate", create_stream),
          entry("cuStreamCreateWithPriority", create_stream_with_priority),
          entry("cuStreamDestroy", succeed),
          entry("cuStreamSynchronize", succeed),
          entry("cuStreamWaitEvent", succeed),
          entry("cuStreamQuery", succeed),
          entry("cuStreamAddCallback", add_callback),
          entry("cuLaunchHostFunc", launch_host_function),
          entry("cuEventCreate", create_event),
          entry("cuEventDestroy", succeed),
          entry("cuEventRecord", succeed),
          entry("cuEventQuery", succeed),
          entry("cuEventSynchronize", succeed),
          entry("cuEventElapsedTime", elapsed_time),
          entry("cuGetErrorName", error_text),
          entry("cuGetErrorString", error_text)};
}

}  // namespace fake_driver

// How often all streams of a device were waited for.
extern "C" __attribute__((visibility("default"))) long fake_driver_synchronizations() {
  return fake_driver::synchronizations;
}
