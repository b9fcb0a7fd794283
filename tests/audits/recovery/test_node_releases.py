"""Releases by metadata version: 7 is 3.3-IV3, 15 is 3.7-IV0, 21 is 3.9-IV0 (MetadataVersion)."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.recovery.node_releases import (
    KAFKA_3_7,
    KAFKA_3_9,
    UNKNOWN,
    NodeReleases,
)

HALF_WAY = {1: 21, 2: 7}
"""Node 1 of a cluster of 3.3.2 runs 3.9.1 already."""


@pytest.mark.parametrize(
    ("releases", "before", "since"),
    [
        (UNKNOWN, False, False),
        (NodeReleases(finalised=7, supported={1: 7, 2: 7}), True, False),
        (NodeReleases(finalised=7, supported=HALF_WAY), False, False),
        (NodeReleases(finalised=7, supported={1: 21, 2: 21}), False, True),
        (NodeReleases(finalised=21), False, True),
        (NodeReleases(finalised=7), False, False),
        (NodeReleases(supported={1: 0}), True, False),
    ],
)
def test_a_release_is_known_only_if_every_node_shows_it(
    releases: NodeReleases, *, before: bool, since: bool
) -> None:
    assert (releases.before(KAFKA_3_9), releases.since(KAFKA_3_9)) == (before, since)
    assert releases.before(KAFKA_3_7) <= releases.before(KAFKA_3_9)


@pytest.mark.parametrize(("version", "is_since"), [(14, False), (15, True), (16, True)])
def test_3_7_begins_with_its_first_metadata_version(version: int, is_since: bool) -> None:
    releases = NodeReleases(finalised=7, supported={1: version, 2: version})
    assert (releases.since(KAFKA_3_7), releases.before(KAFKA_3_7)) == (is_since, not is_since)
