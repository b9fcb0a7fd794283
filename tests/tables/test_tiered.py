"""A topic with tiered storage: what consumers of the live brokers got is what is read."""

from __future__ import annotations

import pickle
import shutil
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures, truth
from kafkalog_reader.errors import MissingRecordsError
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from fixtures.truth import ConsumedRecord

    Rows = Callable[..., list[dict[str, Any]]]

CAPTURE = truth.load(captures.path("tiered")).captures["copied"]
CONSUMED = list(CAPTURE.records("tiered"))
TIER = CAPTURE.files / "tier"
BROKERS = [CAPTURE.files / "broker-0", CAPTURE.files / "broker-1"]
LOCAL_START = 46
"""Both brokers' only local segment begins there, by its name."""


def shown(rows: Iterable[dict[str, Any]]) -> list[tuple[int, bytes, bytes, int]]:
    return [(row["offset"], row["key"], row["value"], row["leaderEpoch"]) for row in rows]


def consumed(records: Iterable[ConsumedRecord]) -> list[tuple[int, Any, Any, int]]:
    return [(each.offset, each.key, each.value, each.leader_epoch) for each in records]


def records(*paths: Path, **options: Any) -> list[dict[str, Any]]:
    columns = "offset", "key", "value", "leaderEpoch", "brokerId", "logDirectory"
    table = kafkalog_reader.open(*map(str, paths)).table(
        "records", topic="tiered", columns=list(columns), include_control_records=False, **options
    )
    rows: list[dict[str, Any]] = table.to_arrow().to_pylist()
    return rows


def local(capture: Sequence[ConsumedRecord]) -> list[ConsumedRecord]:
    return [each for each in capture if each.offset >= LOCAL_START]


def test_the_capture_has_local_logs_that_begin_after_the_log_start() -> None:
    offsets = CAPTURE.offsets["tiered", 0]
    assert (offsets.earliest, offsets.latest) == (0, 50)
    for broker in BROKERS:
        bases = [int(log.stem) for log in broker.glob("tiered-0/*.log")]
        assert bases == [LOCAL_START]
    assert len(CONSUMED) == 46


def test_local_log_and_remote_part_are_one_log() -> None:
    rows = records(*BROKERS, TIER, replica="best")
    assert shown(rows) == consumed(CONSUMED)


@pytest.mark.parametrize("broker", [0, 1])
def test_each_replica_has_the_same_remote_part(broker: int) -> None:
    rows = records(*BROKERS, TIER, replica=f"broker:{broker}")
    assert shown(rows) == consumed(CONSUMED)
    assert {row["brokerId"] for row in rows} == {broker}


def test_without_the_remote_part_the_local_log_is_read() -> None:
    assert shown(records(*BROKERS, replica="best")) == consumed(local(CONSUMED))


def test_the_remote_part_is_read_alone() -> None:
    rows = records(TIER, replica="best")
    assert shown(rows) == consumed(each for each in CONSUMED if each.offset < LOCAL_START)
    assert {row["brokerId"] for row in rows} == {None}


def test_read_committed_needs_markers_from_both() -> None:
    rows = records(*BROKERS, TIER, replica="best", isolation="read_committed")
    assert shown(rows) == consumed(each for each in CONSUMED if each.committed)
    assert len(rows) < len(CONSUMED)


@pytest.mark.parametrize(
    ("start", "stop"), [(3, 9), (0, 1), (LOCAL_START - 1, LOCAL_START + 1), (LOCAL_START, 50)]
)
def test_offsets_select_from_both(start: int, stop: int) -> None:
    rows = records(*BROKERS, TIER, replica="best", from_offset=start, to_offset=stop)
    assert shown(rows) == consumed(each for each in CONSUMED if start <= each.offset < stop)


def test_records_in_the_remote_part_and_local_are_read_once(tmp_path: Path) -> None:
    """A broker deletes local segments some time after they were copied."""
    broker = tmp_path / "broker-1"
    shutil.copytree(BROKERS[1], broker)
    folder = next(TIER.glob("*/*"))
    copied = next(folder.glob("00000000000000000042-*.log"))
    shutil.copyfile(copied, broker / "tiered-0" / "00000000000000000042.log")
    rows = records(broker, TIER, replica="best")
    assert shown(rows) == consumed(CONSUMED)
    first_local = next(row for row in rows if row["offset"] == 42)
    assert first_local["logDirectory"] == str(broker)


def test_a_remote_segment_that_is_missing_is_an_error(tmp_path: Path) -> None:
    tier = tmp_path / "tier"
    shutil.copytree(TIER, tier)
    next(tier.glob("*/*/00000000000000000013-*.log")).unlink()
    with pytest.raises(MissingRecordsError, match="begins with offset 17"):
        records(*BROKERS, tier, replica="best")


def test_a_remote_part_of_another_topic_id_is_not_read_with_the_replicas(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = next(TIER.glob("*/*"))
    other = tmp_path / "tiered-0-AAAAAAAAAAAAAAAAAAAAAA"
    shutil.copytree(folder, other)
    assert shown(records(*BROKERS, tmp_path, replica="best")) == consumed(local(CONSUMED))
    assert f"{other}: of topic id AAAAAAAAAAAAAAAAAAAAAA, which no supplied replica has" in (
        caplog.text
    )


def test_it_may_be_in_an_archive(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "tier.tar.gz", "w:gz") as archive:
        archive.add(TIER, "tier")
    assert shown(records(*BROKERS, tmp_path / "tier.tar.gz", replica="best")) == consumed(CONSUMED)


def test_batches_are_those_of_both(rows_of: Rows) -> None:
    rows = rows_of("batches", *BROKERS, TIER, topic="tiered", replica="best")
    offsets = [offset for row in rows for offset in range(row["baseOffset"], row["lastOffset"] + 1)]
    assert offsets == list(range(50))
    assert all(row["crcValid"] for row in rows)


def test_replicas_lists_the_remote_part_as_what_it_is(rows_of: Rows) -> None:
    rows = [row for row in rows_of("replicas", CAPTURE.files) if row["topic"] == "tiered"]
    found = {
        (row["brokerId"], row["state"]): (row["logStartOffset"], row["logEndOffset"])
        for row in rows
    }
    assert found == {(0, None): (46, 50), (1, None): (46, 50), (None, "remote"): (0, 46)}


def test_audits_see_the_replicas_only(rows_of: Rows) -> None:
    assert rows_of("findings", CAPTURE.files) == rows_of(
        "findings", *BROKERS, CAPTURE.files / "controller-100"
    )
    (row,) = (row for row in rows_of("partitions", CAPTURE.files) if row["topic"] == "tiered")
    assert row["replicas"] == 2


def test_evidence_with_a_remote_part_can_be_pickled() -> None:
    evidence = discover([str(CAPTURE.files)])
    assert pickle.loads(pickle.dumps(evidence)).remote == evidence.remote
