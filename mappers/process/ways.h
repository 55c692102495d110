// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "process/front.h"

namespace legate_diffuse {

// What native code does in front of functions of Python's, by names of ours; null if there is none.
Way find_way(std::string_view name);

}  // namespace legate_diffuse
