// SPDX-License-Identifier: Apache-2.0

// The symbols of the library, and the table behind cuGetProcAddress.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "fake_driver.h"

#undef cuGetProcAddress
#undef cuMemFree

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace fake_driver {

namespace {

constexpr std::size_t MAX_MISSING = 512;

std::array<std::string, MAX_MISSING> missing_names;

template <std::size_t NUMBER>
CUresult missing() {
  std::fprintf(stderr, "fake driver: there is no %s\n", missing_names[NUMBER].c_str());
  return CUDA_ERROR_NOT_SUPPORTED;
}

template <std::size_t... NUMBERS>
void* missing_function(std::size_t number, std::index_sequence<NUMBERS...>) {
  constexpr std::array<CUresult (*)(), MAX_MISSING> FUNCTIONS{missing<NUMBERS>...};

  return reinterpret_cast<void*>(FUNCTIONS.at(number));
}

// What is not there fails when it is called, and says so: Realm wants every entry point that it
// might call.
void* find_missing(const std::string& name) {
  static std::size_t count = 0;
  static std::mutex mutex;
  const std::lock_guard lock{mutex};

  missing_names.at(count) = name;
  return missing_function(count++, std::make_index_sequence<MAX_MISSING>{});
}

CUresult get_address(const char* name, void** function, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult* result);

std::unordered_map<std::string, void*> make_table() {
  std::unordered_map<std::string, void*> table{
      {"cuGetProcAddress", reinterpret_cast<void*>(get_address)}};

  for (const auto& entries : {device_entries(), memory_entries(), kernel_entries()}) {
    for (const auto& [name, function] : entries) table.emplace(name, function);
  }
  return table;
}

void* find(std::string name, int version) {
  static const auto table = make_table();
  constexpr int CUDA_13 = 13000;

  if (name.size() > 3 && name[name.size() - 3] == '_' && name[name.size() - 2] == 'v') {
    name.resize(name.size() - 3);
  }
  if (name == "cuCtxGetDevice" && version >= CUDA_13) name += "13";
  const auto found = table.find(name);
  return found == table.end() ? find_missing(name) : found->second;
}

CUresult get_address(const char* name, void** function, int version, cuuint64_t,
                     CUdriverProcAddressQueryResult* result) {
  constexpr int CUDA_12 = 12000;  // which our own calls ask for, and none of Realm's
  const auto* const lacks = std::getenv("FAKE_CUDA_LACKS");

  if (lacks && version == CUDA_12 && std::string{lacks} == name) return CUDA_ERROR_NOT_FOUND;
  *function = find(name, version);
  if (result) *result = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}

template <typename... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  return reinterpret_cast<CUresult (*)(Arguments...)>(find(name, 0))(arguments...);
}

}  // namespace

}  // namespace fake_driver

EXPORTED CUresult cuGetProcAddress(const char* name, void** function, int version,
                                   cuuint64_t flags) {
  return fake_driver::get_address(name, function, version, flags, nullptr);
}
EXPORTED CUresult cuGetProcAddress_v2(const char* name, void** function, int version,
                                      cuuint64_t flags, CUdriverProcAddressQueryResult* result) {
  return fake_driver::get_address(name, function, version, flags, result);
}
// Legate's libraries are linked to these.
EXPORTED CUresult cuInit(unsigned flags) {
  return fake_driver::call("cuInit", flags);
}
EXPORTED CUresult cuDriverGetVersion(int* version) {
  return fake_driver::call("cuDriverGetVersion", version);
}
EXPORTED CUresult cuMemFree_v2(CUdeviceptr address) {
  return fake_driver::call("cuMemFree", address);
}
EXPORTED CUresult cuMemFreeHost(void* memory) {
  return fake_driver::call("cuMemFreeHost", memory);
}
EXPORTED CUresult cuGetErrorName(CUresult error, const char** text) {
  return fake_driver::call("cuGetErrorName", error, text);
}
EXPORTED CUresult cuGetErrorString(CUresult error, const char** text) {
  return fake_driver::call("cuGetErrorString", error, text);
}
