// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace legate_diffuse {

// Returns the address of a function of liblegate, or of a library that it needs, in the process;
// null if there is none.
void* find_symbol(const char* mangled_name);

// As find_symbol, but ends the process with a message if there is no such function.
void* require_symbol(const char* mangled_name);

// The names of all functions that this library defines for others to find.
std::vector<const char*> exported_symbols();

template <typename Function>
Function find_function(const char* mangled_name) {
  return reinterpret_cast<Function>(require_symbol(mangled_name));
}

// A member function, by its mangled name. The first word of a pointer to a non-virtual member is
// the function's address (Itanium C++ ABI).
template <typename Function>
Function find_member(const char* mangled_name) {
  auto* const address = require_symbol(mangled_name);
  Function member{};

  std::memcpy(&member, &address, sizeof(address));
  return member;
}

// The real counterpart of a function defined below, given as a pointer to it or to a member.
template <typename Function>
Function real(Function ours) {
  void* address = nullptr;
  Dl_info info{};

  std::memcpy(&address, &ours, sizeof(address));
  if (!dladdr(address, &info) || !info.dli_sname) std::abort();
  return find_member<Function>(info.dli_sname);
}

}  // namespace legate_diffuse
