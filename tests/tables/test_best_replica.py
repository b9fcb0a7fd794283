"""The best of several copies of a partition is read, and a warning names what it lacks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.best_replica import (
    best_and_lacking,
    best_replica,
    chosen_by_partition,
    warn_of_lacking,
)
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.logs import batch, offsets, rows, write_segment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


def write_replica(
    root: Path, broker: int, epochs: list[int], *, checkpoint: str | None = None
) -> None:
    """Write one record per batch; ``epochs`` are the leader epochs."""
    directory = root / f"broker-{broker}"
    batches = [batch(n, 1, leader_epoch=epoch) for n, epoch in enumerate(epochs)]
    write_segment(directory / "t-0", batches)
    write_properties(directory, broker)
    if checkpoint is not None:
        (directory / "t-0" / "leader-epoch-checkpoint").write_text(checkpoint)


def write_properties(directory: Path, broker: int, cluster: str = "cluster.id=c\n") -> None:
    (directory / "meta.properties").write_text(f"version=1\nnode.id={broker}\n{cluster}")


def copies(root: Path) -> Sequence[PartitionDirectory]:
    """The copies of t-0, by broker."""
    ((_, replicas),) = discover([str(root)]).topic_partitions(ReadRequest())
    return replicas


@pytest.fixture
def two_leaders(tmp_path: Path) -> Path:
    """S3.2 of real-brokers.md: broker 1 was isolated while it led, brokers 2 and 3 continued."""
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    write_replica(tmp_path, 3, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    return tmp_path


def test_an_old_epoch_checkpoint_makes_no_fork(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The copies are equal as far as both reach; one checkpoint is from before an election."""
    write_replica(tmp_path, 1, [0, 0, 1, 1, 1], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    best, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.log_directory.broker_id == 1
    assert not lacking
    with caplog.at_level(logging.WARNING):
        assert len(rows(tmp_path, replica="best")) == 5
    assert not caplog.messages


def test_a_fork_behind_an_old_epoch_checkpoint_is_found(tmp_path: Path) -> None:
    """By the checkpoint the copies part at offset 2, by the batches at offset 3."""
    write_replica(tmp_path, 1, [0, 0, 1, 2, 2], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset, lacking.is_fork) == (3, 4, True)


def test_an_old_epoch_checkpoint_is_checked_in_the_segment_of_the_fork(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0], checkpoint="0\n1\n0 0\n")
    later = [batch(n, 1, leader_epoch=1) for n in (2, 3, 4)]
    write_segment(tmp_path / "broker-1" / "t-0", later, base_offset=2)
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    best, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.log_directory.broker_id == 1
    assert not lacking


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


def test_without_checkpoints_the_batches_tell_where_copies_part(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 1, 1])
    with caplog.at_level(logging.WARNING):
        assert offsets(tmp_path, replica="best") == [0, 1, 2, 3]
    assert "broker 1 holds 3 from offset 2 on" in caplog.text


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


def test_one_broker_can_be_requested(two_leaders: Path) -> None:
    assert offsets(two_leaders, replica="broker:1") == [0, 1, 2, 3, 4]
    with pytest.raises(OptionError, match="no broker:9: the given paths are of brokers 1, 2, 3"):
        offsets(two_leaders, replica="broker:9")


@pytest.mark.parametrize("replica", ["broker:x", "worst", "broker:"])
def test_another_word_for_a_replica_is_refused(two_leaders: Path, replica: str) -> None:
    with pytest.raises(UsageError, match="all, best, broker:N"):
        offsets(two_leaders, replica=replica)


