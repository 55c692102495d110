// SPDX-License-Identifier: Apache-2.0

#include "mapper/scratch.h"

#include <algorithm>
#include <optional>

#include "memory/capacity.h"
#include "program/elements.h"
#include "program/kernel_table.h"
#include "program/scratch_plan.h"
#include "threads/program_runner.h"

namespace legate_diffuse {

namespace {

// A store that tasks use as scratch memory, one after the other. With a buffer that Legate makes
// for one task, the tasks after it are not mapped before it has run, which costs a millisecond or
// more. So only what would take a large share of the memory is in such buffers.
class ScratchStore {
 public:
  static ScratchStore& instance() {
    static auto* const store = new ScratchStore;
    return *store;
  }

  // Returns a store of at least `size` bytes, or null if a buffer should be made.
  const legate::LogicalStore* find(std::int64_t size) {
    if (size > memory_of_kernels() / SHARE) return nullptr;
    if (size > size_ || is_idle(size)) {
      const auto extent = static_cast<std::uint64_t>(size);

      store_ = legate::Runtime::get_runtime()->create_store(legate::Shape{extent}, legate::uint8());
      size_ = size;
    }
    return &*store_;
  }

  // Called where a task needs none.
  void skip() {
    if (size_ > 0 && is_idle(0)) drop();
  }

  void drop() {
    store_.reset();
    size_ = 0;
  }

 private:
  static constexpr int PATIENCE = 64;       // tasks that use less than half of the store
  static constexpr std::int64_t SHARE = 8;  // of the memory, which a store may take

  ScratchStore() {
    legate::register_shutdown_callback([]() noexcept { instance().drop(); });
  }

  bool is_idle(std::int64_t size) {
    idle_ = size < size_ / 2 ? idle_ + 1 : 0;
    if (idle_ < PATIENCE) return false;
    idle_ = 0;
    return true;
  }

  std::optional<legate::LogicalStore> store_;
  std::int64_t size_{};
  int idle_{};
};

}  // namespace

char* aligned(void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto over = address % SCRATCH_ALIGNMENT;

  return static_cast<char*>(pointer) + (over > 0 ? SCRATCH_ALIGNMENT - over : 0);
}

const legate::LogicalStore* find_scratch_store(std::int64_t size) {
  if (!kernels_run_on_gpus()) return nullptr;
  if (size <= MAX_SCRATCH_IN_POOL) {
    ScratchStore::instance().skip();
    return nullptr;
  }
  return ScratchStore::instance().find(size + SCRATCH_ALIGNMENT);
}

char* scratch_in_store(const legate::TaskContext& context) {
  return aligned(find_elements(context.output(context.num_outputs() - 1).data())->pointer);
}

std::int64_t memory_of_kernels() {
  static const auto bytes = kernels_run_on_gpus()
                                ? capacity_of(Realm::Memory::GPU_FB_MEM)
                                : std::max(capacity_of(Realm::Memory::SYSTEM_MEM),
                                           capacity_of(Realm::Memory::SOCKET_MEM));  // of OpenMP
  return bytes;
}

}  // namespace legate_diffuse
