// SPDX-License-Identifier: Apache-2.0

#include "mapper/store_task.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "mapper/library.h"
#include "program/elements.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// Copies elements in row-major order to where a store has them; returns the first one that is left.
const char* copy_elements(const char* source, const Elements& target, std::int32_t dim,
                          std::int32_t d, char* to, std::size_t itemsize) {
  if (d == dim) {
    std::memcpy(to, source, itemsize);
    return source + itemsize;
  }
  for (auto index = target.lower[d]; index <= target.upper[d]; ++index) {
    source = copy_elements(source, target, dim, d + 1, to, itemsize);
    to += target.strides[d];
  }
  return source;
}

// The task's only scalar is the array's value. Nothing in here may throw.
class StoreTask : public legate::LegateTask<StoreTask> {
 public:
  static void cpu_variant(legate::TaskContext context) noexcept {
    const auto store = context.output(0).data();
    const auto value = context.scalar(0);

    if (const auto target = find_elements(store)) {
      copy_elements(static_cast<const char*>(value.ptr()), *target, store.dim(), 0, target->pointer,
                    store.type().size());
    }
  }
  static void omp_variant(legate::TaskContext context) noexcept { cpu_variant(context); }
};

}  // namespace

void register_store_task(legate::Library library, legate::LocalTaskID id) {
  register_task<StoreTask>(library, legate::TaskConfig{id}, "small array");
}

void store_small_array(const legate::LogicalStore& store, SmallArray& array) {
  auto* const runtime = legate::Runtime::get_runtime();

  if (array.num_bytes() == 0) return;
  if (store.has_scalar_storage()) {
    runtime->issue_fill(as_argument(store), legate::Scalar{store.type(), array.elements(), true});
    return;
  }
  auto task = runtime->create_task(library(), STORE_TASK, {1});

  task.add_output(store);
  task.add_scalar_arg(legate::Scalar{legate::Span<const std::uint8_t>{
      reinterpret_cast<const std::uint8_t*>(array.elements()), array.num_bytes()}});
  runtime->submit(std::move(task));
}

}  // namespace legate_diffuse
