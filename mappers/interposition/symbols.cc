// SPDX-License-Identifier: Apache-2.0

#include "interposition/symbols.h"

#include <link.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace legate_diffuse {

namespace {

int save_path_of_legate(dl_phdr_info* info, std::size_t /*size*/, void* result) {
  const std::string_view path{info->dlpi_name};

  if (path.substr(path.rfind('/') + 1).rfind("liblegate.so", 0) != 0) return 0;
  *static_cast<std::string*>(result) = path;
  return 1;
}

}  // namespace

void* find_symbol(const char* mangled_name) {
  static void* const legate = [] {
    std::string path;
    dl_iterate_phdr(save_path_of_legate, &path);
    return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  }();

  return legate ? dlsym(legate, mangled_name) : nullptr;
}

void* require_symbol(const char* mangled_name) {
  auto* const symbol = find_symbol(mangled_name);

  if (!symbol) {
    std::fprintf(stderr, "legate_diffuse: liblegate has no symbol %s\n", mangled_name);
    std::abort();
  }
  return symbol;
}

std::vector<const char*> exported_symbols() {
  Dl_info info{};
  const link_map* map = nullptr;
  const char* strings = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const std::uint32_t* table = nullptr;
  std::vector<const char*> names;

  if (!dladdr1(reinterpret_cast<void*>(&exported_symbols), &info,
               const_cast<void**>(reinterpret_cast<const void**>(&map)), RTLD_DL_LINKMAP)) {
    return names;
  }
  for (const auto* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto* const address = reinterpret_cast<const void*>(entry->d_un.d_ptr);

    if (entry->d_tag == DT_STRTAB) strings = static_cast<const char*>(address);
    if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_GNU_HASH) table = static_cast<const std::uint32_t*>(address);
  }
  // The hash table lists what is defined, in chains whose last link is odd: the numbers of buckets,
  // of the first symbol and of the words of a filter, its shift, the filter, the buckets (the first
  // symbol of each, or 0), the chains.
  const auto num_buckets = table[0];
  const auto first_symbol = table[1];
  const auto* const buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(*table));
  const auto* const chains = buckets + num_buckets;

  for (std::uint32_t bucket = 0; bucket < num_buckets; ++bucket) {
    auto symbol = buckets[bucket];

    if (symbol == 0) continue;
    do {
      names.push_back(strings + symbols[symbol].st_name);
    } while ((chains[symbol++ - first_symbol] & 1) == 0);
  }
  return names;
}

}  // namespace legate_diffuse
