"""Several copies of one partition are merged into one sound log; forks are never mixed."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures, truth
from fixtures.builder import cluster, replica
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.merge import try_merge
from kafkalog_reader.salvage.receiver import Receiver
from kafkalog_reader.salvage.run import salvage
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.test_offset_order import FIVE, TOPIC_ID, starts

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.salvage.manifest import SalvagedPartition

EVERYTHING = captures.path("everything")
STOPPED = truth.load(EVERYTHING).captures["stopped"]
BROKER = next(STOPPED.files.glob("broker-*"))
S3_2 = captures.path("s3_2")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three equal copies of five batches of ten records."""
    root = tmp_path / "in"
    cluster(root, {n: replica(FIVE, high_watermark=50) for n in (1, 2, 3)})
    return root


def log_of(root: Path, broker: int) -> Path:
    (log,) = (root / f"broker-{broker}").rglob("*.log")
    return log


def spoil(log: Path, batch: int) -> None:
    content = bytearray(log.read_bytes())
    content[starts(content)[batch] + 70] ^= 0x11
    log.write_bytes(content)


def merge(root: Path, output: Path, topic: str = "t") -> SalvagedPartition:
    receiver = Receiver(topic_ids={topic: TOPIC_ID})
    request = ReadRequest(topics=frozenset({topic}))
    evidence = discover([str(root)])
    (merged,) = salvage(evidence, request, str(output), receiver=receiver, merge=True)
    return merged


