"""Starts that take what nobody misses raise no alarm; the same starts do where somebody does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
ROLLED = 1
"""Each batch gets a segment of its own."""


def written(root: Path, *, peer_start: int) -> list[str]:
    """Broker 0's start deletes offset 0, whose time index says 1970; broker 1 begins later."""
    old = replica(
        LOG, recovery_point=4, high_watermark=4, segment_bytes=ROLLED,
        files={f"{0:020}.timeindex": bytes(12)},
    )  # fmt: skip
    rest = " ".join(LOG.split()[peer_start:])
    peer = replica(
        rest, recovery_point=4, high_watermark=4, segment_bytes=ROLLED, log_start=peer_start
    )
    return [str(each) for each in cluster(root, {0: old, 1: peer}, clean=(0, 1)).values()]


def expiry(paths: list[str]) -> dict[str, Any]:
    rows = map(json.loads, asked(verify_command, *paths, "--format", "json")[1].splitlines())
    (found,) = (row for row in rows if row["code"] == "KL-418")
    return found


@pytest.mark.parametrize(("peer_start", "severity"), [(0, "H"), (1, "I"), (2, "I")])
def test_expiry_is_information_where_another_copy_starts_higher(
    peer_start: int, severity: str, tmp_path: Path
) -> None:
    paths = written(tmp_path, peer_start=peer_start)
    found = expiry(paths)
    assert (found["firstOffset"], found["nextOffset"]) == (0, 1)
    assert found["severity"] == severity
    assert ("another copy has already deleted them" in found["message"]) is (severity == "I")
    _, text = asked(replica_diff, *paths)
    assert ("retention deletes what is here" in text) is (severity == "H")
    plan = json.loads(asked(plan_command, *paths, "--format", "json")[1])
    words = json.dumps(plan)
    assert ("retention deletes" in words) is (severity == "H")
    assert plan["lost"]["lostRecords"] == 0


TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
MOVED = PartitionState(replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=1, topic_id=TOPIC_ID)


def left_over(root: Path, old: str, new: str, **of_new: Any) -> list[str]:
    """Broker 0 was down while its replica was moved to broker 2."""
    common: dict[str, Any] = {"topic_id": TOPIC_ID, "high_watermark": 4, "recovery_point": 4}
    logs = {0: replica(old, **common)} | {n: replica(new, **{**common, **of_new}) for n in (1, 2)}
    with_metadata = {n: [log, metadata_log([MOVED])] for n, log in logs.items()}
    return [str(each) for each in cluster(root, with_metadata, clean=(0, 1, 2)).values()]


def set_aside(paths: list[str]) -> tuple[str, str]:
    """The severity of KL-417, and what ``replica-diff`` prints."""
    rows = map(json.loads, asked(verify_command, *paths, "--format", "json")[1].splitlines())
    (severity,) = (row["severity"] for row in rows if row["code"] == "KL-417")
    return severity, asked(replica_diff, *paths)[1]


def test_a_left_over_copy_is_information_where_the_new_replicas_have_all_of_it(
    tmp_path: Path,
) -> None:
    paths = left_over(tmp_path, LOG, f"{LOG} e@4/e1", recovery_point=5)
    severity, text = set_aside(paths)
    assert severity == "I"
    assert "the replicas there have all of its records" in " ".join(text.split())
    assert "NOT SOUND" not in text
    assert asked(verify_command, *paths)[0] == 0
    assert "sets the directory aside" not in asked(plan_command, *paths)[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(f"{LOG} e@4/e0", LOG, id="it_is_longer"),
        pytest.param(LOG, LOG.replace("b@1", "x@1"), id="a_record_differs"),
    ],
)
def test_a_left_over_copy_is_an_alarm_where_it_alone_has_a_record(
    old: str, new: str, tmp_path: Path
) -> None:
    severity, text = set_aside(left_over(tmp_path, old, new))
    assert severity in "CH"
    assert "have all of its records" not in " ".join(text.split())


def test_a_left_over_copy_is_an_alarm_where_the_others_are_damaged(tmp_path: Path) -> None:
    paths = left_over(tmp_path, LOG, LOG)
    for path in paths[1:]:
        log = next(tmp_path.joinpath(path).glob("t-0/*.log"))
        content = bytearray(log.read_bytes())
        content[-1] ^= 1  # in the last record
        log.write_bytes(content)
    severity, text = set_aside(paths)
    assert severity in "CH"
    assert "have all of its records" not in " ".join(text.split())
