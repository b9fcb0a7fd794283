"""A log that returns to its copies is the one that the broker wrote, with all that it keeps."""

from __future__ import annotations

import shutil
from dataclasses import astuple
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures import captures, truth
from fixtures.builder import EPOCH_MILLIS, data_batch, marker_batch
from fixtures.builder.producers import Producers
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.checkpoint import LeaderEpochEntry, parse_leader_epoch_checkpoint
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.format.producer_snapshot import (
    ProducerSnapshotEntry,
    build_producer_snapshot,
    parse_producer_snapshot,
)
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.transaction_index import AbortedTransaction, parse_aborted_transaction
from tests.tables.test_offset_order import TOPIC_ID, starts

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from fixtures.builder.batch import Batch
    from kafkalog_reader.salvage.manifest import SalvagedPartition

STOPPED = truth.load(captures.path("everything")).captures["stopped"]
BROKER = next(STOPPED.files.glob("broker-*"))
WHERE = LogPosition("salvaged")
PARTITIONS = sorted(
    path.name
    for path in BROKER.iterdir()
    if path.is_dir() and any(log.stat().st_size for log in path.glob("*.log"))
    if path.name != "__cluster_metadata-0"
)
TRANSACTIONAL = [name for name in PARTITIONS if "transaction" in name and name[0] != "_"]


def salvaged_from(source: Path, output: Path, **options: Any) -> SalvagedPartition:
    (salvaged,) = kafkalog_reader.open(source).salvage(output, as_segments=True, **options)
    assert salvaged.is_in_place
    return salvaged


def log_of(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))


def aborted(directory: Path) -> list[AbortedTransaction]:
    content = b"".join(path.read_bytes() for path in sorted(directory.glob("*.txnindex")))
    size = TRANSACTION_INDEX_ENTRY.size
    return [
        parse_aborted_transaction(content[at : at + size], WHERE)
        for at in range(0, len(content), size)
    ]


def has_records(directory: Path, aborted: AbortedTransaction) -> bool:
    """Whether compaction left some of them; without any, recovery leaves out the entry, too."""
    rows = kafkalog_reader.open(directory).table(
        "batches", ["producerId", "isControl", "baseOffset"], mode="PERMISSIVE"
    )
    return any(
        row["producerId"] == aborted.producer_id
        and aborted.first_offset <= row["baseOffset"] < aborted.last_offset
        for row in rows.to_arrow().to_pylist()
    )


def snapshots(directory: Path) -> dict[str, set[ProducerSnapshotEntry]]:
    return {
        path.name: set(parse_producer_snapshot(path.read_bytes(), WHERE))
        for path in directory.glob("*.snapshot")
    }


def epochs(directory: Path) -> tuple[LeaderEpochEntry, ...]:
    return parse_leader_epoch_checkpoint(
        (directory / "leader-epoch-checkpoint").read_bytes(), WHERE
    )


def only(name: str) -> dict[str, Any]:
    topic, _, partition = name.rpartition("-")
    return {"topic": topic, "partition": int(partition)}


@pytest.mark.parametrize("name", PARTITIONS)
def test_one_copy_gives_the_files_that_the_broker_wrote(name: str, tmp_path: Path) -> None:
    salvaged = salvaged_from(BROKER, tmp_path / "out", **only(name))
    before, after = BROKER / name, tmp_path / "out" / name
    assert salvaged.is_complete
    assert log_of(before).endswith(log_of(after))
    if not salvaged.log_start:
        assert log_of(after) == log_of(before)
        names = {path.name for path in before.glob("*.log") if path.stat().st_size}
        assert {path.name for path in after.glob("*.log")} == names
    assert aborted(after) == [each for each in aborted(before) if has_records(before, each)]
    # The broker raises the first entry to the log start when it loads the log.
    raised = [(e.leader_epoch, max(e.start_offset, salvaged.log_start)) for e in epochs(after)]
    assert raised == [(e.leader_epoch, e.start_offset) for e in epochs(before)]
    findings = kafkalog_reader.open(tmp_path / "out").table("findings").to_arrow().to_pylist()
    of_copy = kafkalog_reader.open(before).table("findings").to_arrow().to_pylist()
    codes = {each["code"] for each in of_copy if each["severity"] != "L"}
    assert {each["code"] for each in findings if each["severity"] != "L"} <= codes
    assert "KL-407" not in {each["code"] for each in findings}
    assert (after / "partition.metadata").read_bytes() == (
        before / "partition.metadata"
    ).read_bytes()
    ends = max(snapshots(before)) if snapshots(before) else None
    if ends is not None:
        assert snapshots(after)[ends] == snapshots(before)[ends]


