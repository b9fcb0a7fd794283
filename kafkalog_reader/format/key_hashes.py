"""Hashes by which producers choose the partition of a key, over many keys at once.

Sources: Kafka 4.4, Utils.murmur2; librdkafka 2.6, rd_kafka_msg_partitioner_consistent (CRC-32) and
rd_kafka_msg_partitioner_fnv1a; Sarama 1.43, hashPartitioner; java.util.Arrays.hashCode.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    _Hash = Callable[[NDArray[np.uint8]], NDArray[np.uint32]]

_M: Final = np.uint32(0x5BD1E995)
_SIGN: Final = 0x7FFF_FFFF


def murmur2(keys: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """``Utils.murmur2`` of keys of one length, a row for each."""
    count, length = keys.shape
    with np.errstate(over="ignore"):
        found = np.full(count, np.uint32(0x9747B28C) ^ np.uint32(length), np.uint32)
        whole = length // 4 * 4
        words = np.ascontiguousarray(keys[:, :whole]).view("<u4")
        for column in range(words.shape[1]):
            word = words[:, column].astype(np.uint32) * _M
            word = (word ^ (word >> np.uint32(24))) * _M
            found = (found * _M) ^ word
        for place in range(length - 1, whole - 1, -1):
            found = found ^ (keys[:, place].astype(np.uint32) << np.uint32(8 * (place - whole)))
        if length > whole:
            found = found * _M
        found = (found ^ (found >> np.uint32(13))) * _M
        return found ^ (found >> np.uint32(15))


def fnv1a(keys: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """FNV-1a, 32 bits."""
    found = np.full(len(keys), 0x811C9DC5, np.uint32)
    with np.errstate(over="ignore"):
        for column in keys.T:
            found = (found ^ column) * np.uint32(0x01000193)
    return found


def java_bytes(keys: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """``String.hashCode`` of Latin-1 text."""
    found = np.zeros(len(keys), np.uint32)
    with np.errstate(over="ignore"):
        for column in keys.T:
            found = found * np.uint32(31) + column
    return found


def crc32(keys: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """CRC-32 of ISO 3309."""
    return np.array([zlib.crc32(key.tobytes()) for key in keys], np.uint32)


def _positive(hashes: NDArray[np.uint32], partitions: int) -> NDArray[np.int64]:
    return (hashes & np.uint32(_SIGN)).astype(np.int64) % partitions


def _unsigned(hashes: NDArray[np.uint32], partitions: int) -> NDArray[np.int64]:
    return hashes.astype(np.int64) % partitions


def _absolute(hashes: NDArray[np.uint32], partitions: int) -> NDArray[np.int64]:
    """As Kafka's ``Utils.abs`` and as the remainder of a negative number made positive."""
    signed = hashes.view(np.int32).astype(np.int64)
    return np.where(signed == -(1 << 31), 0, np.abs(signed)) % partitions


PARTITIONERS: Final[
    Mapping[str, tuple[_Hash, Callable[[NDArray[np.uint32], int], NDArray[np.int64]]]]
] = {
    "murmur2": (murmur2, _positive),
    "crc32": (crc32, _unsigned),
    "fnv1a": (fnv1a, _absolute),
    "java-hash": (java_bytes, _absolute),
    "java-hash-masked": (java_bytes, _positive),
}
"""By name: the hash, and what makes a partition of it."""


def hashes_of_keys(keys: Sequence[bytes], partitioner: str) -> NDArray[np.uint32]:
    """The hash by which a partitioner chooses the partition of each key."""
    hash_keys, _ = PARTITIONERS[partitioner]
    found = np.zeros(len(keys), np.uint32)
    lengths = np.array([len(key) for key in keys], np.int64)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        joined = np.frombuffer(b"".join(keys[row] for row in rows.tolist()), np.uint8)
        found[rows] = hash_keys(joined.reshape(len(rows), length))
    return found


def partitions_by(
    hashes: NDArray[np.uint32], partitioner: str, partitions: int
) -> NDArray[np.int64]:
    """Where a partitioner puts keys with these hashes in a topic with this many partitions."""
    return PARTITIONERS[partitioner][1](hashes, partitions)


def partitions_of(keys: Sequence[bytes], partitioner: str, partitions: int) -> NDArray[np.int64]:
    """Where a partitioner puts keys in a topic with this number of partitions."""
    return partitions_by(hashes_of_keys(keys, partitioner), partitioner, partitions)
