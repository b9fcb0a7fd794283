"""Which topics of a real cluster the log cleaner compacts: those that were created like that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.cleanup_policies import CleanupPolicies
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence

STATE = "everything/stopped"


def is_compacted(evidence: Evidence, topic: str) -> bool | None:
    request = ReadRequest(topics=frozenset({topic}))
    ((_, copies), *_) = evidence.topic_partitions(request)
    return CleanupPolicies(evidence=evidence).is_compacted(copies[0])


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("compacted", True),
        ("tombstones-gone", True),
        ("__consumer_offsets", True),
        ("codec-none", False),
        ("records-deleted", False),
    ],
)
def test_a_topic_has_the_policy_that_it_was_created_with(topic: str, expected: bool) -> None:
    assert is_compacted(discover([str(captures.path(STATE))]), topic) is expected


def test_without_the_metadata_log_nothing_is_known() -> None:
    partition = captures.path(STATE) / "broker-0" / "compacted-0"
    assert is_compacted(discover([str(partition)]), "compacted") is None
