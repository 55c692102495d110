// SPDX-License-Identifier: Apache-2.0

#include "mapper/scratch.h"

#include <realm.h>

#include <optional>

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
    if (size > largest_) return nullptr;
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
    const auto memories = Realm::Machine::MemoryQuery{Realm::Machine::get_machine()}
                              .only_kind(kernels_run_on_gpus() ? Realm::Memory::GPU_FB_MEM
                                                               : Realm::Memory::SYSTEM_MEM)
                              .local_address_space();
    if (const auto memory = memories.first(); memory.exists()) {
      largest_ = static_cast<std::int64_t>(memory.capacity()) / SHARE;
    }
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
  std::int64_t largest_{};
  int idle_{};
};

}  // namespace

char* aligned(void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto over = address % SCRATCH_ALIGNMENT;

  return static_cast<char*>(pointer) + (over > 0 ? SCRATCH_ALIGNMENT - over : 0);
}

ScratchChoice choose_scratch(std::int64_t size) {
  if (size <= MAX_KEPT_SCRATCH) {
    ScratchStore::instance().skip();
    return {kernels_run_on_gpus() ? ScratchPlace::BUFFER : ScratchPlace::THREAD, nullptr};
  }
  const auto* const store = ScratchStore::instance().find(size + SCRATCH_ALIGNMENT);
  return {store ? ScratchPlace::STORE : ScratchPlace::BUFFER, store};
}

char* find_scratch(const legate::TaskContext& context, ScratchPlace place, std::int64_t size) {
  switch (place) {
    case ScratchPlace::THREAD:
      return ThreadScratch{size}.get();  // it is kept
    case ScratchPlace::STORE:
      return aligned(find_elements(context.output(context.num_outputs() - 1).data())->pointer);
    // Legate's buffers have its default alignment.
    case ScratchPlace::BUFFER:
      break;
  }
  return aligned(legate::create_buffer<char>(size + SCRATCH_ALIGNMENT).ptr(0));
}

}  // namespace legate_diffuse
