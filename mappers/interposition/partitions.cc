// SPDX-License-Identifier: Apache-2.0

// Legate tells Legion that all tilings are disjoint (`Tiling::construct`,
// src/cpp/legate/partitioning/detail/partition/tiling.cc, 26.06), also those that a bloat
// constraint has made, whose tiles overlap. Legion then lets tasks write what others are still
// reading beside their own tiles. Here such partitions get the kind that they have.

#include <legion.h>

#include "interposition/symbols.h"

using legate_diffuse::real;

namespace {

// Whether neighbouring tiles have points in common.
bool overlap(const Legion::DomainTransform& transform, const Legion::Domain& extent) {
  for (int dim = 0; dim < extent.get_dim(); ++dim) {
    const auto stride = transform.matrix[dim * transform.n + dim];
    if (extent.hi()[dim] - extent.lo()[dim] + 1 > stride) return true;
  }
  return false;
}

}  // namespace

Legion::IndexPartition Legion::Runtime::create_partition_by_restriction(
    Context context, IndexSpace parent, IndexSpace colors, DomainTransform transform, Domain extent,
    PartitionKind kind, Color color, const char* provenance) {
  using Function = IndexPartition (Runtime::*)(Context, IndexSpace, IndexSpace, DomainTransform,
                                               Domain, PartitionKind, Color, const char*);
  static const auto create = real<Function>(&Runtime::create_partition_by_restriction);

  if (transform.m == transform.n && overlap(transform, extent)) {
    if (kind == LEGION_DISJOINT_COMPLETE_KIND) {
      kind = LEGION_ALIASED_COMPLETE_KIND;
    } else if (kind == LEGION_DISJOINT_KIND) {
      kind = LEGION_ALIASED_KIND;
    }
  }
  return (this->*create)(context, parent, colors, transform, extent, kind, color, provenance);
}
