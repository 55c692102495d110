// SPDX-License-Identifier: Apache-2.0

#include "memory/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "memory/capacity.h"

namespace legate_diffuse {

namespace {

// As in NumPy (numpy/_core/src/multiarray/alloc.c).
constexpr std::size_t LEAST = std::size_t{1} << 22;
constexpr std::size_t PAGE = 4096;

}  // namespace

void prefer_huge_pages(void* memory, std::size_t num_bytes) {
  if (num_bytes < LEAST) return;

  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto first = (begin + PAGE - 1) / PAGE * PAGE;

  // where there are none, nothing is lost
  (void)madvise(reinterpret_cast<void*>(first), num_bytes - (first - begin), MADV_HUGEPAGE);
}

void prefer_huge_pages_in_legate() {
  const auto least = static_cast<std::size_t>(capacity_of(Realm::Memory::SYSTEM_MEM));

  if (least < LEAST) return;

  std::ifstream mappings{"/proc/self/maps"};

  // Realm does not say where its memory is; nothing else is as large, or it is NumPy's
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream fields{line};
    std::uintptr_t begin = 0, end = 0;
    std::string allowed, offset, drive, inode, path;
    char dash = 0;

    fields >> std::hex >> begin >> dash >> end >> allowed >> offset >> drive >> inode >> path;
    const auto is_anonymous = path.empty() || path == "/memfd:";

    if (is_anonymous && allowed.substr(0, 2) == "rw" && end - begin >= least) {
      prefer_huge_pages(reinterpret_cast<void*>(begin), end - begin);
    }
  }
}

}  // namespace legate_diffuse
