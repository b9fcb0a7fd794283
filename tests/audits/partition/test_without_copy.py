"""Which partitions brokers had and have no more, by checkpoints where no metadata log is."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.audits.partition.without_copy import WithoutCopy, without_copy
from kafkalog_reader.audits.partition.without_copy import without_copy_text as text_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

HIGH_WATERMARKS, RECOVERY_POINTS = (
    f"{name}-offset-checkpoint" for name in ("replication", "recovery-point")
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Broker 1 has s-0 and t-0, broker 2 has s-0; 20 records of each were committed."""
    of_t = replica(parse_log("0-9/e0 10-19/e0"), high_watermark=20, recovery_point=20)
    of_s = replace(of_t, topic="s")
    cluster(tmp_path, {1: [of_s, of_t], 2: [of_s]}, clean=(1, 2))
    return tmp_path


def found_in(*paths: Path, request: ReadRequest | None = None) -> list[WithoutCopy]:
    evidence = discover([str(path) for path in paths])
    return list(without_copy(evidence, request or ReadRequest(), {}))


def without_t(state: Path) -> Path:
    shutil.rmtree(state / "broker-1" / "t-0")
    return state


def test_nothing_is_missing_where_each_row_has_its_folder(state: Path) -> None:
    assert found_in(state) == []


def test_a_partition_is_named_by_both_checkpoints_of_a_broker(state: Path) -> None:
    (found,) = found_in(without_t(state))
    assert (found.name, found.brokers, found.is_lost, found.is_assigned) == (
        "t-0", (1,), True, False,
    )  # fmt: skip
    assert (found.high_watermark, found.held_below, found.has_lost_records) == (20, 0, True)
    assert text_of([found]) == (
        "no copy of t-0 was supplied, which the checkpoints of broker 1 name"
    )


@pytest.mark.parametrize("name", [HIGH_WATERMARKS, RECOVERY_POINTS])
def test_one_checkpoint_alone_may_be_older_than_a_deletion(state: Path, name: str) -> None:
    """LogManager#asyncDelete writes recovery points at once, high watermarks follow within 5 s."""
    (without_t(state) / "broker-1" / name).write_text("0\n1\ns 0 20\n")
    assert found_in(state) == []


def test_a_broker_that_is_deleting_its_folder_lacks_nothing(state: Path) -> None:
    folder = state / "broker-1" / "t-0"
    folder.rename(folder.with_name(f"t-0.{'0' * 32}-delete"))
    assert found_in(state) == []


def test_a_row_of_a_replica_that_another_broker_has_is_no_loss(state: Path) -> None:
    (state / "broker-1" / "t-0").rename(state / "broker-2" / "t-0")
    assert found_in(state) == []
    only = ReadRequest(brokers=frozenset({1}))
    assert found_in(state, request=only) == []


def test_of_one_broker_alone_copies_may_be_elsewhere(state: Path) -> None:
    (found,) = found_in(without_t(state) / "broker-1")
    assert not found.is_lost


def test_nothing_is_missing_from_a_copy_of_some_partitions(tmp_path: Path) -> None:
    of_t = replica("a@0/e0", high_watermark=1, recovery_point=1)
    others = [replace(of_t, topic=name) for name in "uvw"]
    cluster(tmp_path, {1: [of_t, *others], 2: [of_t]}, clean=(1, 2))
    for name in "uvw":
        shutil.rmtree(tmp_path / "broker-1" / f"{name}-0")
    assert found_in(tmp_path) == []


def test_what_nobody_wrote_to_is_no_lost_record(state: Path) -> None:
    rows = without_t(state) / "broker-1" / HIGH_WATERMARKS
    rows.write_text("0\n2\ns 0 20\nt 0 0\n")
    (found,) = found_in(state)
    assert not found.has_lost_records


@pytest.mark.parametrize(("end", "is_lost"), [(10, True), (20, False)])
def test_a_folder_under_another_name_holds_what_it_reaches(
    state: Path, end: int, *, is_lost: bool
) -> None:
    """Of two batches of equal size."""
    folder = state / "broker-2" / f"t-0.{'0' * 32}-delete"
    (state / "broker-1" / "t-0").rename(folder)
    log = folder / f"{0:020}.log"
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size * end // 20)
    (found,) = found_in(state)
    assert (found.held_below, found.has_lost_records) == (end, is_lost)
    assert [each.path for each in found.deleted] == [str(folder)]


def test_an_empty_folder_that_a_start_deletes_is_nothing_to_keep(state: Path) -> None:
    folder = without_t(state) / "broker-2" / f"t-0.{'0' * 32}-delete"
    folder.mkdir()
    (found,) = found_in(state)
    assert (found.renamed != (), found.deleted, found.has_lost_records) == (True, (), True)
