"""Checks, without our reader, that captures of ``everything`` contain every kind of data.

A broker with other defaults could omit some kinds, and every comparison would still agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def every_codec_has_several_segments_with_index_entries(
    _scenario: Truth, capture: CaptureTruth
) -> None:
    for codec in CODECS:
        logs = _batches(capture, f"codec-{codec}-0")
        assert len(logs) == 3
        for batches in logs:
            assert {batch["compresscodec"] for batch in batches} == {codec}
        assert _entries(capture, f"codec-{codec}-0", ".index") > len(logs)
        assert _entries(capture, f"codec-{codec}-0", ".timeindex") > len(logs)


def brokers_compressed_again(_scenario: Truth, capture: CaptureTruth) -> None:
    for codec in CODECS[1:]:
        (batches,) = _batches(capture, f"broker-{codec}-0")
        assert {batch["compresscodec"] for batch in batches} == {codec}


def one_log_mixes_all_codecs(_scenario: Truth, capture: CaptureTruth) -> None:
    (batches,) = _batches(capture, "mixed-codecs-0")
    assert [batch["compresscodec"] for batch in batches][:10] == [*CODECS, *CODECS]


def keys_values_and_headers_are_null_and_empty(_scenario: Truth, capture: CaptureTruth) -> None:
    records = list(capture.records("null-and-empty"))
    for one in (None, b"", b"\x00"):
        for other in (None, b"", b"\x00"):
            assert sum((each.key, each.value) == (one, other) for each in records) == 2
    headers = [record.headers for record in capture.records("headers")]
    assert headers.count(()) == 2
    assert headers.count((("a", None), ("a", b""), ("a", None))) == 2
    assert headers.count((("", b"x"), ("", None))) == 2
    assert max(len(each) for each in headers) == 300


def timestamps_are_odd(_scenario: Truth, capture: CaptureTruth) -> None:
    times = [record.timestamp for record in capture.records("timestamps")]
    for odd in (0, 1, -1, -86_400_000, 253_402_300_799_999, 2**63 - 1):
        assert times.count(odd) >= 1, odd
    appended = list(capture.records("append-time"))
    assert {record.timestamp_type for record in appended} == {"LogAppendTime"}
    assert len(appended) == 12


def the_cleaner_left_every_trace(_scenario: Truth, capture: CaptureTruth) -> None:
    for topic, has_tombstones in (("compacted", True), ("tombstones-gone", False)):
        batches = _batches(capture, f"{topic}-0")[0]
        assert any(batch["count"] == "0" for batch in batches)
        assert any(0 < int(batch["count"]) < _span(batch) for batch in batches)
        horizons = [batch["deleteHorizonMs"] != "OptionalLong.empty" for batch in batches]
        assert any(horizons) == has_tombstones
        values = [record.value for record in capture.records(topic)]
        assert (None in values) == has_tombstones


def logs_were_cut_from_the_front(scenario: Truth, capture: CaptureTruth) -> None:
    for name, start in scenario.expected["logStart"].items():
        first, *_ = _batches(capture, name)
        assert any(
            int(batch["baseOffset"]) < start <= int(batch["lastOffset"]) for batch in first
        ), "within a batch"
    for name in scenario.expected["empty"]:
        topic, partition = name.rsplit("-", 1)
        offsets = capture.offsets[topic, int(partition)]
        assert offsets.earliest == offsets.latest
    assert capture.offsets["emptied", 0].latest > 0


def transactions_ended_in_every_way(scenario: Truth, capture: CaptureTruth) -> None:
    lines = [line for each in capture.dump(deep=True) for line in each.lines]
    assert any("endTxnMarker: COMMIT" in line for line in lines)
    assert any("endTxnMarker: ABORT" in line for line in lines)
    for name, first in scenario.expected["openTransactionFrom"].items():
        topic, partition = name.rsplit("-", 1)
        offsets = capture.offsets[topic, int(partition)]
        assert offsets.last_stable == first < offsets.latest
    assert _entries(capture, "transactions-0", ".txnindex") > 0


def javas_producer_wrote_too(_scenario: Truth, capture: CaptureTruth) -> None:
    (batches,) = _batches(capture, "java-producer-0")
    assert {batch["compresscodec"] for batch in batches} == {"lz4"}
    (batches,) = _batches(capture, "java-transactions-0")
    ends = [int(each["producerEpoch"]) for each in batches if each["isControl"] == "true"]
    assert ends == list(range(1, len(ends) + 1)), "a new producer epoch for each transaction"


def groups_of_both_protocols_committed(_scenario: Truth, capture: CaptureTruth) -> None:
    assert {group["type"] for group in capture.groups.values()} == {"CLASSIC", "CONSUMER"}
    has_members = {name for name, group in capture.groups.items() if group["members"]}
    assert {"left-classic", "left-consumer"} <= capture.groups.keys() - has_members
    assert capture.name != "running" or {"classic", "static", "consumer"} <= has_members
    assert not any(name.startswith("deleted") for name in capture.groups)
    metadata = {each["metadata"] for group in capture.groups.values() for each in group["offsets"]}
    assert {"", "zweite Übergabe, 二", "x" * 500, "in a transaction"} <= metadata


def files_are_as_the_broker_ended(_scenario: Truth, capture: CaptureTruth) -> None:
    broker = capture.files / "broker-0"
    stopped = capture.name == "stopped"
    assert (broker / ".kafka_cleanshutdown").exists() == stopped
    indexes = [path.stat().st_size for path in broker.glob("never-written-0/*.timeindex")]
    assert any(indexes) != stopped, "preallocated while it runs, trimmed when it stops"
    deleted = list(broker.glob("emptied-0/*.log.deleted"))
    assert bool(deleted) == (capture.name != "killed"), "a start removes what is marked as deleted"
    epochs = {record.leader_epoch for record in capture.records("mixed-codecs")}
    assert (len(epochs) > 1) == (capture.name == "killed")


def records_are_large_and_alone(_scenario: Truth, capture: CaptureTruth) -> None:
    assert max(len(each.value or b"") for each in capture.records("large-record")) == 300 << 10
    (batches,) = _batches(capture, "one-record-batches-0")
    assert [batch["count"] for batch in batches] == ["1"] * 250
    (batches,) = _batches(capture, "idempotent-0")
    assert [batch["baseSequence"] for batch in batches] == ["0", "3", "6", "9"]


ALL: tuple[Callable[[Truth, CaptureTruth], None], ...] = (
    every_codec_has_several_segments_with_index_entries,
    brokers_compressed_again,
    one_log_mixes_all_codecs,
    keys_values_and_headers_are_null_and_empty,
    timestamps_are_odd,
    the_cleaner_left_every_trace,
    logs_were_cut_from_the_front,
    transactions_ended_in_every_way,
    javas_producer_wrote_too,
    groups_of_both_protocols_committed,
    files_are_as_the_broker_ended,
    records_are_large_and_alone,
)


def _batches(capture: CaptureTruth, directory: str) -> list[list[dict[str, str]]]:
    """The batches of each log of a partition, as Kafka's own tool prints them."""
    wanted = f"{capture.name}/broker-0/{directory}/"
    return [
        list(each.batches())
        for each in capture.dump()
        if each.file.startswith(wanted) and each.file.endswith(".log")
    ]


def _entries(capture: CaptureTruth, directory: str, suffix: str) -> int:
    wanted = f"{capture.name}/broker-0/{directory}/"
    return sum(
        len(each.lines)
        for each in capture.dump()
        if each.file.startswith(wanted) and each.file.endswith(suffix)
    )


def _span(batch: dict[str, str]) -> int:
    return int(batch["lastOffset"]) - int(batch["baseOffset"]) + 1
