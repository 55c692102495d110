// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

namespace legate_diffuse {

// Scopes that changed something on which operations depend. A scope can be moved, so its
// implementation identifies it.
class ChangingScopes {
 public:
  static ChangingScopes& instance() {
    static auto* const scopes = new ChangingScopes;
    return *scopes;
  }

  void add(const legate::Scope* scope) {
    const std::lock_guard lock{mutex_};
    scopes_.push_back(key(scope));
  }

  bool remove(const legate::Scope* scope) {
    const std::lock_guard lock{mutex_};
    const auto position = std::remove(scopes_.begin(), scopes_.end(), key(scope));
    const auto found = position != scopes_.end();

    scopes_.erase(position, scopes_.end());
    return found;
  }

 private:
  static const void* key(const legate::Scope* scope) {
    static_assert(sizeof(legate::Scope) == sizeof(void*), "a scope is one owning pointer");
    const void* implementation = nullptr;
    std::memcpy(&implementation, scope, sizeof(implementation));
    return implementation;
  }

  std::mutex mutex_;
  std::vector<const void*> scopes_;
};

}  // namespace legate_diffuse
