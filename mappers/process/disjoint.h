// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "process/at_once.h"

namespace legate_diffuse {

// Whether two views of one root certainly have no element in common.
bool are_disjoint(const LocalOperand& one, const LocalOperand& other);

}  // namespace legate_diffuse
