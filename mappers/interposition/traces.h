// SPDX-License-Identifier: Apache-2.0

#pragma once

// Legion analyses each launch anew: on which others it depends, where its arrays are, what has to
// be copied. A trace remembers all that of a sequence of operations, and takes it again where the
// sequence repeats. Nobody but Legion's caller knows that it does.
//
// A launch of ours on several points, and what Legate adds behind it (a number is extracted at each
// point, and all are combined), is such a sequence. All that Legion analyses of it is in its first
// operation, which is seen here before Legion has it. So a launch that was the same three times has
// a trace from then on, and no other has its number. Legion itself finds out whether what was
// there before it is the same, too, and if not analyses it anew.
//
// Source: W. Lee et al., "Dynamic Tracing: Memoization of Task Graphs for Dynamic Task-Based
// Runtimes", SC 2018. Which launches repeat is known here; R. Yadav et al., "Automatic Tracing in
// Task-Based Runtime Systems", ASPLOS 2025, finds out from all operations.

#include <cstdint>

namespace legate_diffuse {

// The program has traces of its own: launches have none from now on. Legion never uses the
// program's traces again (see traces.cc), and must not, as it does not have what they were made
// for: launches that were fused, on arrays that have moved.
void leave_traces_to_program();

// A function that is defined for traces and that Legion need not have: then there are none.
const char* name_of_private_symbol();

}  // namespace legate_diffuse

extern "C" {

// Launches have a trace once they were issued so often; 0 lets none have one.
void legate_diffuse_net_set_repeats(std::uint64_t repeats);

// Says that what the calling thread submits next is one launch of a task, which Legion knows by its
// number. Legate adds the same behind it whenever `kind` is the same.
void legate_diffuse_net_begin_launch(std::uint64_t kind, std::uint32_t task);

// Says that Legion has all of the launch; returns whether it has a trace.
bool legate_diffuse_net_end_launch();
}
