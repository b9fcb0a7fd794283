"""``kafkalog find`` finds records wherever they are, and says in which state."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import cluster, data_batch, marker_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    setting,
)
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record, RecordHeader

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Run

RECORDS = (  # key, value, headers
    (b"a", b"first", ()),
    (b"b", b"other", ()),
    (b"a", b"second", ()),
    (None, b"no key", ()),
    (b"c", None, (RecordHeader(key="trace", value=b"needle"),)),
    (b"d", "12 Größe (\x00) [1]\n\\".encode(), ()),
)
SEGMENT = "00000000000000000000"


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    log = [
        data_batch(offset, [Record(offset_delta=0, key=key, value=value, headers=headers)])
        for offset, (key, value, headers) in enumerate(RECORDS)
    ]
    cluster(tmp_path / "b", {1: replica(log, high_watermark=len(log))})
    return tmp_path / "b" / "broker-1"


def found(run: Run, path: Path, *options: str) -> list[tuple[int, str]]:
    answer = run("find", path, *options, "--format", "json")
    rows: list[dict[str, Any]] = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.status == (0 if rows else 1)
    return [(row["offset"], row["state"]) for row in rows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--key", "a"), [(0, "superseded"), (2, "live")]),
        (("--key", "c"), [(4, "live")]),
        (("--key", "aa"), []),
        (("--value", "first"), [(0, "superseded")]),
        (("--value", "no key"), [(3, "live")]),
        (("--value", "needle"), [(4, "live")]),
        (("--value", "a"), []),
        (("--value", "."), []),
        (("--value", "Größe (\x00) [1]\n"), [(5, "live")]),
        (("--regex", "^(o|b$)"), [(1, "live")]),
        (("--regex", "(?i)TRACE|NO"), [(3, "live"), (4, "live")]),
    ],
)
def test_what_matches_and_its_state(
    broker: Path, run: Run, options: tuple[str, ...], expected: list[tuple[int, str]]
) -> None:
    assert found(run, broker, *options) == expected


def keyed(offset: int, key: bytes, producer_id: int = -1) -> Batch:
    flags = TRANSACTIONAL_BIT if producer_id >= 0 else 0
    records = [Record(offset_delta=0, key=key, value=b"v")]
    return data_batch(offset, records, producer_id=producer_id, producer_epoch=0, flags=flags)


def test_records_that_were_never_committed_supersede_nothing(tmp_path: Path, run: Run) -> None:
    """As Kafka's Cleaner: of ``good``, then ``bad`` in an aborted transaction, ``good`` is kept."""
    ends = {"producer_id": 1, "producer_epoch": 0}
    log = [
        keyed(0, b"a"),
        keyed(1, b"a", producer_id=1),
        marker_batch(2, control_type=ControlType.ABORT, **ends),
        keyed(3, b"b"),
        keyed(4, b"b", producer_id=1),
        marker_batch(5, control_type=ControlType.COMMIT, **ends),
        keyed(6, b"b", producer_id=2),
    ]
    cluster(tmp_path, {1: replica(log, high_watermark=len(log))})
    assert found(run, tmp_path, "--key", "a") == [(0, "live"), (1, "aborted")]
    assert found(run, tmp_path, "--key", "b") == [(3, "superseded"), (4, "live"), (6, "open")]


