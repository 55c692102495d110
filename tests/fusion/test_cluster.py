# SPDX-License-Identifier: Apache-2.0
"""Which of the clusters before it a task joins."""

from __future__ import annotations

from window_reader import parse

from legate_diffuse.fusion.cluster import Cluster, last_to_join
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


def test_a_task_joins_the_last_cluster_that_it_can_reach() -> None:
    first, second, again, last = parse(WINDOW).tasks
    clusters = [cluster(first), cluster(second)]

    def refuse(one: Cluster) -> str | None:
        return None if one is clusters[0] else "it is not the first"

    assert last_to_join(clusters, [again], refuse) is clusters[0]
    # it reads what the second cluster has written
    assert last_to_join(clusters, [last], refuse) == "it is not the first"
    assert last_to_join([], [again], refuse) is None


def test_the_last_cluster_says_why_a_task_joins_none() -> None:
    first, second, again, _ = parse(WINDOW).tasks
    clusters = [cluster(first), cluster(second)]
    reasons = dict(zip(map(id, clusters), ("first", "second"), strict=True))
    joined = last_to_join(clusters, [again], lambda one: reasons[id(one)])
    assert joined == "second"
