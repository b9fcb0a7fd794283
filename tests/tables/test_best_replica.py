"""The best of several copies of a partition is read, and a warning names what it lacks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking, best_replica
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.partition_copies import chosen_by_partition
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.copied_logs import copies, write_properties, write_replica
from tests.tables.logs import batch, offsets, rows, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def test_the_greatest_leader_epoch_wins_over_the_longest_log(
    two_leaders: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = rows(two_leaders, columns=["brokerId", "offset", "leaderEpoch"], replica="best")
    assert [(row["offset"], row["leaderEpoch"]) for row in found] == [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
    ]
    assert {row["brokerId"] for row in found} == {2}
    (warning,) = caplog.messages
    assert "broker 1 holds 3 from offset 2 on" in warning
    assert "t-0: read from broker 2" in warning


def test_a_lagging_copy_is_not_a_reason_for_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 0, 0, 1])
    with caplog.at_level(logging.WARNING):
        assert offsets(tmp_path, replica="best") == [0, 1, 2, 3, 4]
    assert caplog.messages == []


def test_of_equal_copies_the_first_is_read_once(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0])
    write_replica(tmp_path, 2, [0, 0])
    assert offsets(tmp_path, replica="best") == [0, 1]
    assert offsets(tmp_path) == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("emptied_end", "held", "best"),
    [
        (4000, batch(0, 1, leader_epoch=0), 1),
        (4000, build_message(b"k", b"v", offset=0, magic=1, timestamp=1), 0),
        (0, build_message(b"k", b"v", offset=0, magic=1, timestamp=1), 1),
    ],
    ids=["a_leader_epoch", "an_old_format", "an_old_format_and_nothing"],
)
def test_a_copy_without_batches_is_as_one_without_leader_epochs(
    tmp_path: Path, emptied_end: int, held: bytes, best: int
) -> None:
    for broker, (base_offset, batches) in enumerate([(emptied_end, []), (0, [held])]):
        write_segment(tmp_path / f"broker-{broker}" / "t-0", batches, base_offset=base_offset)
        write_properties(tmp_path / f"broker-{broker}", broker)
    chosen = best_replica(copies(tmp_path), Damage(Mode.FAILFAST))
    assert chosen is not None
    assert chosen.log_directory.broker_id == best


def test_a_single_copy_is_the_best_without_reading_it(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0])
    rate = CountedRate()
    evidence = discover([str(tmp_path)], ReadContext(rate=rate))
    ((_, (replica,)),) = evidence.topic_partitions(ReadRequest())
    rate.taken.clear()
    assert [*chosen_replicas(evidence, ReadRequest(replica="best"))] == [replica]
    assert rate.taken == []


def contradicting(root: Path, *logs: str, **more: object) -> list[dict[str, object]]:
    """Copies of the notation ``offsets@value/epoch``; returns the rows of the best one."""
    cluster(root, {n: replica(log, **more) for n, log in enumerate(logs)})  # type: ignore[arg-type]
    return rows(root, replica="best", columns=["brokerId", "offset", "value"])


@pytest.mark.parametrize(
    ("logs", "chosen"),
    [
        (("a@0/e0 b@1/e0", "a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"), 0),
        (("a@0/e0 X@1/e0 c@2/e0", "a@0/e0 b@1/e0", "a@0/e0 b@1/e0"), 1),
        (("X@0/e0 b@1/e3", "a@0/e0", "a@0/e0"), 1),
        (("a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"), 1),
    ],
    ids=["longer", "longer_and_first", "newer", "one_to_one"],
)
def test_an_outvoted_copy_is_not_chosen(
    logs: tuple[str, ...], chosen: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of one copy against one, neither is outvoted: the longer one is read, with a warning."""
    found = contradicting(tmp_path, *logs)
    assert {row["brokerId"] for row in found} == {chosen}
    other = next(n for n, log in enumerate(logs) if log.split()[-2:] != logs[chosen].split()[-2:])
    first = 0 if logs[0].startswith("X") else 1
    (message,) = caplog.messages
    assert f"broker {other} holds other records from offset {first} on" in message
    assert message.endswith("`replica-diff` shows the differences")


def test_what_contradicts_the_chosen_copy_is_a_fork_under_one_leader_epoch(tmp_path: Path) -> None:
    cluster(tmp_path, {n: replica(f"a@0/e0 {v}@1/e0") for n, v in enumerate("bbX")})
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset) == (1, 2)
    assert lacking.is_fork
    assert lacking.is_contradiction


def test_what_a_copy_holds_after_damage_is_lacking(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A flipped bit in its first batch: readers stop there, and its log ends at 15 all the same."""
    short = replica("0-4/e0 5-9/e0", high_watermark=10)
    long = replica("0-4/e0 5-9/e0 10-14/e0", high_watermark=10)
    log = cluster(tmp_path, {1: short, 2: long})[2] / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[65] ^= 5
    log.write_bytes(content)
    evidence = discover([str(tmp_path)])
    ((_, (best,), _),) = chosen_by_partition(
        evidence, ReadRequest(replica="best"), Damage(Mode.FAILFAST)
    )
    assert best.replica_name == "broker 1"
    assert "broker 2 holds 5 from offset 10 on" in caplog.text


@pytest.mark.parametrize(
    ("moved", "start_of_other", "lacking"),
    [
        pytest.param(None, None, ["broker 2 holds 5 from offset 0 on"], id="nothing_explains_it"),
        pytest.param(5, None, [], id="its_log_start_was_moved"),
        pytest.param(None, 3, ["broker 2 holds 2 from offset 3 on"], id="other_start_was_moved"),
        pytest.param(None, 5, [], id="others_show_no_more"),
    ],
)
def test_what_a_copy_holds_before_a_lost_first_segment_is_lacking(
    tmp_path: Path, moved: int | None, start_of_other: int | None, lacking: list[str]
) -> None:
    """Broker 1 has the longest log, without its first segment."""
    late = replica("5-9/e0 10-14/e0", high_watermark=10, log_start=moved)
    short = replica("0-4/e0 5-9/e0", high_watermark=10, log_start=start_of_other)
    cluster(tmp_path, {1: late, 2: short})
    best, found = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.replica_name == "broker 1"
    assert list(map(str, found)) == lacking


def test_of_copies_that_end_alike_the_one_without_a_lost_start_is_read(tmp_path: Path) -> None:
    late = replica("5-9/e0 10-14/e0", high_watermark=10)
    whole = replica("0-4/e0 5-9/e0 10-14/e0", high_watermark=10)
    cluster(tmp_path, {1: late, 2: whole})
    best, found = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.replica_name == "broker 2"
    assert not found


def test_a_copy_alone_lacks_nothing_although_its_first_segment_is_lost(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica("5-9/e0", high_watermark=10)})
    (alone,) = copies(tmp_path)
    best, lacking = best_and_lacking([alone], Damage(Mode.FAILFAST))
    assert best is alone
    assert not lacking


def test_a_copy_with_an_unreadable_log_start_shows_no_records_before_another(
    tmp_path: Path,
) -> None:
    """Which of its records consumers get is unknown."""
    late = replica("5-9/e0 10-14/e0", high_watermark=10)
    short = replica("0-4/e0 5-9/e0", high_watermark=10)
    cluster(tmp_path, {1: late, 2: short})
    (tmp_path / "broker-2" / "log-start-offset-checkpoint").write_text("x\n")
    best, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.replica_name == "broker 1"
    assert not lacking
