// SPDX-License-Identifier: Apache-2.0

#include "mapper/guide.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "versions.h"

namespace legate_diffuse {

namespace {

using Extents = std::vector<std::uint64_t>;

// The stores live until Legate ends: there is one for each shape of arrays.
class Guides {
 public:
  static Guides& instance() {
    static auto* const guides = new Guides;
    return *guides;
  }

  const legate::LogicalStore& find(const Extents& extents) {
    const auto found = stores_.find(extents);

    return found != stores_.end() ? found->second : make(extents);
  }

 private:
  static constexpr std::size_t MOST = 256;

  Guides() {
    legate::register_shutdown_callback([]() noexcept { instance().stores_.clear(); });
  }

  const legate::LogicalStore& make(const Extents& extents) {
    auto* const runtime = legate::Runtime::get_runtime();

    if (stores_.size() >= MOST) stores_.clear();
    const auto store = runtime->create_store(legate::Shape{extents}, legate::uint8());

    runtime->issue_fill(store, legate::Scalar{std::uint8_t{0}});
    return stores_.emplace(extents, store).first->second;
  }

  std::map<Extents, legate::LogicalStore> stores_;
};

}  // namespace

// `PartitionManager::compute_launch_shape`
// (src/cpp/legate/runtime/detail/partition_manager.cc, 26.1) compares the product of the extents
// that it may divide with a number of elements.
std::optional<Guide> find_guide(const std::vector<std::int64_t>& extents, std::int64_t dim) {
  const auto undivided = undivided_extent();
  const auto rows = extents[dim];
  const auto volume =
      std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});

  if (rows == 0 || rows > undivided || volume <= undivided) return std::nullopt;
  const std::int64_t across = dim == 0 ? 1 : 0;
  auto columns = undivided / rows + 1;

  const auto pieces =
      static_cast<std::int64_t>(legate::Runtime::get_runtime()->get_machine().count());

  // tiles that end where arrays do are those that other tasks have
  while (columns < extents[across] && extents[across] % columns != 0) ++columns;
  if (columns > extents[across] || rows < columns * pieces) return std::nullopt;
  Extents own(extents.size(), 1);
  Extents factors{extents.begin(), extents.end()};

  own[dim] = static_cast<std::uint64_t>(rows);
  own[across] = static_cast<std::uint64_t>(columns);
  factors[dim] = 1;
  factors[across] = static_cast<std::uint64_t>(extents[across] / columns);
  return Guide{Guides::instance().find(own), std::move(factors)};
}

}  // namespace legate_diffuse