@pytest.mark.parametrize(
    ("settings", "cleaner_offset", "expected"),
    [
        ([(2, "t", "cleanup.policy", "compact,delete")], None, "superseded"),
        ([(2, "t", "cleanup.policy", "delete")], 1, "live"),
        ([(4, "", "log.cleanup.policy", "compact")], None, "superseded"),
        ([(4, "", "log.cleanup.policy", "compact"), (2, "t", "cleanup.policy", "delete")],
         None, "live"),
        ([(4, "", "log.cleanup.policy", "compact"), (4, "1", "log.cleanup.policy", "delete")],
         None, "live"),
        ([(2, "t", "cleanup.policy", "compact"), (2, "t", "cleanup.policy", None)], None, "live"),
        ([], None, "live"),
        ([], 1, "superseded"),
    ],
)  # fmt: skip
def test_only_compaction_supersedes(
    tmp_path: Path, run: Run, settings: list[tuple[int, str, str, str | None]],
    cleaner_offset: int | None, expected: str,
) -> None:  # fmt: skip
    """What ``server.properties`` says is in no file, but the cleaner has a checkpoint then."""
    state = PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0)
    values = [*metadata_records([state]), *(setting(*each) for each in settings)]
    metadata = replica(
        [data_batch(at, [Record(offset_delta=0, value=value)]) for at, value in enumerate(values)],
        topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID,
    )  # fmt: skip
    log = replica([keyed(0, b"a"), keyed(1, b"a")], cleaner_offset=cleaner_offset)
    cluster(tmp_path, {1: [log, metadata]})
    assert found(run, tmp_path, "--key", "a") == [(0, expected), (1, "live")]


def test_text_says_where_nothing_was_found(broker: Path, run: Run) -> None:
    answer = run("find", broker, "--key", "nosuch")
    assert (answer.status, answer.out) == (1, "No record was found in 1 partition folder.\n")


@pytest.mark.parametrize("state", ["delete", "stray", "future"])
def test_folders_that_are_no_replica_are_searched(broker: Path, run: Run, state: str) -> None:
    (broker / "t-0").rename(broker / f"t-0.{'0' * 32}-{state}")
    assert found(run, broker, "--value", "first") == [(0, f"{state}-directory")]


@pytest.mark.parametrize("suffix", ["deleted", "cleaned"])
def test_segments_that_are_not_live_are_searched(broker: Path, run: Run, suffix: str) -> None:
    log = broker / "t-0" / f"{SEGMENT}.log"
    shutil.copy(log, log.with_name(f"{log.name}.{suffix}"))
    assert sorted(found(run, broker, "--value", "first")) == [
        (0, f"{suffix}-segment"), (0, "superseded"),
    ]  # fmt: skip


def test_records_below_the_log_start_are_found(run: Run) -> None:
    path = captures.path("everything/stopped")
    rows = found(run, path, "--topic", "records-deleted", "--regex", "^key-[3-5]0$")
    assert rows == [(30, "below-log-start"), (40, "below-log-start"), (50, "live")]


def test_a_deleted_segment_of_a_real_broker_is_searched(run: Run) -> None:
    """Frozen while the broker waited to delete segments that retention or the cleaner replaced."""
    path = captures.path("everything/running")
    rows = found(run, path, "--regex", ".")
    assert {state for _, state in rows} >= {"live", "superseded", "deleted-segment"}


def test_what_is_behind_damage_is_found_and_damage_is_no_proof_of_absence(
    broker: Path, run: Run
) -> None:
    log = broker / "t-0" / f"{SEGMENT}.log"
    content = bytearray(log.read_bytes())
    content[30] ^= 1  # in the first batch
    log.write_bytes(content)
    answer = run("find", broker, "--value", "no key")
    assert answer.status == 0
    assert "CRC is wrong" in answer.err
    answer = run("find", broker, "--value", "first")
    assert answer.status == 2


def test_text_names_the_segment_and_the_position(broker: Path, run: Run) -> None:
    header, line = run("find", broker, "--key", "b").out.splitlines()
    assert header.split()[:4] == ["state", "brokerId", "file", "position"]
    assert line.split()[:3] == ["live", "1", f"t-0/{SEGMENT}.log"]


@pytest.mark.parametrize("options", [(), ("--key", "a", "--value", "b")])
def test_exactly_one_pattern_is_needed(broker: Path, run: Run, options: tuple[str, ...]) -> None:
    answer = run("find", broker, *options)
    assert answer.status == 2
    assert "give one of --key, --value and --regex" in answer.err


def test_a_wrong_expression_is_an_error_of_one_line(broker: Path, run: Run) -> None:
    answer = run("find", broker, "--regex", "(")
    assert answer.status == 2
    assert answer.err.startswith("error: --regex: Invalid regular expression: missing ):")
    assert answer.err.count("\n") == 1
