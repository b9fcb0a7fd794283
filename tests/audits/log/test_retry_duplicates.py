"""Batches that were stored again because of retries without idempotence."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from fixtures.builder.batch import data_batch
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.replica import replica
from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder.batch import Batch
    from kafkalog_reader.audits.integrity.finding import Finding


def _found(tmp_path: Path, *logs: list[Batch], topic: str = "t") -> list[Finding]:
    for node, batches in enumerate(logs):
        directory = LogDirectory(node_id=node, replicas=(replica(batches, topic=topic),))
        directory.write(tmp_path / str(node))
    directories = tuple(discover([str(tmp_path)]).partition_directories(ReadRequest()))
    return [f for f in findings_of(audit_partition(directories)) if f.code.startswith("KL-6")]


def _batch(offset: int, value: str, *, epoch: int = 0, when: int = 0, **more: int) -> Batch:
    record = Record(offset_delta=0, value=value.encode())
    return data_batch(offset, [record], leader_epoch=epoch, base_timestamp=10**12 + when, **more)


def _evidence(finding: Finding) -> dict[str, str]:
    return dict(finding.evidence)


@pytest.mark.parametrize("times", [2, 4, 11])
def test_every_batch_several_times_suggests_the_producers_retries(
    tmp_path: Path, times: int
) -> None:
    """Q01; in S3.2 variant B, each of three contents occurs four times."""
    batches = [
        _batch(offset, f"v{offset // times}", when=offset // times) for offset in range(3 * times)
    ]
    (finding,) = _found(tmp_path, batches)
    assert (finding.code, finding.severity, finding.actions) == ("KL-601", "M", ("A10",))
    assert (finding.first_offset, finding.next_offset) == (0, 3 * times)
    assert _evidence(finding)["histogram"] == str({times: 3})
    assert _evidence(finding)["surplusRecords"] == str(3 * (times - 1))
    assert f"retries = {times - 1}" in finding.message


@pytest.mark.parametrize("epochs", [(0, 0), (0, 1)], ids=["one leader", "next leader"])
def test_what_a_coordinator_wrote_again_is_information(
    tmp_path: Path, epochs: tuple[int, int]
) -> None:
    """Two equal commits of one group; the last one holds (GroupMetadataManager)."""
    batches = [_batch(offset, "commit", epoch=epoch) for offset, epoch in enumerate(epochs)]
    (finding,) = _found(tmp_path, batches, topic="__consumer_offsets")
    assert (finding.severity, finding.actions) == ("I", (NOTHING_TO_DO,))
    assert finding.message == "broker 0: equal states that a coordinator wrote again"


def test_timestamps_that_the_broker_set_do_not_hide_a_retry(tmp_path: Path) -> None:
    """Q02: the greatest timestamp is the time of the append, and in the CRC."""
    appended = {"flags": 1 << 3}
    batches = [
        _batch(0, "a", **appended, max_timestamp=10**12 + 7),
        _batch(1, "a", **appended, max_timestamp=10**12 + 1007),
        _batch(2, "b", when=1001, **appended, max_timestamp=10**12 + 1008),
    ]
    (finding,) = _found(tmp_path, batches)
    assert (finding.code, finding.first_offset, finding.next_offset) == ("KL-601", 0, 2)


def test_equal_payloads_created_at_different_times_are_the_applications(tmp_path: Path) -> None:
    """Q03."""
    assert _found(tmp_path, [_batch(offset, "a", when=offset) for offset in range(9)]) == []


def test_idempotent_batches_are_not_looked_at(tmp_path: Path) -> None:
    batches = [
        _batch(offset, "a", producer_id=7, producer_epoch=0, base_sequence=offset)
        for offset in range(3)
    ]
    assert _found(tmp_path, batches) == []


def test_retry_to_another_leader_is_distinguished(tmp_path: Path) -> None:
    """H4: the old leader failed after it stored the batch and before it acknowledged it."""
    old = [_batch(0, "a"), _batch(1, "b", when=1), _batch(2, "m", when=2)]
    new = [*old, _batch(3, "m", epoch=1, when=2)]
    (finding,) = _found(tmp_path, old, new, new)
    assert (finding.code, finding.first_offset, finding.next_offset) == ("KL-602", 2, 4)
    assert _evidence(finding)["replicas"] == "brokers 1 and 2"
    assert "leader epochs 0, 1" in finding.message


def test_far_apart_is_not_a_retry(tmp_path: Path) -> None:
    between = [_batch(offset, f"{offset:05}", when=offset) for offset in range(1, 10_001)]
    far = [_batch(0, "a"), *between, _batch(10_001, "a")]
    assert _found(tmp_path / "far", far) == []
    near = [*far[:10_000], _batch(10_000, "a")]
    assert [finding.code for finding in _found(tmp_path / "near", near)] == ["KL-601"]


def test_equal_checksums_of_different_values_are_no_retry(tmp_path: Path) -> None:
    """Values that differ by a multiple of the polynomial of CRC-32C have one checksum."""
    polynomial = 1 | 0x82F63B78 << 1
    other = polynomial.to_bytes(8, "little")
    values = (bytes(8), other)
    batches = [
        data_batch(n, [Record(offset_delta=0, value=value)], base_timestamp=10**12)
        for n, value in enumerate(values)
    ]
    assert batches[0].build()[17:21] == batches[1].build()[17:21]
    assert _found(tmp_path, batches) == []


@pytest.mark.parametrize("values", [1, 3, 20])
def test_equal_values_in_one_millisecond_are_no_retry(tmp_path: Path, values: int) -> None:
    """A producer without idempotence that sends each record alone, three in a millisecond."""
    chance = Random(values)
    batches = [_batch(n, str(chance.randrange(values)), when=n // 3) for n in range(300)]
    assert _found(tmp_path, batches) == []


def test_a_retry_among_few_values_comes_late(tmp_path: Path) -> None:
    """The log goes on for 120 ms before the producer sends again."""
    chance = Random(1)
    batches = [(str(chance.randrange(20)), 3 * n) for n in range(200)]
    batches.insert(140, batches[100])
    log = [_batch(n, value, when=when) for n, (value, when) in enumerate(batches)]
    (finding,) = _found(tmp_path, log)
    assert (finding.code, finding.first_offset, finding.next_offset) == ("KL-601", 100, 141)


def test_a_window_that_ends_between_two_copies_counts_each_once(tmp_path: Path) -> None:
    """The log is larger than a window; its batches are large, so that few fill a window."""
    large = "x" * (1 << 20)
    batches = [_batch(offset, f"{offset // 3}{large}", when=offset // 3) for offset in range(30)]
    (finding,) = _found(tmp_path, batches)
    assert _evidence(finding)["histogram"] == str({3: 10})
    assert (finding.first_offset, finding.next_offset) == (0, 30)
