/* SPDX-License-Identifier: Apache-2.0 */

/* A libcuda.so.1 for machines without an NVIDIA driver. The Legate wheels are linked to the driver
 * even when they run on CPUs only. With this library loaded before them they find a driver without
 * a device. It must never be loaded where a real driver exists. */

#include <stddef.h>
#include <string.h>

typedef void (*Function)(void);

enum {
  SUCCESS = 0,           /* CUDA_SUCCESS */
  ERROR_NO_DEVICE = 100, /* CUDA_ERROR_NO_DEVICE */
};

/* Realm takes any other result for a driver with at least one device. */
int cuInit(unsigned int flags) {
  (void)flags;
  return ERROR_NO_DEVICE;
}

int cuGetErrorName(int error, const char** name) {
  (void)error;
  *name = "CUDA_ERROR_NO_DEVICE";
  return SUCCESS;
}

int cuGetErrorString(int error, const char** description) {
  (void)error;
  *description = "no CUDA-capable device is detected";
  return SUCCESS;
}

int cuMemFreeHost(void* pointer) {
  (void)pointer;
  return SUCCESS;
}

int cuMemFree_v2(unsigned long long pointer) {
  (void)pointer;
  return SUCCESS;
}

/* Every other entry point, whatever its parameters. */
static int no_device(void) {
  return ERROR_NO_DEVICE;
}

int cuGetProcAddress(const char* symbol, void** function, int version, unsigned long long flags) {
  static const struct {
    const char* name;
    Function function;
  } known[] = {
      {"cuInit", (Function)cuInit},
      {"cuGetErrorName", (Function)cuGetErrorName},
      {"cuGetErrorString", (Function)cuGetErrorString},
      {"cuMemFreeHost", (Function)cuMemFreeHost},
      {"cuMemFree", (Function)cuMemFree_v2},
      {"cuGetProcAddress", (Function)cuGetProcAddress},
  };
  Function found = (Function)no_device;

  (void)version;
  (void)flags;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    if (strcmp(symbol, known[i].name) == 0) found = known[i].function;
  }
  *(Function*)function = found;
  return SUCCESS;
}
