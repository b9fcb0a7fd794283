"""Replicas that threads read in large windows give the same comparison as in small windows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.batch import data_batch
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.partition import auditor
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.read_rate import ReadRate
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = 24
VALUE = bytes(range(256)) * 1024


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Three copies of six MiB, for tests that change their files."""
    log = [data_batch(offset, [Record(offset_delta=0, value=VALUE)]) for offset in range(BATCHES)]
    cluster(tmp_path, {broker: replica(log) for broker in range(3)})
    return tmp_path


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the threads that load windows, which have two MiB here."""
    monkeypatch.setattr(auditor, "_WINDOW", 2 << 20)
    names: set[str] = set()
    real = BatchStream.load

    def noting(stream: BatchStream) -> None:
        names.add(threading.current_thread().name)
        real(stream)

    monkeypatch.setattr(BatchStream, "load", noting)
    return names


def test_equal_copies_are_read_by_threads(copies: Path, threads: set[str]) -> None:
    audit = audit_of(copies)
    assert any(name.startswith("window") for name in threads)
    assert audit.verdict is Verdict.CONSISTENT
    assert isinstance(audit.comparison, Comparison)
    (root,) = audit.comparison.roots
    assert [replica.broker_id for replica in root.replicas] == [0, 1, 2]
    assert (root.batches, root.records) == (BATCHES, BATCHES)
    assert [each.summary.batches for each in audit.replicas] == [BATCHES] * 3


@pytest.mark.parametrize("broker", [0, 1, 2])
@pytest.mark.parametrize("batch", [0, 7, 8, BATCHES - 1])
def test_damage_in_any_window_of_any_copy_is_found(
    copies: Path, threads: set[str], broker: int, batch: int
) -> None:
    log = copies / f"broker-{broker}" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[len(content) // BATCHES * batch + 1001] ^= 1
    log.write_bytes(content)
    audit = audit_of(copies)
    assert any(name.startswith("window") for name in threads)
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE
    assert isinstance(audit.comparison, Comparison)
    damaged = {replica.broker_id: each for replica, each in audit.comparison.damaged.items()}
    assert {node: each.count for node, each in damaged.items()} == {
        node: int(node == broker) for node in range(3)
    }
    (place,) = damaged[broker].places
    assert place.where.offset == batch


def test_a_limited_rate_needs_no_threads(copies: Path, threads: set[str]) -> None:
    limited = ReadContext(rate=ReadRate(1 << 30))
    assert audit_of(copies, context=limited).verdict is Verdict.CONSISTENT
    assert threads == {threading.main_thread().name}
