"""Logs written for another cluster hold the records that a consumer of the first one got."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures import captures, truth
from fixtures.builder.batch import EPOCH_MILLIS, data_batch
from fixtures.builder.segment import Segment
from kafkalog_reader.errors import LogPosition, UsageError
from kafkalog_reader.format.checkpoint import parse_leader_epoch_checkpoint
from kafkalog_reader.format.partition_metadata import parse_partition_metadata
from kafkalog_reader.format.producer_snapshot import parse_producer_snapshot
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.receiver import Receiver
from kafkalog_reader.salvage.run import salvage
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder.batch import Batch
    from kafkalog_reader.salvage.manifest import SalvagedPartition

EVERYTHING = captures.path("everything")
STOPPED = truth.load(EVERYTHING).captures["stopped"]
BROKER = next(STOPPED.files.glob("broker-*"))
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"
OPEN = "open-transaction"
WRITTEN = sorted(
    {record.topic for record in STOPPED.records() if not record.topic.startswith("__")} - {OPEN}
)
WHERE = LogPosition("salvaged")
GAPS = frozenset({"KL-111", "KL-403"})  # gaps of offsets, also between segments


def salvaged_from(source: Path, output: Path, topic: str) -> list[SalvagedPartition]:
    request = ReadRequest(topics=frozenset({topic}), replica="best")
    receiver = Receiver(topic_ids={topic: TOPIC_ID}, leader_epoch=3)
    return list(salvage(discover([str(source)]), request, str(output), receiver=receiver))


@pytest.mark.parametrize("topic", WRITTEN)
def test_records_are_those_a_read_committed_consumer_was_given(topic: str, tmp_path: Path) -> None:
    salvaged_from(BROKER, tmp_path / "out", topic)
    rows = (
        kafkalog_reader.open(str(tmp_path / "out"))
        .table(
            "records",
            ["partition", "offset", "key", "value", "isControl", "producerId"],
            mode="PERMISSIVE",  # the batches that were left out are missing
        )
        .to_arrow()
        .to_pylist()
    )
    found = [(r["partition"], r["offset"], r["key"], r["value"]) for r in rows]
    expected = [
        (r.partition, r.offset, r.key, r.value) for r in STOPPED.records(topic) if r.committed
    ]
    low = {p: each.earliest for (t, p), each in STOPPED.offsets.items() if t == topic}
    assert [each for each in sorted(found) if each[1] >= low[each[0]]] == sorted(expected)
    assert {r["producerId"] for r in rows} == {-1}


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_salvaged_log_has_no_findings_but_the_gaps_of_what_was_left_out(
    topic: str, tmp_path: Path
) -> None:
    salvaged_from(BROKER, tmp_path / "out", topic)
    findings = kafkalog_reader.open(str(tmp_path / "out")).table("findings").to_arrow().to_pylist()
    assert [f for f in findings if f["severity"] != "L" and f["code"] not in GAPS] == []


def test_an_open_transaction_is_left_out_and_what_lies_behind_it_is_kept(tmp_path: Path) -> None:
    partitions = salvaged_from(BROKER, tmp_path / "out", OPEN)
    assert all(p.notes["undecidedBatches"] > 0 for p in partitions)
    stable = {p: each.last_stable for (t, p), each in STOPPED.offsets.items() if t == OPEN}
    rows = kafkalog_reader.open(str(tmp_path / "out")).table(
        "records", ["partition", "offset"], mode="PERMISSIVE"
    )
    found = {(r["partition"], r["offset"]) for r in rows.to_arrow().to_pylist()}
    assert not found & set(stable.items())
    committed = {(r.partition, r.offset) for r in STOPPED.records(OPEN) if r.committed}
    assert committed <= found


def test_small_files_name_the_receiving_cluster(tmp_path: Path) -> None:
    (salvaged,) = salvaged_from(BROKER, tmp_path / "out", "idempotent")
    folder = tmp_path / "out" / "idempotent-0"
    (epoch,) = parse_leader_epoch_checkpoint(
        (folder / "leader-epoch-checkpoint").read_bytes(), WHERE
    )
    assert (epoch.leader_epoch, epoch.start_offset) == (3, salvaged.offsets.first)
    metadata = parse_partition_metadata((folder / "partition.metadata").read_bytes(), WHERE)
    assert metadata.topic_id == TOPIC_ID
    (snapshot,) = folder.glob("*.snapshot")
    assert parse_producer_snapshot(snapshot.read_bytes(), WHERE) == ()
    epochs = kafkalog_reader.open(str(tmp_path / "out")).table(
        "batches", ["leaderEpoch", "crcValid"]
    )
    assert set(map(tuple, (r.values() for r in epochs.to_arrow().to_pylist()))) == {(3, True)}


def test_indexes_are_those_that_the_builder_makes(tmp_path: Path) -> None:
    batches: list[Batch] = []
    for number in range(400):
        wave = (number * 37) % 101  # timestamps rise and fall
        records = [Record(offset_delta=0, timestamp_delta=0, key=None, value=b"x" * (number % 300))]
        batches.append(data_batch(number, records, base_timestamp=EPOCH_MILLIS + wave))
    segment = Segment(base_offset=0, batches=tuple(batches))
    source = tmp_path / "in" / "t-0"
    source.mkdir(parents=True)
    (source / segment.file_name("log")).write_bytes(segment.log())
    salvaged_from(tmp_path / "in" / "t-0", tmp_path / "out", "t")
    offsets, times = segment.indexes(4096, is_closed=True)
    made = tmp_path / "out" / "t-0"
    assert (made / segment.file_name("index")).read_bytes() == offsets
    assert (made / segment.file_name("timeindex")).read_bytes() == times


def test_batches_without_a_producer_are_copied_byte_for_byte_but_for_the_leader_epoch(
    tmp_path: Path,
) -> None:
    salvaged_from(BROKER, tmp_path / "out", "one-record-batches")
    name = f"{0:020d}.log"
    before = (BROKER / "one-record-batches-0" / name).read_bytes()
    after = (tmp_path / "out" / "one-record-batches-0" / name).read_bytes()
    positions = kafkalog_reader.open(str(tmp_path / "out")).table(
        "batches", ["position", "producerId"]
    )
    rows = positions.to_arrow().to_pylist()
    assert {row["producerId"] for row in rows} == {-1}
    restored = bytearray(after)
    for row in rows:
        at = row["position"] + 12
        restored[at : at + 4] = before[at : at + 4]
    assert bytes(restored) == before


def test_a_topic_without_an_id_over_there_is_refused(tmp_path: Path) -> None:
    request = ReadRequest(topics=frozenset({"idempotent"}))
    with pytest.raises(UsageError, match="--topic-id idempotent=ID is missing"):
        list(
            salvage(
                discover([str(BROKER)]),
                request,
                str(tmp_path / "out"),
                receiver=Receiver(topic_ids={}),
            )
        )
    assert not (tmp_path / "out").exists()


ABORTED = sorted(
    path.parent.name
    for path in BROKER.glob("*/*.txnindex")
    if path.stat().st_size and not path.parent.name.startswith(OPEN)
)


@pytest.mark.parametrize("directory", ABORTED)
def test_an_abort_marker_lost_to_damage_is_known_from_the_transaction_index(
    directory: str, tmp_path: Path
) -> None:
    """Otherwise the next marker of the producer, a commit, would make aborted records valid."""
    source = tmp_path / "in"
    shutil.copytree(BROKER, source)
    topic = directory.rpartition("-")[0]
    markers = kafkalog_reader.open(str(source / directory)).table(
        "records", ["position", "offset", "controlType", "segmentBaseOffset"], mode="PERMISSIVE"
    )
    aborts = [row for row in markers.to_arrow().to_pylist() if row["controlType"] == "ABORT"]
    for row in aborts:
        log = source / directory / f"{row['segmentBaseOffset']:020}.log"
        content = bytearray(log.read_bytes())
        content[row["position"] + 17 : row["position"] + 21] = b"lost"  # in magic 2, the CRC
        log.write_bytes(content)
    salvaged_from(source, tmp_path / "out", topic)
    rows = (
        kafkalog_reader.open(str(tmp_path / "out"))
        .table("records", ["offset", "value"], mode="PERMISSIVE")
        .to_arrow()
    )
    committed = {r.value for r in STOPPED.records(topic) if r.committed}
    assert aborts
    assert {row["value"] for row in rows.to_pylist()} <= committed
