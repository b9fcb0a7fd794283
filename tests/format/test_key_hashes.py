"""Hashes of keys, by section 14.3 of kafka-on-disk-format.md and by published test vectors."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.format.java_hash import coordinator_partition, java_hash
from kafkalog_reader.format.key_hashes import crc32, fnv1a, java_bytes, murmur2, partitions_of

MURMUR2 = {
    b"": 275646681, b"a": -1563381124, b"ab": 316155434, b"abc": 479470107, b"abcd": -1323649548,
    b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, b"kafka": -798503068,
    b"user-1": 1404122828, bytes.fromhex("fffefdfc7f8081"): 1722777495,
}  # fmt: skip
PARTITIONS_OF_12 = {b"": 9, b"a": 4, b"ab": 2, b"abc": 3, b"abcd": 8, b"foobar": 6, b"kafka": 4}


def rows(key: bytes) -> np.ndarray:
    return np.frombuffer(key, np.uint8).reshape(1, len(key))


@pytest.mark.parametrize(("key", "expected"), MURMUR2.items())
def test_murmur2_of_the_reference(key: bytes, expected: int) -> None:
    assert murmur2(rows(key)).view(np.int32)[0] == expected


def test_murmur2_partitions_of_the_reference() -> None:
    keys = list(PARTITIONS_OF_12)
    assert partitions_of(keys, "murmur2", 12).tolist() == list(PARTITIONS_OF_12.values())


def test_published_vectors_of_the_others() -> None:
    """FNV: draft-eastlake-fnv, appendix C; CRC-32: its check value."""
    assert fnv1a(rows(b"foobar"))[0] == 0xBF9CF968
    assert fnv1a(rows(b""))[0] == 0x811C9DC5
    assert crc32(rows(b"123456789"))[0] == 0xCBF43926


@pytest.mark.parametrize("name", ["KafkaConsumerDemo", "polygenelubricants", "my-group"])
def test_javas_hash_is_that_of_group_names(name: str) -> None:
    assert java_bytes(rows(name.encode())).view(np.int32)[0] == java_hash(name)
    found = partitions_of([name.encode()], "java-hash", 50)
    assert found.tolist() == [coordinator_partition(name, 50)]


def test_a_masked_sign_gives_another_partition() -> None:
    """Section 5.5: 13 of 50 instead of 35."""
    assert partitions_of([b"KafkaConsumerDemo"], "java-hash-masked", 50).tolist() == [13]
