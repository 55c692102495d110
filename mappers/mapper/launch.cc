// SPDX-License-Identifier: Apache-2.0

#include "mapper/launch.h"

#include <algorithm>
#include <cstring>

#include "program/tiling.h"

namespace legate_diffuse {

legate::Scalar pack_launch(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program, LaunchHeader header) {
  const auto num_bytes = program.size() * sizeof(std::int64_t);
  std::vector<std::uint8_t> buffer(sizeof(header) + num_bytes + arguments.size());

  header.num_arguments = static_cast<std::int64_t>(arguments.size());
  header.num_words = static_cast<std::int64_t>(program.size());
  std::memcpy(buffer.data(), &header, sizeof(header));
  std::memcpy(buffer.data() + sizeof(header), program.data(), num_bytes);
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + sizeof(header) + num_bytes,
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

bool Launch::is_tiled() const {
  return header.partitioned != 0 && legate_diffuse::is_tiled(words);
}

}  // namespace legate_diffuse
