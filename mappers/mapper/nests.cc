// SPDX-License-Identifier: Apache-2.0

#include "mapper/nests.h"

namespace legate_diffuse {

Base base_of(const Elements& elements) {
  Base base{elements.pointer, elements.strides};

  for (std::size_t d = 0; d < elements.lower.size(); ++d) {
    base.origin -= elements.lower[d] * elements.strides[d];
  }
  return base;
}

void run_nests(Words words, std::int64_t num_nests, const Schedule& schedule, TeamRunner& runner) {
  if (schedule.bands.empty()) {
    for (std::int64_t nest = 0; nest < num_nests; ++nest) runner.run(words);
  }
  std::int64_t first = 0;
  for (const auto& band : schedule.bands) {
    if (band.block > 0) {
      runner.run_band(words, schedule, band, first);
    } else {
      for (std::int64_t nest = 0; nest < band.num_nests; ++nest) runner.run(words);
    }
    first += band.num_nests;
  }
}

}  // namespace legate_diffuse