def manifest(output: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((output / "manifest.json").read_text())
    return content


@pytest.mark.parametrize("copies", [1, 2], ids=["one-copy", "merged"])
def test_compaction_explains_no_gap_where_a_batch_is_damaged(copies: int, tmp_path: Path) -> None:
    """Offsets 11 to 13 were cleaned before; 15 was there, and is readable nowhere."""
    log = "0-9/e0[0,4,9] a@10/e0 b@14/e0 c@15/e0 d@16/e0"
    cluster(tmp_path / "in", {n: replica(log, high_watermark=17) for n in range(copies)})
    for path in (tmp_path / "in").rglob("*.log"):
        content = bytearray(path.read_bytes())
        content[starts(content)[3] + 63] ^= 0x11
        path.write_bytes(content)
    receiver = Receiver(topic_ids={"t": TOPIC_ID})
    evidence = discover([str(tmp_path / "in")])
    request = ReadRequest(topics=frozenset({"t"}))
    output = str(tmp_path / "out")
    (made,) = salvage(evidence, request, output, receiver=receiver, merge=copies > 1)
    assert [(each.first_offset, each.next_offset) for each in made.lost] == [(15, 16)]
    assert not made.is_complete
    (written,) = manifest(tmp_path / "out")["partitions"]
    assert [(each["firstOffset"], each["lastOffset"]) for each in written["lostOffsets"]] == [
        (15, 15)
    ]


def test_each_batch_comes_from_a_copy_where_it_is_sound(three: Path, tmp_path: Path) -> None:
    sound = log_of(three, 1).read_bytes()
    for broker, batches in {1: (0, 3), 2: (1, 4), 3: (0, 1, 2)}.items():
        for batch in batches:
            spoil(log_of(three, broker), batch)
    merged = merge(three, tmp_path / "out")
    assert (merged.records, merged.is_complete, merged.lost) == (50, True, [])
    (log,) = (tmp_path / "out").rglob("*.log")
    assert log.read_bytes() == sound
    written = manifest(tmp_path / "out")["partitions"][0]
    assert [each["replica"] for each in written["mergedFrom"]] == [
        "broker 1",
        "broker 2",
        "broker 3",
    ]
    assert sum(each["batchesTaken"] for each in written["mergedFrom"]) == 5
    assert [each["leftOut"]["count"] for each in written["mergedFrom"]] == [2, 2, 3]
    assert written["counts"]["found"]["batches"] == 15
    assert written["counts"]["leftOut"]["takenFromAnotherCopy"]["batches"] == 3
    findings = kafkalog_reader.open(str(tmp_path / "out")).table("findings").to_arrow().to_pylist()
    assert [f for f in findings if f["severity"] != "L"] == []


def test_a_batch_that_is_repaired_because_no_copy_has_it_sound_is_counted(
    three: Path, tmp_path: Path
) -> None:
    """One bit is flipped in batch 3 of all copies; batch 1 of one copy comes from another one."""
    sound = log_of(three, 1).read_bytes()
    for broker in (1, 2, 3):
        content = bytearray(sound)
        content[starts(content)[3] + 100] ^= 1 << broker
        if broker == 1:
            content[starts(content)[1] + 100] ^= 1
        log_of(three, broker).write_bytes(content)
    merged = merge(three, tmp_path / "out")
    assert (merged.records, merged.is_complete) == (50, True)
    (log,) = (tmp_path / "out").rglob("*.log")
    assert log.read_bytes() == sound
    repaired = manifest(tmp_path / "out")["partitions"][0]["repaired"]
    assert repaired["count"] == 1
    ((first, last, kind),) = [
        (each["firstOffset"], each["lastOffset"], each["kind"]) for each in repaired["batches"]
    ]
    assert (first, last, kind) == (30, 39, "flippedBit")


def test_what_no_copy_holds_is_lost_and_said(three: Path, tmp_path: Path) -> None:
    for broker in (1, 2, 3):
        spoil(log_of(three, broker), 2)
    merged = merge(three, tmp_path / "out")
    assert (merged.records, merged.is_complete) == (40, False)
    assert [(each.first_offset, each.next_offset) for each in merged.lost] == [(20, 30)]


@pytest.mark.parametrize(("spoilt", "lost"), [((1, 2, 3), ((20, 30),)), ((1, 2), ())])
def test_cleaning_explains_no_batch_that_is_there_and_damaged(
    spoilt: tuple[int, ...], lost: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    """A gap in a compacted log proves no loss, but a damaged batch at its beginning does."""
    root = tmp_path / "in"
    compacted = replica(FIVE, high_watermark=50, cleaner_offset=50)
    cluster(root, dict.fromkeys((1, 2, 3), compacted))
    for broker in spoilt:
        spoil(log_of(root, broker), 2)
    request = ReadRequest(mode=Mode.PERMISSIVE, log_range_only=True)
    ((_, directories),) = discover([str(root)]).topic_partitions(request)
    outcome = try_merge("t-0", directories, request)
    assert (outcome.readable_offsets, outcome.lost) == (40 if lost else 50, lost)


def test_a_batch_at_a_wrong_offset_is_taken_from_a_copy_where_it_is_right(
    three: Path, tmp_path: Path
) -> None:
    sound = log_of(three, 1).read_bytes()
    for broker, batch in ((1, 2), (2, 3)):
        content = bytearray(log_of(three, broker).read_bytes())
        at = starts(content)[batch]
        content[at : at + 8] = (7).to_bytes(8, "big")
        log_of(three, broker).write_bytes(content)
    log_of(three, 3).write_bytes(sound[: starts(sound)[1]])
    merged = merge(three, tmp_path / "out")
    assert (merged.records, merged.is_complete, merged.doubtful) == (50, True, [])
    (log,) = (tmp_path / "out").rglob("*.log")
    assert log.read_bytes() == sound


def test_a_torn_batch_is_taken_whole_from_another_copy(three: Path, tmp_path: Path) -> None:
    sound = log_of(three, 1).read_bytes()
    for broker in (1, 2):
        log_of(three, broker).write_bytes(sound[:-20])
    merged = merge(three, tmp_path / "out")
    assert (merged.records, merged.is_complete) == (50, True)
    (log,) = (tmp_path / "out").rglob("*.log")
    assert log.read_bytes() == sound


def refused(root: Path, output: Path) -> str:
    with pytest.raises(UsageError) as caught:
        merge(root, output)
    assert list(output.iterdir()) == []
    return str(caught.value)


def test_a_real_fork_is_refused(tmp_path: Path) -> None:
    problem = refused(S3_2 / "both-led", tmp_path / "out")
    assert "hold different records from offset 2 on" in problem
    assert "--replica broker:N" in problem


def test_a_fork_that_damage_hides_is_refused(tmp_path: Path) -> None:
    """Broker 1 wrote 10-19 under epoch 0, broker 2 under epoch 1, and that batch is damaged."""
    root = tmp_path / "in"
    cluster(
        root,
        {
            1: replica("0-9/e0 10-19/e0", epochs="0:0"),
            2: replica("0-9/e0 10-19/e1 20-29/e1", epochs="0:0 1:10"),
        },
    )
    spoil(log_of(root, 2), 1)
    assert "hold different records from offset 10 on" in refused(root, tmp_path / "out")


def test_a_tail_that_a_newer_leader_lacks_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "in"
    cluster(
        root,
        {
            1: replica("0-9/e0 10-19/e0", epochs="0:0"),
            2: replica("0-9/e0", epochs="0:0 1:10"),
        },
    )
    assert "from offset 10 on" in refused(root, tmp_path / "out")


def test_a_fork_begins_where_batches_with_other_bounds_do(tmp_path: Path) -> None:
    """No two batches end at one offset before 2."""
    root = tmp_path / "in"
    cluster(root, {1: replica("a,b@0/e0 c@2/e0"), 2: replica("x@0/e0 y,z@1/e0")})
    assert "hold different records from offset 0 on" in refused(root, tmp_path / "out")


def test_a_copy_that_lags_is_not_a_fork(tmp_path: Path) -> None:
    root = tmp_path / "in"
    cluster(root, {1: replica(FIVE), 2: replica("0-9/e0 10-19/e0")})
    spoil(log_of(root, 1), 0)
    merged = merge(root, tmp_path / "out")
    assert (merged.records, merged.is_complete) == (50, True)


@pytest.mark.parametrize("topic", ["transactions", "mixed-codecs", "idempotent"])
def test_damaged_copies_of_a_real_log_give_what_consumers_were_given(
    topic: str, tmp_path: Path
) -> None:
    """Each batch is sound on only one of three copies."""
    for broker in range(3):
        copy = tmp_path / "in" / f"broker-{broker}"
        for directory in BROKER.glob(f"{topic}-*"):
            shutil.copytree(directory, copy / directory.name)
        properties = (BROKER / "meta.properties").read_text().splitlines()
        kept = [line for line in properties if not line.startswith(("node.id", "directory.id"))]
        (copy / "meta.properties").write_text("\n".join([*kept, f"node.id={broker}", ""]))
        for log in copy.rglob("*.log"):
            for batch in range(len(starts(log.read_bytes()))):
                if batch % 3 != broker:
                    spoil(log, batch)
    receiver = Receiver(topic_ids={topic: TOPIC_ID})
    evidence = discover([str(tmp_path / "in")])
    merged = list(
        salvage(evidence, ReadRequest(), str(tmp_path / "out"), receiver=receiver, merge=True)
    )
    assert all(each.is_complete != bool(each.records_of_transactions) for each in merged)
    assert all(each.lost == [] for each in merged)
    rows = kafkalog_reader.open(str(tmp_path / "out")).table(
        "records",
        ["partition", "offset", "key", "value"],
        mode="PERMISSIVE",  # the batches that were left out are missing
    )
    found = sorted(tuple(row.values()) for row in rows.to_arrow().to_pylist())
    expected = [
        (r.partition, r.offset, r.key, r.value) for r in STOPPED.records(topic) if r.committed
    ]
    assert found == sorted(expected)


def test_what_no_copy_of_compressed_messages_holds_is_reported(tmp_path: Path) -> None:
    """Only its records, not its header, show where a compressed message begins."""
    capture = captures.path("release_0.10.2.2/stopped")
    (source,) = capture.glob("broker-*/librdkafka-gzip-0")
    for broker in range(2):
        copy = tmp_path / "in" / f"broker-{broker}"
        shutil.copytree(source, copy / source.name)
        (copy / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        log = copy / source.name / f"{0:020d}.log"
        content = bytearray(log.read_bytes())
        content[starts(content)[1] + 60] ^= 0x11
        log.write_bytes(content)
    merged = merge(tmp_path / "in", tmp_path / "out", "librdkafka-gzip")
    assert merged.left_out.count
    assert not merged.is_complete
