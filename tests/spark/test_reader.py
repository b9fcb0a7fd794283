"""One task: run again, run on files that changed after planning, and its errors."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.errors import KafkaLogError
from tests.spark.tasks import offsets, planned, segment, write_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "logs")


def test_a_task_that_runs_again_gives_the_same_rows(log: Path) -> None:
    reader, tasks = planned(log)
    assert offsets(reader, tasks) == [*range(10)]
    last = segment(log, 6)
    content = last.read_bytes()
    with last.open("ab") as grown:  # the broker has written the same batch at offset 10
        grown.write((10).to_bytes(8, "big") + content[8:])
    copies = pickle.loads(pickle.dumps((reader, tasks)))
    assert offsets(*copies) == [*range(10)]
    assert offsets(*planned(log)) == [*range(14)]


def test_a_file_that_vanished_after_planning_is_named(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strict, lenient = planned(log), planned(log, failOnDataLoss="false")
    gone = segment(log, 4)
    gone.rename(f"{gone}.deleted")
    with pytest.raises(KafkaLogError) as caught:
        offsets(*strict)
    problem = f"{gone}: the file has vanished since the read was planned"
    assert str(caught.value).startswith(f"[KAFKALOG.UNREADABLE_FILE] {problem}")
    assert offsets(*lenient) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert [each for each in caplog.messages if "vanished" in each] == [problem]


def test_a_file_that_shrank_after_planning_is_named(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strict, lenient = planned(log), planned(log, failOnDataLoss="false")
    cut = segment(log, 4)
    cut.write_bytes(b"")
    with pytest.raises(KafkaLogError, match=rf"{cut.name} at position 0.* is 0 bytes long"):
        offsets(*strict)
    assert offsets(*lenient) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert any(str(cut) in each for each in caplog.messages)


def test_what_was_not_supplied_of_a_named_topic_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Broker 1, the only in-sync replica of t-0, and all copies of t-1 are elsewhere."""
    states = [
        PartitionState(replicas=(0, 1), in_sync=(1,), leader=1, leader_epoch=1),
        PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=1, partition=1),
    ]
    log = replica("0-3/e0", high_watermark=2)
    cluster(tmp_path, {0: [log], 100: [metadata_log(states)]})
    planned(tmp_path)
    assert caplog.messages == []
    planned(tmp_path, subscribe="t", mode="DROPMALFORMED")
    assert caplog.messages == []
    planned(tmp_path, subscribe="t")
    assert caplog.messages == [
        "Not known: the in-sync replicas of t-0 are those of broker 1, which were not supplied: "
        "newer records than those shown may be there",
        "Not known: no copy of t-1 was supplied: records there are not in this answer",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"subscribePattern": "zz+"}, "option subscribePattern: 'zz+' matches no topic in the"),
        ({"table": "group_offsets"}, "the given paths hold nothing that the options select for"),
        ({"table": "brokers"}, "the given paths hold nothing that the options select for table"),
    ],
    ids=str,
)
def test_a_selection_of_nothing_is_a_warning(
    log: Path, options: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert planned(log, **options)[1] == []
    (warning,) = caplog.messages
    assert warning.startswith(f"no rows: {said}")
