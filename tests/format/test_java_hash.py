"""Hashes and partitions of names, by section 14.4 of kafka-on-disk-format.md."""

from __future__ import annotations

import pytest

from kafkalog_reader.format.java_hash import coordinator_partition, java_hash


@pytest.mark.parametrize(
    ("name", "expected", "partition"),
    [
        ("my-group", -1906497762, 12),
        ("test", 3556498, 48),
        ("console-consumer-12345", 158455506, 6),
        ("connect-cluster", 1440343063, 13),
        ("polygenelubricants", -2147483648, 0),
        ("group-é", 293427483, 33),
        ("😀", 1772899, 49),
        ("", 0, 0),
        ("KafkaConsumerDemo", -2039247585, 35),  # 13 with a masked sign: section 5.5
    ],
)
def test_names_of_the_reference(name: str, expected: int, partition: int) -> None:
    assert java_hash(name) == expected
    assert coordinator_partition(name, 50) == partition