@pytest.mark.parametrize("name", TRANSACTIONAL)
def test_damaged_copies_give_the_files_that_the_broker_wrote(name: str, tmp_path: Path) -> None:
    """Each batch, data or marker, is sound on only one of three copies."""
    damaged_copies(name, tmp_path / "in")
    salvaged = salvaged_from(tmp_path / "in", tmp_path / "out", merge=True)
    after = tmp_path / "out" / name
    assert (salvaged.is_complete, salvaged.lost) == (True, [])
    assert log_of(after) == log_of(BROKER / name)
    before = BROKER / name
    assert aborted(after) == [each for each in aborted(before) if has_records(before, each)]
    assert epochs(after) == epochs(BROKER / name)
    assert snapshots(after) == snapshots(BROKER / name)
    findings = kafkalog_reader.open(tmp_path / "out").table("findings").to_arrow().to_pylist()
    assert [each for each in findings if each["severity"] != "L"] == []


def test_the_manifest_lists_the_open_transactions(tmp_path: Path) -> None:
    stable = {p: each.last_stable for (t, p), each in STOPPED.offsets.items() if "open" in t}
    for partition, offset in stable.items():
        out = tmp_path / str(partition)
        salvaged = salvaged_from(BROKER, out, topic="open-transaction", partition=partition)
        found = salvaged.notes["openTransactions"]
        assert found["count"] == len(found["transactions"]) == 1
        assert found["transactions"][0]["firstOffset"] == offset


def damaged_copies(name: str, root: Path) -> None:
    for broker in range(3):
        copy = root / f"broker-{broker}"
        shutil.copytree(BROKER / name, copy / name)
        properties = (BROKER / "meta.properties").read_text().splitlines()
        kept = [line for line in properties if not line.startswith(("node.id", "directory.id"))]
        (copy / "meta.properties").write_text("\n".join([*kept, f"node.id={broker}", ""]))
        for path in copy.rglob("*.snapshot"):
            path.unlink()
        for log in copy.rglob("*.log"):
            content = bytearray(log.read_bytes())
            for number, at in enumerate(starts(bytes(content))):
                if number % 3 != broker:
                    content[at + 62] ^= 3
            log.write_bytes(content)


def data(offset: int, producer_id: int, sequence: int, *, is_open: bool = True) -> Batch:
    return data_batch(
        offset,
        [Record(offset_delta=delta, value=b"v") for delta in range(2)],
        base_timestamp=EPOCH_MILLIS + offset,
        base_sequence=sequence,
        producer_id=producer_id,
        producer_epoch=0,
        flags=TRANSACTIONAL_BIT if is_open else 0,
    )


def marker(offset: int, producer_id: int, kind: ControlType) -> Batch:
    return marker_batch(
        offset,
        control_type=kind,
        coordinator_epoch=4,
        leader_epoch=0,
        timestamp=EPOCH_MILLIS + offset,
        producer_id=producer_id,
        producer_epoch=0,
    )


HISTORY = (
    data(0, 7, 0),
    data(2, 8, 0),
    data(4, 9, 0, is_open=False),
    marker(6, 8, ControlType.ABORT),  # 7 is open meanwhile: its records hold back consumers
    data(7, 8, 2),
    marker(9, 7, ControlType.ABORT),
    data(10, 7, 2),
    marker(12, 8, ControlType.COMMIT),
)


def state_before(offset: int) -> Producers:
    producers = Producers()
    for batch in HISTORY:
        if batch.base_offset < offset:
            producers.apply(batch)
    return producers


def make_copy(root: Path, broker: int, batches: tuple[Batch, ...]) -> Path:
    directory = root / f"broker-{broker}" / "t-0"
    directory.mkdir(parents=True)
    (directory.parent / "meta.properties").write_text(
        f"version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAQ\nnode.id={broker}\n"
    )
    (directory / "partition.metadata").write_text(f"version: 0\ntopic_id: {TOPIC_ID}\n")
    if batches:
        log = directory / f"{batches[0].base_offset:020d}.log"
        log.write_bytes(b"".join(batch.build() for batch in batches))
    return directory


def put_snapshot(directory: Path, offset: int) -> None:
    (directory / f"{offset:020d}.snapshot").write_bytes(state_before(offset).snapshot())


def ends_of(*directories: Path) -> dict[int, set[ProducerSnapshotEntry]]:
    return {
        int(name.split(".")[0]): held for d in directories for name, held in snapshots(d).items()
    }


def test_the_transaction_index_says_what_held_consumers_back(tmp_path: Path) -> None:
    make_copy(tmp_path / "in", 1, HISTORY)
    salvaged_from(tmp_path / "in", tmp_path / "out")
    producers = Producers()
    expected = [each for batch in HISTORY if (each := producers.apply(batch))]
    assert len(expected) == 2
    assert aborted(tmp_path / "out" / "t-0") == expected
    assert ends_of(tmp_path / "out" / "t-0") == {13: set(producers.entries.values())}


