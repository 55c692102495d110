// SPDX-License-Identifier: Apache-2.0

#pragma once

// What liblegate_diffuse_net.so offers to the bindings, which look it up by name: the net is loaded
// only where a window exists, and the bindings work without it.

#include <cstdint>

extern "C" {

// Called on the thread that owns the window, which is the one that calls this, when a pending
// window has to be submitted. Must not throw. A null pointer disconnects it.
void legate_diffuse_net_set_callback(void (*callback)());

// The first function of Legate that the net needs, defines in its place or calls, and liblegate
// does not have; null if it has all of them. liblegate must have been loaded.
const char* legate_diffuse_net_missing_symbol();

// Says whether operations wait to be submitted.
void legate_diffuse_net_set_pending(bool pending);

// Says whether the calling thread's calls of Legate are the window's own, which need no flush;
// returns what was said before.
bool legate_diffuse_net_set_passing(bool passing);

// How often the calling thread has called Legate's entry points.
std::uint64_t legate_diffuse_net_num_calls();
}