@pytest.mark.parametrize(
    ("other", "best", "lacks"),
    [
        pytest.param(([0, 0, 0], None), ([0, 0, 1], None), (2, 3, True), id="fork"),
        pytest.param(([0, 0, 0], "0:0"), ([0, 1], "0:0"), (2, 3, False), id="ends_before_a_fork"),
        pytest.param(([0, 0], "0:0 1:2"), ([0, 0, 1], None), None, id="epoch_of_the_end"),
        pytest.param(([0, 0], None), ([0, 0, 0], None), None, id="behind"),
        pytest.param(([0, 1, 1, 1], None), ([0, 2, 2], None), (1, 4, True), id="from_one_on"),
        pytest.param(([1, 1, 1], None), ([2, 2], None), (0, 3, True), id="from_the_start"),
        pytest.param(([0, 0, 0, 1], "1:3"), ([0, 0, 2], None), (3, 4, False), id="unknown_below"),
        pytest.param(([0, 0, 1, 1], "1:2"), ([0, 0, 2], None), (2, 4, True), id="known_from_2"),
        pytest.param(([0, 0, 1, 1], "0:0 1:2"), ([0, 3, 3], "0:0 3:1"), (1, 4, True), id="earlier"),
    ],
)  # fmt: skip
def test_what_the_best_lacks_begins_where_leader_epochs_part(
    tmp_path: Path,
    other: tuple[list[int], str | None],
    best: tuple[list[int], str | None],
    lacks: tuple[int, int, bool] | None,
) -> None:
    """Copies are ``([leader epoch of each record], "epoch:start ..." of the checkpoint)``."""
    for broker, (epochs, entries) in enumerate((other, best)):
        lines = [] if entries is None else [each.replace(":", " ") for each in entries.split()]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        write_replica(tmp_path, broker, epochs, checkpoint=None if entries is None else text)
    chosen, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert chosen is not None
    assert chosen.log_directory.broker_id == 1
    found = [(each.first_offset, each.next_offset, each.is_fork) for each in lacking]
    assert found == ([] if lacks is None else [lacks])
    assert all(each.replica.log_directory.broker_id == 0 for each in lacking)
    assert best_replica(copies(tmp_path), Damage(Mode.FAILFAST)) == chosen


def test_epochs_of_batches_are_read_from_every_segment(tmp_path: Path) -> None:
    write_replica(tmp_path, 0, [0, 0, 0, 0])
    write_replica(tmp_path, 1, [0, 0])
    write_segment(tmp_path / "broker-1" / "t-0", [batch(2, 1, leader_epoch=2)], base_offset=2)
    (tmp_path / "broker-1" / "t-0" / f"{1:020}.index").write_bytes(b"")  # left without its log
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset) == (2, 4)


def test_a_checkpoint_that_cannot_be_parsed_is_named_and_batches_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 0, [0, 0, 0], checkpoint="0\nx\n")
    write_replica(tmp_path, 1, [0, 1])
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset) == (1, 3)
    assert "leader epochs are taken from the batches" in caplog.text


def test_a_fork_is_called_one(tmp_path: Path) -> None:
    write_replica(tmp_path, 0, [0, 0, 0], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 1, [0, 0, 1])
    write_replica(tmp_path, 2, [0, 1], checkpoint="0\n1\n0 0\n")
    first, fork, shorter = copies(tmp_path)
    _, (lacking,) = best_and_lacking([first, fork], Damage(Mode.FAILFAST))
    assert str(lacking) == "broker 0 holds 1 from offset 2 on (a fork: other records)"
    _, (lacking,) = best_and_lacking([first, shorter], Damage(Mode.FAILFAST))
    assert str(lacking) == "broker 0 holds 1 from offset 2 on"


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


def test_the_warning_names_the_cluster_if_there_are_several(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 1, 1])
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST))
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST))
    for message in caplog.messages:
        assert message.startswith("t-0: read from broker 2, which lacks offsets")
    assert len(caplog.messages) == 2
    caplog.clear()
    write_replica(tmp_path / "other", 3, [0])
    write_properties(tmp_path / "other" / "broker-3", 3, "cluster.id=d\n")
    evidence = discover([str(tmp_path), str(tmp_path / "other")])
    chosen = chosen_replicas(evidence, ReadRequest(replica="best"))
    assert [each.log_directory.broker_id for each in chosen] == [2, 3]
    assert caplog.messages[0].startswith("t-0 of cluster c: read from broker 2, which lacks")


def test_a_cluster_without_an_id_is_a_question_mark(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker, count in ((1, 3), (2, 2)):
        batches = [batch(n, 1, leader_epoch=broker * n) for n in range(count)]
        write_segment(tmp_path / f"broker-{broker}" / "t-0", batches)
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST), with_cluster=True)
    assert caplog.messages[-1].startswith("t-0 of cluster ?: read from ")


def test_a_single_copy_is_the_best_without_reading_it(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0])
    rate = CountedRate()
    evidence = discover([str(tmp_path)], ReadContext(rate=rate))
    ((_, (replica,)),) = evidence.topic_partitions(ReadRequest())
    rate.taken.clear()
    assert [*chosen_replicas(evidence, ReadRequest(replica="best"))] == [replica]
    assert rate.taken == []


