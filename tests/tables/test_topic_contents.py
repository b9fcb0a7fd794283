"""Records in several partitions, counted in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.tables.topic_contents import TopicContents


def test_only_earlier_partitions_of_the_topic_count() -> None:
    contents = TopicContents()
    assert contents.look(np.array([5, 9, 5], np.int64)) == 0
    contents.begin_partition()
    assert contents.look(np.array([9, 7], np.int64)) == 1
    assert contents.look(np.array([7, 5], np.int64)) == 1
    contents.begin_partition()
    assert contents.look(np.array([7], np.int64)) == 1
    contents.begin_topic()
    assert contents.look(np.array([7], np.int64)) == 0


@pytest.mark.parametrize(("most", "one_in"), [(40_000, 1), (10_000, 4)])
def test_beyond_the_limit_every_second_one_is_an_estimate(most: int, one_in: int) -> None:
    """Half of 20,000 records are in both partitions: 10,000, give or take four deviations."""
    random = np.random.default_rng(7)
    first = random.integers(0, 2**63 - 1, 20_000)
    second = np.concatenate([first[::2], random.integers(0, 2**63 - 1, 10_000)])
    contents = TopicContents(most)
    for part in np.array_split(first, 7):
        contents.look(part)
    contents.begin_partition()
    found = sum(contents.look(part) for part in np.array_split(second, 7))
    assert contents.one_in == one_in
    assert found == pytest.approx(10_000, abs=0 if one_in == 1 else 4 * np.sqrt(10_000 * one_in))
