// SPDX-License-Identifier: Apache-2.0

#include "mapper/launch.h"

#include <algorithm>
#include <cstring>

#include "program/tiling.h"

namespace legate_diffuse {

namespace {

// Words of a schedule: the bands, and for each nest and scratch buffer what it says of them.
std::vector<std::int64_t> pack_schedule(const Schedule& schedule) {
  std::vector<std::int64_t> words;

  if (schedule.bands.empty()) return words;
  for (const auto& [num_nests, block, num_tiles] : schedule.bands) {
    words.insert(words.end(), {num_nests, block, num_tiles});
  }
  for (const auto* const part : {&schedule.shifts, &schedule.begins, &schedule.ends}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  for (const auto& [rows, num_tiles, tiled_rows, seam_begin, seam_rows] : schedule.circular) {
    words.insert(words.end(), {rows, num_tiles, tiled_rows, seam_begin, seam_rows});
  }
  return words;
}

Schedule unpack_schedule(Words& words, std::int64_t num_bands, std::int64_t num_scratch) {
  Schedule schedule;
  std::int64_t num_nests = 0;
  const auto take = [&](std::int64_t count) {
    const auto* const begin = words.take(count);
    return std::vector<std::int64_t>{begin, begin + count};
  };

  for (std::int64_t index = 0; index < num_bands; ++index) {
    const auto& band = schedule.bands.emplace_back(Band{words.take(), words.take(), words.take()});
    num_nests += band.num_nests;
  }
  if (num_bands > 0) {
    schedule.shifts = take(num_nests);
    schedule.begins = take(num_nests);
    schedule.ends = take(num_nests);
    for (std::int64_t index = 0; index < num_scratch; ++index) {
      schedule.circular.push_back(
          {words.take(), words.take(), words.take(), words.take(), words.take()});
    }
  }
  return schedule;
}

}  // namespace

legate::Scalar pack_launch(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program, bool partitioned,
                           const Execution& execution, std::int64_t fold_size) {
  const auto& [schedule, plan, in_store, sharing] = execution;
  auto words = plan.offsets;
  const auto schedule_words = pack_schedule(schedule);

  words.insert(words.end(), schedule_words.begin(), schedule_words.end());
  words.insert(words.end(), program.begin(), program.end());

  const LaunchHeader header{partitioned,
                            static_cast<std::int64_t>(arguments.size()),
                            static_cast<std::int64_t>(plan.offsets.size()),
                            static_cast<std::int64_t>(schedule.bands.size()),
                            static_cast<std::int64_t>(words.size()),
                            plan.size,
                            fold_size,
                            in_store,
                            sharing};
  const auto privileges_offset = sizeof(header) + words.size() * sizeof(std::int64_t);
  std::vector<std::uint8_t> buffer(privileges_offset + arguments.size());

  std::memcpy(buffer.data(), &header, sizeof(header));
  std::memcpy(buffer.data() + sizeof(header), words.data(), words.size() * sizeof(std::int64_t));
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + privileges_offset,
                 [](const Access& access) { return access.privilege; });
  return legate::Scalar{legate::Span<const std::uint8_t>{buffer.data(), buffer.size()}};
}

// Legate packs scalars without regard to their alignment.
Launch::Launch(const legate::Scalar& packed) {
  const auto* const bytes = static_cast<const std::uint8_t*>(packed.ptr());

  std::memcpy(&header, bytes, sizeof(header));
  words.resize(header.num_words);

  const auto num_bytes = words.size() * sizeof(std::int64_t);

  std::memcpy(words.data(), bytes + sizeof(header), num_bytes);
  privileges = bytes + sizeof(header) + num_bytes;
}

Schedule Launch::take_schedule(Words& words) const {
  return unpack_schedule(words, header.num_bands, header.num_scratch);
}

bool Launch::is_tiled() const {
  return header.partitioned != 0 && legate_diffuse::is_tiled(words);
}

}  // namespace legate_diffuse
