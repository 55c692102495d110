# SPDX-License-Identifier: Apache-2.0
"""Which of the clusters before it a task may join."""

from __future__ import annotations

from window_reader import parse

from legate_diffuse.fusion.cluster import Cluster, reachable
from legate_diffuse.ir import IndexTask

WINDOW = """
store %0 int8 live
store %1 int8 live
store %2 int8 live
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %2.2 shape 0 many [:]
COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
COPY(int8) -> (int8) shape 0: write %2.2, read %0.0
COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
COPY(int8) -> (int8) shape 0: write %1.1, read %2.2
"""


def cluster(task: IndexTask) -> Cluster:
    found = Cluster()
    found.take(task)
    return found


def test_tasks_reach_the_clusters_behind_the_last_with_which_they_conflict() -> None:
    first, second, again, last = parse(WINDOW).tasks
    clusters = [cluster(first), cluster(second)]
    assert list(reachable(clusters, [again])) == [clusters[1], clusters[0]]
    # it reads what the second cluster has written
    assert list(reachable(clusters, [last])) == [clusters[1]]
    assert list(reachable(clusters, [again, last])) == [clusters[1]]
    assert not list(reachable([], [again]))
