"""Brokers and other names in a sentence."""

from __future__ import annotations

from kafkalog_reader.format.broker_words import joined, joined_ids


def test_brokers_are_counted_once() -> None:
    assert joined_ids([3]) == "broker 3"
    assert joined_ids([1, 2, 3]) == "brokers 1, 2 and 3"
    assert joined(["broker 1"]) == "broker 1"
    assert joined(["broker 1", "broker 2"]) == "brokers 1 and 2"
    assert joined(["b1/disk", "broker 2"]) == "b1/disk and broker 2"
