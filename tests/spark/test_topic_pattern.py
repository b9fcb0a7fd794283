"""``subscribePattern`` selects topics by a pattern of Java's, see ``tables/java_pattern``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from tests.spark.rows import failure

if TYPE_CHECKING:
    from pathlib import Path

    from tests.spark.rows import Read


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    """One record each in two topics, in Kafka's internal topics and in the quorum's log."""
    names = (
        "codec-1", "other", "__consumer_offsets", "__transaction_state", "__share_group_state",
        "__cluster_metadata", "__not_internal",
    )  # fmt: skip
    cluster(tmp_path, {0: [replica("a@0/e0", topic=name, high_watermark=1) for name in names]})
    return tmp_path


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribePattern": "codec"}, {"codec-1"}),
        ({"subscribePattern": "e"}, {"codec-1", "other", "__not_internal"}),
        ({"subscribePattern": "__.*"}, {"__not_internal"}),
        ({"subscribe": "__consumer_offsets"}, {"__consumer_offsets"}),
        ({"assign": '{"__transaction_state": [0]}'}, {"__transaction_state"}),
    ],
)
def test_a_pattern_is_searched_for_and_finds_no_internal_topic(
    read: Read, topics: Path, options: dict[str, Any], expected: set[str]
) -> None:
    assert {row.topic for row in read(str(topics), **options).collect()} == expected


@pytest.mark.spark
def test_a_refused_pattern_names_its_option(read: Read) -> None:
    assert failure(lambda: read(subscribePattern="[a&&b]").collect()).startswith(
        "option subscribePattern: [a&&b]: && (what two classes share)"
    )
