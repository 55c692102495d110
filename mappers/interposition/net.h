// SPDX-License-Identifier: Apache-2.0

#pragma once

// What liblegate_diffuse_net.so offers to the bindings, which look it up by name: the net is loaded
// only where a window exists, and the bindings work without it.

extern "C" {

// Called on the thread that owns the window when a pending window has to be submitted. Must not
// throw. A null pointer disconnects it.
void legate_diffuse_net_set_callback(void (*callback)());

// Says whether operations wait in a window; the calling thread is its owner.
void legate_diffuse_net_set_pending(bool pending);
}