@pytest.mark.parametrize("has_log", [True, False], ids=["with its log", "alone"])
def test_a_snapshot_of_one_copy_says_what_deleted_batches_said(
    has_log: bool, tmp_path: Path
) -> None:
    """Retention removed the offsets below 7: transaction 7 began there, and 9 is silent since."""
    kept = tuple(batch for batch in HISTORY if batch.base_offset >= 7)
    make_copy(tmp_path / "in", 1, kept)
    other = make_copy(tmp_path / "in", 2, kept if has_log else ())
    put_snapshot(other, 7)
    salvaged_from(tmp_path / "in", tmp_path / "out", merge=True)
    out = tmp_path / "out" / "t-0"
    assert ends_of(out) == {13: set(state_before(13).entries.values())}
    (only_abort,) = aborted(out)
    assert (only_abort.producer_id, only_abort.first_offset) == (7, 0)


def test_a_snapshot_after_lost_batches_counts_and_one_elsewhere_does_not(tmp_path: Path) -> None:
    lost = tuple(batch for batch in HISTORY if batch.base_offset != 9)
    copy = make_copy(tmp_path / "in", 1, lost)
    for offset in (10, 13):
        put_snapshot(copy, offset)
    wrong = ProducerSnapshotEntry(
        producer_id=5, producer_epoch=0, last_sequence=0, last_offset=1, offset_delta=0,
        timestamp=0, coordinator_epoch=0, current_transaction_first_offset=-1,
    )  # fmt: skip
    for offset in (4, 20):
        (copy / f"{offset:020d}.snapshot").write_bytes(build_producer_snapshot([wrong]))
    salvaged_from(tmp_path / "in", tmp_path / "out")
    assert ends_of(tmp_path / "out" / "t-0") == {13: set(state_before(13).entries.values())}


@pytest.mark.parametrize(("spoiled", "lost"), [(9, [(7, 9)]), (12, []), (10, [])])
def test_an_abort_marker_that_is_lost_is_listed(
    spoiled: int, lost: list[tuple[int, int]], tmp_path: Path
) -> None:
    """Without the one at 9, transaction 7 goes on: whatever ends the next one ends it."""
    copy = make_copy(tmp_path / "in", 1, HISTORY)
    producers = Producers()
    entries = [each for batch in HISTORY if (each := producers.apply(batch))]
    index = b"".join(TRANSACTION_INDEX_ENTRY.struct.pack(0, *astuple(each)) for each in entries)
    (copy / f"{0:020d}.txnindex").write_bytes(index)
    log = next(copy.glob("*.log"))
    content = bytearray(log.read_bytes())
    number = [batch.base_offset for batch in HISTORY].index(spoiled)
    content[starts(bytes(content))[number] + 62] ^= 3
    log.write_bytes(content)
    salvaged = salvaged_from(tmp_path / "in", tmp_path / "out")
    assert not salvaged.is_complete
    found = salvaged.notes["lostAbortMarkers"]["markers"]
    assert [(each["producerId"], each["offset"]) for each in found] == lost


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("is_cleaned", [True, False], ids=["cleaned", "lost"])
def test_a_compacted_log_begins_where_its_copies_do(
    is_cleaned: bool, copies: int, tmp_path: Path
) -> None:
    """Consumers may ask for the offsets that compaction removed; lost ones are out of range."""
    kept = tuple(batch for batch in HISTORY if batch.base_offset >= 7)
    for broker in range(copies):
        directory = make_copy(tmp_path / "in", broker, kept)
        (log,) = directory.glob("*.log")
        log.rename(directory / f"{0:020d}.log")
        if is_cleaned:
            (directory.parent / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 7\n")
    salvaged_from(tmp_path / "in", tmp_path / "out", merge=copies > 1)
    (log,) = (tmp_path / "out" / "t-0").glob("*.log")
    assert int(log.stem) == (0 if is_cleaned else 7)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(["0 1\n1 0\n", "1 0\n4 2\n5 6\n7 6\n9 7\n"], id="each copy knows some"),
        pytest.param(["1 0\n2 1\n3 2\n4 2\n9 7\n"], id="batches contradict epoch 2"),
        pytest.param(["1 0\n4 4\n7 6\n9 7\n11 8\n"], id="begins too late, or after the end"),
    ],
)
def test_leader_epochs_are_those_on_which_batches_and_copies_agree(
    rows: list[str], tmp_path: Path
) -> None:
    batches = tuple(
        data_batch(offset, [Record(offset_delta=0)], base_timestamp=0, leader_epoch=epoch)
        for offset, epoch in ((0, 1), (1, 1), (2, 4), (5, 4), (6, 7))
    )
    for broker, text in enumerate(rows):
        directory = make_copy(tmp_path / "in", broker, batches)
        content = f"0\n{text.count(chr(10))}\n{text}"
        (directory / "leader-epoch-checkpoint").write_text(content)
    salvaged_from(tmp_path / "in", tmp_path / "out", merge=len(rows) > 1)
    found = [(e.leader_epoch, e.start_offset) for e in epochs(tmp_path / "out" / "t-0")]
    assert found == [(1, 0), (4, 2), (7, 6), (9, 7)]
