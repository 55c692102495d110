// SPDX-License-Identifier: Apache-2.0

#pragma once

// What liblegate_diffuse_net.so offers to the bindings, which look it up by name: the net is loaded
// only where a window exists, and the bindings work without it.

extern "C" {

// Called on the thread that owns the window when a pending window has to be submitted. Must not
// throw. A null pointer disconnects it.
void legate_diffuse_net_set_callback(void (*callback)());

// The first function of Legate that the net needs, defines in its place or calls, and liblegate
// does not have; null if it has all of them. liblegate must have been loaded.
const char* legate_diffuse_net_missing_symbol();

// Says whether operations wait in a window; the calling thread is its owner.
void legate_diffuse_net_set_pending(bool pending);
}
