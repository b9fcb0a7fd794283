"""When a start sets a directory aside, according to other brokers' copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.recovery.stray import why_stray
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

OURS = "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.mark.parametrize(
    ("peers", "is_stray"),
    [
        pytest.param(0, False, id="nobody_to_ask"),
        pytest.param(1, False, id="one_against_one_decides_nothing"),
        pytest.param(2, True, id="two_agree_against_it"),
    ],
)
def test_two_other_brokers_must_agree_on_another_topic_id(
    tmp_path: Path, peers: int, is_stray: bool
) -> None:
    cluster(tmp_path, {broker: replica([]) for broker in range(1, peers + 2)})
    first, *others = sorted(
        discover([str(tmp_path)]).partition_directories(ReadRequest()),
        key=lambda each: each.log_directory.broker_id or 0,
    )
    assert len(others) == peers
    assert bool(why_stray(first, OURS, None, others)) == is_stray
