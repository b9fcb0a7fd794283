"""The small partition of kafka-on-disk-format.md, section 14.8, which Kafka wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica, small_batches
from tests.tables.copied_logs import write_replica

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Rows = "Callable[..., list[dict[str, Any]]]"


SMALL_FILES: Final = {
    "00000000000000000000.index": "00000005000000a6 000000090000014c 0000000c000001f2",
    "00000000000000000000.timeindex": (
        "0000018bcfe5680200000005 0000018bcfe5680400000009 0000018bcfe568060000000c"
    ),
    "00000000000000000000.txnindex": (
        "0000 00000000000003e8 0000000000000006 000000000000000c 000000000000000d"
    ),
    "00000000000000000013.index": "00000005000000b7 0000000900000161",
    "00000000000000000013.timeindex": "0000018bcfe5680900000005 0000018bcfe5680b00000009",
    "00000000000000000013.snapshot": (
        "0001 d6c6567f 00000001 00000000000003e8 0000 00000005 000000000000000b 00000001 "
        "0000018bcfe56806 00000003 ffffffffffffffff"
    ),
}
"""The bytes that Kafka wrote."""


@pytest.fixture
def small_partition(tmp_path: Path) -> Path:
    """Its directory, in the log directory of broker 1, which was shut down cleanly."""
    described = replica(
        small_batches(),
        segment_bytes=600,
        index_interval=100,
        high_watermark=23,
        recovery_point=23,
        files={name: bytes.fromhex(content) for name, content in SMALL_FILES.items()},
    )
    return cluster(tmp_path, {1: described}, clean=[1])[1] / "t-0"


@pytest.fixture
def rows_of() -> Callable[..., list[dict[str, Any]]]:
    """The rows of a table over paths, as dictionaries."""

    def read(name: str, *paths: Path, **options: Any) -> list[dict[str, Any]]:
        table = kafkalog_reader.open(*map(str, paths)).table(name, **options)
        rows: list[dict[str, Any]] = table.to_arrow().to_pylist()
        return rows

    return read


@pytest.fixture
def two_leaders(tmp_path: Path) -> Path:
    """S3.2 of real-brokers.md: broker 1 was isolated while it led, brokers 2 and 3 continued."""
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    write_replica(tmp_path, 3, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    return tmp_path