def test_each_copy_of_a_partition_comes_with_the_chosen_ones(two_leaders: Path) -> None:
    evidence = discover([str(two_leaders)])
    replicas = copies(two_leaders)
    for asked, chosen in (("all", (0, 1, 2)), ("best", (1,)), ("broker:3", (2,))):
        request = ReadRequest(replica=asked)
        ((every, found, _),) = chosen_by_partition(evidence, request, Damage(Mode.FAILFAST))
        assert every == replicas
        assert [*found] == [replicas[number] for number in chosen]


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


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "t-0: read from"),
        ({"with_cluster": False}, "t-0: read from"),
        ({"with_cluster": True}, "t-0 of cluster c: read from"),
    ],
)
def test_a_warning_names_the_cluster_where_there_are_several(
    two_leaders: Path, caplog: pytest.LogCaptureFixture, options: dict[str, bool], named: str
) -> None:
    best, lacking = best_and_lacking(copies(two_leaders), Damage(Mode.FAILFAST))
    assert best is not None
    warn_of_lacking(best, lacking, **options)
    best_replica(copies(two_leaders), Damage(Mode.FAILFAST), **options)
    assert len(caplog.messages) == 2
    assert all(each.startswith(named) for each in caplog.messages)


def test_a_copy_that_lacks_nothing_gives_no_warning(
    two_leaders: Path, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_lacking(copies(two_leaders)[0], [])
    assert caplog.messages == []


@pytest.mark.parametrize("replica", ["best", "all", "broker:1"])
def test_folders_are_listed_after_what_must_be_older(two_leaders: Path, replica: str) -> None:
    log = two_leaders / "broker-1" / "t-0" / f"{0:020}.log"
    grown: list[str] = []

    class Growing(ExpectedEnds):
        def prepare(self, root: LogDirectory) -> None:
            super().prepare(root)
            if root.broker_id == 1 and not grown:
                grown.append(root.path)
                with log.open("ab") as file:
                    file.write(batch(5, 1, leader_epoch=9))  # now the best copy

    request = ReadRequest(replica=replica)
    for directory in chosen_replicas(discover([str(two_leaders)]), request, Growing()):
        if directory.log_directory.broker_id == 1:
            (segment,) = segments(directory)
            assert segment.log_size == log.stat().st_size
            break
    else:
        pytest.fail("the copy on broker 1 was not chosen")


def test_what_a_copy_holds_behind_damage_is_lacking(
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


@pytest.mark.parametrize(
    ("both", "alone", "replica", "said"),
    [
        (["a"], [], "best", "the rows of all are shown for a-0. Give"),
        (["a", "b"], [], "best", "the rows of all are shown for a-0 and 1 more partition. Give"),
        (["a", "b", "c"], [], "best", "all are shown for a-0 and 2 more partitions. Give"),
        (["b"], ["a"], "best", "the rows of all are shown for b-0. Give"),
        (["__cluster_metadata"], ["a"], "best", None),
        ([], ["a", "b"], "best", None),
        (["a"], [], "all", None),
    ],
)
def test_partitions_of_several_clusters_are_counted(
    both: list[str],
    alone: list[str],
    replica: str,
    said: str | None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for broker, topics in enumerate(([*both, *alone], [*both, "z"])):
        for topic in topics:
            write_segment(tmp_path / f"{broker}" / f"{topic}-0", [batch(0, leader_epoch=0)])
        write_properties(tmp_path / f"{broker}", broker, f"cluster.id=cluster{broker}\n")
    request = ReadRequest(replica=replica)
    found = chosen_by_partition(discover([str(tmp_path)]), request, Damage(Mode.FAILFAST))
    assert len([*found]) == 2 * len(both) + len(alone) + 1
    if said is None:
        assert caplog.messages == []
        return
    (warning,) = caplog.messages
    assert said in warning
    assert "of several clusters (cluster0, cluster1)" in warning


@pytest.mark.parametrize("topics", [["a"], ["a", "b"]])
def test_the_copies_of_one_cluster_give_no_warning(
    topics: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker in (0, 1):
        for topic in topics:
            write_segment(tmp_path / f"{broker}" / f"{topic}-0", [batch(0, leader_epoch=0)])
        write_properties(tmp_path / f"{broker}", broker, "cluster.id=c\n")
    request = ReadRequest(replica="best")
    found = [*chosen_by_partition(discover([str(tmp_path)]), request, Damage(Mode.FAILFAST))]
    assert [len(chosen) for _, chosen, _ in found] == [1] * len(topics)
    assert caplog.messages == []


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
