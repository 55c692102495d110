// SPDX-License-Identifier: Apache-2.0

// Legate tells Legion that all tilings are disjoint (`Tiling::construct`,
// src/cpp/legate/partitioning/detail/partition/tiling.cc, 26.06), also those that a bloat
// constraint has made, whose tiles overlap. Legion then lets tasks write what others are still
// reading beside their own tiles. And it tells that tilings are complete which begin where the
// store does, but end before it (`Tiling::is_complete_for`). Here tilings get the kind that they
// have.

#include <legion.h>

#include "interposition/symbols.h"

using legate_diffuse::find_member;
using legate_diffuse::real;

namespace {

// Tiles of `extent`, moved by what `transform` has on its diagonal for each of `colors`.
struct Tiles {
  const Legion::DomainTransform& transform;
  const Legion::Domain& extent;
  Legion::Domain colors;

  [[nodiscard]] bool overlap() const {
    for (int dim = 0; dim < extent.get_dim(); ++dim) {
      if (colors.lo()[dim] < colors.hi()[dim] && width(dim) > stride(dim)) return true;
    }
    return false;
  }

  [[nodiscard]] bool cover(const Legion::Domain& whole) const {
    for (int dim = 0; dim < extent.get_dim(); ++dim) {
      const auto leave_gaps = colors.lo()[dim] < colors.hi()[dim] && width(dim) < stride(dim);

      if (leave_gaps || extent.lo()[dim] + colors.lo()[dim] * stride(dim) > whole.lo()[dim] ||
          extent.hi()[dim] + colors.hi()[dim] * stride(dim) < whole.hi()[dim]) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] Legion::coord_t stride(int dim) const {
    return transform.matrix[dim * transform.n + dim];
  }

  [[nodiscard]] Legion::coord_t width(int dim) const {
    return extent.hi()[dim] - extent.lo()[dim] + 1;
  }
};

// Whether each dimension of a color moves its tile along the same one.
bool is_diagonal(const Legion::DomainTransform& transform) {
  for (int row = 0; row < transform.m; ++row) {
    for (int column = 0; column < transform.n; ++column) {
      if (row != column && transform.matrix[row * transform.n + column] != 0) return false;
    }
  }
  return transform.m == transform.n;
}

}  // namespace

Legion::IndexPartition Legion::Runtime::create_partition_by_restriction(
    Context context, IndexSpace parent, IndexSpace colors, DomainTransform transform, Domain extent,
    PartitionKind kind, Color color, const char* provenance) {
  using Create = IndexPartition (Runtime::*)(Context, IndexSpace, IndexSpace, DomainTransform,
                                             Domain, PartitionKind, Color, const char*);
  using FindDomain = Domain (Runtime::*)(Context, IndexSpace);
  static const auto create = real<Create>(&Runtime::create_partition_by_restriction);
  static const auto find_domain = find_member<FindDomain>(
      "_ZN6Legion7Runtime22get_index_space_domainEPNS_8Internal11TaskContextENS_10IndexSpaceE");

  if ((kind == LEGION_DISJOINT_KIND || kind == LEGION_DISJOINT_COMPLETE_KIND) &&
      is_diagonal(transform)) {
    const Tiles tiles{transform, extent, (this->*find_domain)(context, colors)};
    const auto covers = tiles.cover((this->*find_domain)(context, parent));

    if (tiles.overlap()) {
      kind = covers ? LEGION_ALIASED_COMPLETE_KIND : LEGION_ALIASED_INCOMPLETE_KIND;
    } else if (!covers) {
      kind = LEGION_DISJOINT_INCOMPLETE_KIND;
    }
  }
  return (this->*create)(context, parent, colors, transform, extent, kind, color, provenance);
}
