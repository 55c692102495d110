// SPDX-License-Identifier: Apache-2.0

#include "mapper/store_task.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "mapper/library.h"
#include "memory/spare_memory.h"
#include "program/elements.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// The bytes of an array at most that is passed to its task by value. Legate copies them some times.
constexpr std::size_t MOST_PASSED = 384 * 1024;

// Stores the elements that its scalar has, or, if there are two, those at the address that it has,
// and gives their memory back. Nothing in here may throw.
class StoreTask : public legate::LegateTask<StoreTask> {
 public:
  static void cpu_variant(legate::TaskContext context) noexcept {
    const auto store = context.output(0).data();
    const auto value = context.scalar(0);
    const auto* source = static_cast<const char*>(value.ptr());
    void* memory = nullptr;

    if (context.num_scalars() > 1) {
      memory = reinterpret_cast<void*>(value.value<std::uint64_t>());
      source = static_cast<const char*>(memory);
    }
    if (const auto target = find_elements(store)) {
      Nest::Strides extents;

      for (std::size_t d = 0; d < extents.size(); ++d) {
        extents[d] = target->upper[d] - target->lower[d] + 1;
      }
      copy_elements(target->pointer, target->strides.data(), source,
                    row_major_strides(store.dim(), extents.data(), target->itemsize).data(),
                    store.dim(), extents.data(), store.type().size());
    }
    if (memory) {
      SpareMemory::instance().free(memory, context.scalar(1).value<std::uint64_t>());
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

  if (array.num_bytes() == 0) return array.set_stored();
  if (store.has_scalar_storage()) {
    runtime->issue_fill(as_argument(store), legate::Scalar{store.type(), array.elements(), true});
    return array.set_stored();
  }

  const auto is_passed = array.num_bytes() <= MOST_PASSED;
  // what is passed on is freed there
  const auto* elements = is_passed ? array.elements() : array.own_elements();
  std::unique_ptr<char, decltype(&std::free)> copy{nullptr, &std::free};

  if (!is_passed && !array.may_be_given_away()) {
    copy.reset(static_cast<char*>(SpareMemory::instance().allocate(array.num_bytes())));
    if (!copy) throw std::bad_alloc{};
    std::memcpy(copy.get(), elements, array.num_bytes());
    elements = copy.get();
  }

  auto task = runtime->create_task(library(), STORE_TASK, {1});

  task.add_output(store);
  if (is_passed) {
    task.add_scalar_arg(legate::Scalar{legate::Span<const std::uint8_t>{
        reinterpret_cast<const std::uint8_t*>(elements), array.num_bytes()}});
  } else {
    task.add_scalar_arg(legate::Scalar{reinterpret_cast<std::uint64_t>(elements)});
    task.add_scalar_arg(legate::Scalar{std::uint64_t{array.num_bytes()}});
  }
  runtime->submit(std::move(task));
  std::ignore = copy.release();
  is_passed ? array.set_stored() : array.give_away();
}

}  // namespace legate_diffuse
