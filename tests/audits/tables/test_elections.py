"""What the metadata log says of a candidate, in the table ``elections`` and in ``replica-diff``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("inIsr", "inElr", "controllerWouldElect", "needsUnclean")
Row = dict[str, Any]
Standings = dict[int, tuple[bool | None, ...]]


def standings(root: Path) -> tuple[Standings, Standings]:
    """Of each candidate, in the table and in the command."""
    rows = kafkalog_reader.open(str(root)).table("elections", topic="t").to_arrow().to_pylist()
    result = CliRunner().invoke(
        replica_diff, [str(root), "--topic", "t", "--format", "json"], standalone_mode=False
    )
    found: list[Row] = json.loads(result.stdout)["elections"]
    both = [
        {row["candidateBrokerId"]: tuple(row[name] for name in COLUMNS) for row in each}
        for each in (rows, found)
    ]
    return both[0], both[1]


@pytest.mark.parametrize(
    ("in_sync", "eligible", "expected"),
    [
        pytest.param(
            (0,), (1,),
            {
                0: (True, False, True, False),
                1: (False, True, False, False),  # not while there is somebody in the ISR
                2: (False, False, False, True),
            },
            id="isr_and_elr",
        ),
        pytest.param(
            (), (1,),
            {
                0: (False, False, False, True),
                1: (False, True, True, False),
                2: (False, False, False, True),
            },
            id="only_elr",
        ),
    ],
)  # fmt: skip
def test_isr_and_elr_of_the_metadata_log(
    in_sync: tuple[int, ...], eligible: tuple[int, ...], expected: Standings, tmp_path: Path
) -> None:
    state = PartitionState(
        replicas=(0, 1, 2), in_sync=in_sync, leader=-1, leader_epoch=1, eligible=eligible
    )
    log = replica("a@0/e0 b@1/e0", high_watermark=2)
    cluster(tmp_path, {0: [log, metadata_log([state])], 1: [log], 2: [log]})
    assert standings(tmp_path) == (expected, expected)


def test_without_a_metadata_log_nothing_is_known(tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica("a@0/e0"), 1: replica("a@0/e0")})
    unknown: Standings = dict.fromkeys((0, 1), (None,) * 4)
    assert standings(tmp_path) == (unknown, unknown)
