// SPDX-License-Identifier: Apache-2.0

#include "mapper/copy_task.h"

#include <algorithm>
#include <cstdint>

#include "program/elements.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// Nothing in here may throw.
class CopyTask : public legate::LegateTask<CopyTask> {
 public:
  static void cpu_variant(legate::TaskContext context) noexcept {
    const auto store = store_of(context.output(0));
    const auto source = find_elements(store_of(context.input(0)));
    auto target = find_elements(store);

    if (!source || !target) return;

    const auto& from = source->strides;
    const auto* first = source->pointer;
    Nest::Strides extents{};

    for (std::int32_t d = 0; d < store.dim(); ++d) {
      // as tiles may reach beyond arrays
      const auto lower =
          source->is_future ? target->lower[d] : std::max(source->lower[d], target->lower[d]);
      const auto upper =
          source->is_future ? target->upper[d] : std::min(source->upper[d], target->upper[d]);

      if (upper < lower) return;
      extents[d] = upper - lower + 1;
      first += source->is_future ? 0 : (lower - source->lower[d]) * from[d];
      target->pointer += (lower - target->lower[d]) * target->strides[d];
    }

    copy_elements(target->pointer, target->strides.data(), first, from.data(), store.dim(),
                  extents.data(), store.type().size());
  }
  static void omp_variant(legate::TaskContext context) noexcept { cpu_variant(context); }
};

}  // namespace

void register_copy_task(legate::Library library, legate::LocalTaskID id) {
  register_task<CopyTask>(library, legate::TaskConfig{id}, "copy");
}

}  // namespace legate_diffuse
