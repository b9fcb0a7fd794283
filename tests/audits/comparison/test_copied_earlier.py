"""A copy that lacks what was written after it: the metadata logs show when nodes were copied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from fixtures.synthetic.consumer_groups import Committed, offsets_partition
from kafkalog_reader.audits.comparison.copied_earlier import metadata_moments
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import METADATA_TOPIC
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Replica


def of(offset: int, after: int) -> Any:
    """One record, some milliseconds after the builder's time: file times are of today."""
    return data_batch(offset, [Record(offset_delta=0)], base_timestamp=EPOCH_MILLIS + after)


def log(topic: str, *times: int, high_watermark: int | None = None) -> Replica:
    batches = [of(offset, after) for offset, after in enumerate(times)]
    return replica(batches, topic=topic, high_watermark=high_watermark)


def metadata(*times: int) -> Replica:
    """The end of a metadata log, whose beginning nothing here needs."""
    batches = [of(100 + number, after) for number, after in enumerate(times)]
    return replica(batches, topic=METADATA_TOPIC)


def written(
    root: Path, lacked: int, moments: tuple[int, int], *, clean: tuple[int, ...] = ()
) -> str:
    """Broker 1 lacks the record at offset 1, which both checkpoints call committed."""
    logs = {
        1: [log("t", 0, high_watermark=2), metadata(moments[0])],
        2: [log("t", 0, lacked, high_watermark=2), metadata(moments[0], moments[1])],
    }
    cluster(root, logs, clean=clean)
    return str(root)


@pytest.mark.parametrize(
    ("lacked", "moments", "clean", "severities"),
    [
        pytest.param(1_000, (0, 2_000), (), ("M", "L"), id="copied_two_seconds_before_the_other"),
        pytest.param(1_000, (6_000, 8_000), (), ("M", "L"), id="its_metadata_log_was_copied_later"),
        pytest.param(1_000, (6_001, 8_000), (), ("H", "C"), id="it_ran_on_without_the_record"),
        pytest.param(1_000, (0, 2_000), (1,), ("H", "C"), id="it_had_stopped"),
        pytest.param(300, (0, 500), (), ("H", "C"), id="both_stopped_together"),
        pytest.param(29_000, (0, 30_000), (), ("M", "L"), id="half_a_minute_before"),
        pytest.param(29_000, (0, 30_001), (), ("H", "C"), id="maybe_a_restored_disk"),
    ],
)
def test_a_copy_is_complete_as_of_the_moment_of_its_node(
    lacked: int,
    moments: tuple[int, int],
    clean: tuple[int, ...],
    severities: tuple[str, str],
    tmp_path: Path,
) -> None:
    path = written(tmp_path, lacked, moments, clean=clean)
    _, text = asked(verify_command, path, "--format", "json")
    rows = [json.loads(row) for row in text.splitlines()]
    found = {row["code"]: row["severity"] for row in rows if row["topic"] == "t"}
    assert (found["KL-502"], found["KL-304"]) == severities
    words = " ".join(asked(plan_command, path)[1].split())
    said = (
        "Broker 1 was killed before the others, or it was copied while running, before the others"
    )
    assert (said in words) == (severities == ("M", "L"))
    assert "tart broker 2, then broker 1. " in words  # safe in both readings
    assert "nothing has to be done" not in words


def test_nodes_that_were_copied_at_one_moment_have_none(tmp_path: Path) -> None:
    apart = discover([written(tmp_path / "apart", 1, (0, 501))])
    assert sorted(metadata_moments(apart).values()) == [EPOCH_MILLIS, EPOCH_MILLIS + 501]
    together = discover([written(tmp_path / "together", 1, (0, 500))])
    assert metadata_moments(together) == {}


@pytest.mark.parametrize(("moment", "severity"), [(5_000, "L"), (5_001, "H")])
def test_a_group_that_committed_after_the_copy_lost_nothing(
    moment: int, severity: str, tmp_path: Path
) -> None:
    """The builder's commit is of its time: five seconds before the copy, or a bit more."""
    groups = offsets_partition(0, [Committed(group="g", offset=2, leader_epoch=0)])
    logs = {
        1: [log("t", 0), groups, metadata(moment)],
        2: [log("t", 0), metadata(moment, moment + 1_000)],
    }
    cluster(tmp_path, logs)
    _, text = asked(verify_command, str(tmp_path), "--format", "json")
    (found,) = (row for row in map(json.loads, text.splitlines()) if row["code"] == "KL-801")
    assert found["severity"] == severity
    assert (found["actions"] == ["A2"]) == (severity == "L")
