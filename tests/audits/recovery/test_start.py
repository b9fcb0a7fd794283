"""How the log directories of one broker decide together whether it starts.

Source: Kafka 4.4, KafkaRaftServer#initializeLogDirs, LogManager#loadLogs; replica-divergence.md,
section 4.6.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, replica
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.rule import ClusterTopics, StartRule
from kafkalog_reader.audits.recovery.start import broker_key, predict_start, why_no_start
from kafkalog_reader.io.directories import LogDirectory
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.recovery.logs import starts

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory

LOADS, OFFLINE, ABORTS, STRAY, EXPIRED = (
    StartOutcome.LOADS,
    StartOutcome.DIRECTORY_OFFLINE,
    StartOutcome.BROKER_ABORTS,
    StartOutcome.STRAY,
    StartOutcome.EXPIRED,
)
BAD_EPOCHS = "0\n2\n0 0\n"
"""It announces two rows: an I/O error, which takes the log directory offline."""
NEGATIVE_EPOCHS = "0\n1\n-1 0\n"
"""An uncaught exception, which ends the broker."""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """The log directory of broker 1 with t-0, t-1 and t-2 of three records each."""
    held = [replica("a,b,c@0/e0", topic="t", partition=n) for n in range(3)]
    return cluster(tmp_path, {1: held}, clean=(1,))[1]


def outcomes(disk: Path) -> list[StartOutcome]:
    found = starts(disk)
    return [found[name].outcome for name in sorted(found)]


def directories_of(disk: Path) -> tuple[PartitionDirectory, ...]:
    every = discover([str(disk)]).partition_directories(ReadRequest())
    return tuple(each for each in every if each.is_replica)


def test_sound_replicas_load(disk: Path) -> None:
    assert outcomes(disk) == [LOADS] * 3
    assert why_no_start(discover([str(disk)]).roots) == ""


def test_one_failing_replica_takes_its_directory_offline(disk: Path) -> None:
    (disk / "t-1" / "leader-epoch-checkpoint").write_text(BAD_EPOCHS)
    found = starts(disk)
    assert [found[f"t-{n}"].outcome for n in range(3)] == [OFFLINE] * 3
    assert [found[f"t-{n}"].is_own_failure for n in range(3)] == [False, True, False]
    assert all(each.loaded is None for each in found.values())
    assert all("t-1/leader-epoch-checkpoint" in each.reason for each in found.values())


def test_one_replica_may_end_the_broker(disk: Path) -> None:
    (disk / "t-1" / "leader-epoch-checkpoint").write_text(NEGATIVE_EPOCHS)
    (disk / "t-2" / "leader-epoch-checkpoint").write_text(BAD_EPOCHS)
    found = starts(disk)
    assert [found[f"t-{n}"].outcome for n in range(3)] == [ABORTS] * 3
    assert [found[f"t-{n}"].is_own_failure for n in range(3)] == [False, True, False]
    assert "; then: " in found["t-2"].reason, "it would take the directory offline anyway"
    assert "negative leader epoch" in found["t-0"].reason


@pytest.mark.parametrize("fails", [False, True])
def test_a_stray_ends_the_broker_if_its_directory_fails(disk: Path, fails: bool) -> None:
    """The broker cannot rename it in a directory that is offline."""
    (disk / "t-2" / "partition.metadata").unlink()
    if fails:
        (disk / "t-0" / "leader-epoch-checkpoint").write_text(BAD_EPOCHS)
    found = starts(disk)
    expected = [ABORTS] * 3 if fails else [LOADS, LOADS, STRAY]
    assert [found[f"t-{n}"].outcome for n in range(3)] == expected
    if fails:
        assert "the broker sets it aside, but its log directory fails" in found["t-1"].reason


def test_a_directory_that_fails_before_its_logs_are_loaded_sets_nothing_aside(disk: Path) -> None:
    (disk / "t-2" / "partition.metadata").unlink()
    (disk / "recovery-point-offset-checkpoint").write_text("1\n0\n")
    (disk / ".kafka_cleanshutdown").unlink()
    assert outcomes(disk) == [OFFLINE] * 3


def test_a_directory_that_fails_after_its_logs_were_loaded_has_set_strays_aside(
    disk: Path,
) -> None:
    """High watermarks are read last, when partitions get their leaders."""
    (disk / "t-2" / "partition.metadata").unlink()
    (disk / "replication-offset-checkpoint").write_text("1\n0\n")
    assert outcomes(disk) == [OFFLINE, OFFLINE, STRAY]


def test_a_stray_is_no_second_log_of_its_partition(disk: Path, tmp_path: Path) -> None:
    """It is set aside, so that the one on the other disk stays alone."""
    other = tmp_path / "other"
    shutil.copytree(disk, other)
    (other / "t-2" / "partition.metadata").unlink()
    for name in ("t-0", "t-1"):
        shutil.rmtree(other / name)
    meta = other / "meta.properties"
    lines = [line for line in meta.read_text().splitlines() if "directory.id" not in line]
    meta.write_text("\n".join([*lines, "directory.id=AAAAAAAAAAEAAAAAAAAAEQ", ""]))
    found = predict_start((*directories_of(disk), *directories_of(other)))
    assert [each.outcome for each in found] == [LOADS, LOADS, LOADS, STRAY]


def test_a_given_time_decides_what_expires(disk: Path) -> None:
    eight_days = EPOCH_MILLIS + 8 * 24 * 3_600_000
    recoveries = predict_start(directories_of(disk), started_at=eight_days)
    assert {each.outcome for each in recoveries} == {EXPIRED}
    recoveries = predict_start(directories_of(disk), rule=StartRule(started_at=eight_days))
    assert {each.outcome for each in recoveries} == {EXPIRED}
    recoveries = predict_start(
        directories_of(disk), rule=StartRule(started_at=eight_days), started_at=EPOCH_MILLIS
    )
    assert {each.outcome for each in recoveries} == {LOADS}


def test_recoveries_have_the_order_of_the_replicas(disk: Path) -> None:
    directories = directories_of(disk)
    for given in (directories, directories[::-1], directories[1:2]):
        assert [each.directory for each in predict_start(given)] == list(given)


@pytest.mark.parametrize("state", ["delete", "future", "stray"])
def test_other_directories_can_stop_the_broker(disk: Path, state: str) -> None:
    aside = disk / f"t-1.{'0' * 32}-{state}"
    shutil.copytree(disk / "t-1", aside)
    (aside / "leader-epoch-checkpoint").write_text(NEGATIVE_EPOCHS)
    evidence = discover([str(disk)])
    every = evidence.partition_directories(ReadRequest())
    others = [each for each in every if each.state == state]
    live = directories_of(disk)
    assert {each.outcome for each in predict_start(live, others=others)} == {ABORTS}
    assert {each.outcome for each in predict_start(live)} == {LOADS}
    assert "negative leader epoch" in why_no_start(evidence.roots, others=others)


def test_a_future_copy_beside_its_replica_stops_every_partition(disk: Path) -> None:
    """A folder that is supplied alone shows nothing of its neighbours."""
    shutil.copytree(disk / "t-1", disk / f"t-1.{'0' * 32}-future")
    (first, *_) = directories_of(disk)
    assert [each.outcome for each in predict_start([first])] == [ABORTS]
    (alone,) = directories_of(disk / "t-0")
    assert [each.outcome for each in predict_start([alone])] == [LOADS]


def test_a_root_without_replicas_can_stop_the_broker(disk: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("meta.properties", "replication-offset-checkpoint"):
        shutil.copy(disk / name, empty / name)
    (empty / "no partition").mkdir()
    (root,) = discover([str(empty)]).roots
    recoveries = predict_start(directories_of(disk), roots=[root])
    assert {each.outcome for each in recoveries} == {ABORTS}
    assert "no partition" in why_no_start([root])


def test_only_a_broker_without_zookeeper_checks_meta_properties(disk: Path) -> None:
    """The files do not say it here; the topics of a metadata log do."""
    meta = disk / "meta.properties"
    topics = ClusterTopics(topic_ids={"t": "AAAAAAAAAAEAAAAAAAAABQ"})
    text = meta.read_text()
    meta.write_text(text.replace("version=1", "version=0") + "\ndirectory.id=short\n")
    directories = directories_of(disk)
    assert OFFLINE not in {each.outcome for each in predict_start(directories)}
    recoveries = predict_start(directories, topics)
    assert {each.outcome for each in recoveries} == {OFFLINE}


@pytest.mark.parametrize(
    ("root", "key"),
    [
        (LogDirectory(path="/a", cluster_id="c", broker_id=0), ("c", "0")),
        (LogDirectory(path="/a", broker_id=7), ("", "7")),
        (LogDirectory(path="/a", broker_id=7, broker_label="x"), ("", "x")),
        (LogDirectory(path="/a", cluster_id="c"), ("c", "/a")),
    ],
)
def test_log_directories_of_one_broker_start_together(
    root: LogDirectory, key: tuple[str, ...]
) -> None:
    assert broker_key(root) == key
