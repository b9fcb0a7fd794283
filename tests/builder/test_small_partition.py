"""The complete small partition of the format reference 14.8 equals Kafka's, file by file."""

from __future__ import annotations

from typing import Final

import pytest

from fixtures.builder import replica, small_batches


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    described = replica(small_batches(), segment_bytes=600, index_interval=100)
    return described.build(is_clean=True)


def test_batches_have_the_sizes_of_the_reference() -> None:
    sizes = [len(batch.build()) for batch in small_batches()]
    assert sizes == [83, 83, 83, 83, 83, 83, 78, 83, 100, 83, 87, 87]


SNAPSHOT: Final = (
    "0001 d6c6567f 00000001 00000000000003e8 0000 00000005 000000000000000b 00000001 "
    "0000018bcfe56806 00000003 ffffffffffffffff"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("00000000000000000000.index", "00000005000000a6 000000090000014c 0000000c000001f2"),
        (
            "00000000000000000000.timeindex",
            "0000018bcfe5680200000005 0000018bcfe5680400000009 0000018bcfe568060000000c",
        ),
        (
            "00000000000000000000.txnindex",
            "0000 00000000000003e8 0000000000000006 000000000000000c 000000000000000d",
        ),
        ("00000000000000000013.index", "00000005000000b7 0000000900000161"),
        (
            "00000000000000000013.timeindex",
            "0000018bcfe5680900000005 0000018bcfe5680b00000009",
        ),
        ("00000000000000000013.snapshot", SNAPSHOT),
        ("00000000000000000023.snapshot", SNAPSHOT),
        ("leader-epoch-checkpoint", b"0\n3\n0 0\n2 10\n5 17\n".hex()),
        ("partition.metadata", b"version: 0\ntopic_id: AAAAAAAAAAEAAAAAAAAABQ".hex()),
    ],
)
def test_file_equals_the_reference(files: dict[str, bytes], name: str, content: str) -> None:
    assert files[name] == bytes.fromhex(content)


def test_logs_have_the_sizes_of_the_reference(files: dict[str, bytes]) -> None:
    assert len(files["00000000000000000000.log"]) == 576
    assert len(files["00000000000000000013.log"]) == 440


def test_there_are_no_other_files(files: dict[str, bytes]) -> None:
    assert sorted(files) == sorted(
        [
            *(f"{0:020d}.{suffix}" for suffix in ("log", "index", "timeindex", "txnindex")),
            *(f"{13:020d}.{suffix}" for suffix in ("log", "index", "timeindex", "snapshot")),
            f"{23:020d}.snapshot",
            "leader-epoch-checkpoint",
            "partition.metadata",
        ]
    )
