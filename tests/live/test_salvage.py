"""A salvaged log in a real cluster of three: reads, replication, failover and new writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures, live, truth
from fixtures.scenarios import salvage_in_place as in_place
from fixtures.scenarios.salvage import (
    AFTER,
    CAPTURE,
    DAMAGED,
    FLIPPED,
    MEETING,
    MERGED,
    MET,
    OLD,
    SEEN,
    producer_ids,
)
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.producer_snapshot import parse_producer_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry

BUSY = "controller event queue overloaded"
"""Findings about an overloaded machine, not about the logs."""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return live.run("salvage", tmp_path_factory.mktemp("salvage") / "output")


@pytest.mark.oracle
def test_another_cluster_takes_over_what_was_salvaged(output: Path) -> None:
    seen = json.loads((output / SEEN).read_text())
    manifest = json.loads((output / "salvaged" / "manifest.json").read_text())
    missing = {
        f"{each['topic']}-{each['partition']}": each["missingOffsetRanges"]
        for each in manifest["partitions"]
        if each["leftOut"]["count"]
    }
    assert set(missing) == {f"{topic}-0" for topic in DAMAGED}
    repaired = [each["topic"] for each in manifest["partitions"] if each["repaired"]["count"]]
    assert repaired == list(FLIPPED)
    merged = json.loads((output / "merged" / "manifest.json").read_text())
    for each in merged["partitions"]:
        assert each["lostOffsets"] == each["leftOut"]["places"] == []
        assert all(copy["leftOut"]["count"] for copy in each["mergedFrom"])
    expected = _committed(missing)
    served = seen["served"]
    for name, partition in served.items():
        found = _records(partition)
        # After an open transaction, a read_committed consumer of the first cluster had to wait.
        assert found == expected[name] or name == "open-transaction-0", name
        assert found[: len(expected[name])] == expected[name]
    for name, partition in served.items():
        assert partition["lastStable"] == partition["latest"], name  # no transaction hangs
        assert partition["earliest"] == min((r[0] for r in expected[name]), default=0)
    produced = ["before 0", "before 1", "before 2", "after 0", "after 1", "after 2"]
    for topic in seen["topicIds"]:
        name = f"{topic}-0"
        found = _records(seen["servedAfter"][name])
        before = _records(served[name])
        assert found[: len(before)] == before
        written = [bytes.fromhex(value).decode() for _, _, value in found[len(before) :]]
        assert [value for value in written if not value.startswith(MET)] == produced
    errors = [line for lines in seen["errors"].values() for line in lines]
    assert [line for line in errors if BUSY not in line] == []


@pytest.mark.oracle
def test_followers_copy_the_bytes_and_producer_ids_of_both_clusters_meet(output: Path) -> None:
    logs = [*(output / "salvaged").glob("*/*.log"), *(output / "merged").glob(f"{MERGED}-*/*.log")]
    assert {log.parent.name for log in logs} >= {f"{MERGED}-0", f"{MERGED}-1"}
    for log in logs:
        copies = sorted((output / AFTER).glob(f"broker-*/{log.parent.name}"))
        assert len(copies) == 3
        for copy in copies:  # followers roll segments at other offsets: the whole log counts
            whole = b"".join(path.read_bytes() for path in sorted(copy.glob("*.log")))
            assert log.read_bytes() in whole, copy
    old = producer_ids(output / "damaged" / f"{MEETING}-0")
    for broker in (output / AFTER).glob("broker-*"):
        assert old & producer_ids(broker / f"{MEETING}-0")


@pytest.mark.oracle
def test_transactions_go_on_in_a_merged_log_that_replaces_its_copies(tmp_path: Path) -> None:
    output = live.run("salvage_in_place", tmp_path / "output")
    seen = json.loads((output / in_place.SEEN).read_text())
    before, after, ended = (seen[when] for when in ("before", "after", "ended"))
    assert before["lastStable"] < before["latest"]
    assert after == before
    known = len(before["records"])
    assert ended["lastStable"] == ended["latest"] == before["latest"] + 1
    held_back = [
        now for then, now in zip(before["records"], ended["records"][:known], strict=True)
        if then != now
    ]  # fmt: skip
    # Three records of the open transaction, and three that others wrote after its first.
    assert len(held_back) == 6
    assert all(offset >= before["lastStable"] for offset, *_ in held_back)
    assert all(committed for *_, committed in held_back)
    manifest = json.loads((output / in_place.MERGED / "manifest.json").read_text())
    (merged,) = manifest["partitions"]
    assert manifest["isComplete"]
    assert all(copy["leftOut"]["count"] for copy in merged["mergedFrom"])
    originals = sorted((output / in_place.BEFORE).glob(f"*/{in_place.NAME}"))
    folder = output / in_place.MERGED / in_place.NAME
    for pattern in ("*.log", "*.txnindex", "leader-epoch-checkpoint"):
        names = {path.name: path.read_bytes() for path in folder.glob(pattern)}
        for original in originals:
            kept = {path.name: path.read_bytes() for path in original.glob(pattern)}
            assert {name: content for name, content in kept.items() if content} == names
    for original in originals:
        for path in original.glob("*.snapshot"):
            assert _producers(folder / path.name) == _producers(path)
    errors = [line for lines in seen["errors"].values() for line in lines]
    assert [line for line in errors if BUSY not in line] == []


def _producers(path: Path) -> set[ProducerSnapshotEntry]:
    return set(parse_producer_snapshot(path.read_bytes(), LogPosition(path.name)))


def _committed(missing: dict[str, list[list[int]]]) -> dict[str, list[list[Any]]]:
    """The records of a read_committed consumer of the first cluster, without the damaged ones."""
    capture = truth.load(CAPTURE.parent).captures[CAPTURE.name]
    records: dict[str, list[list[Any]]] = {}
    for topic, partition in capture.offsets:
        name = f"{topic}-{partition}"
        gone = missing.get(name, [])
        records[name] = [
            [r.offset, r.timestamp, None if r.value is None else r.value.hex()]
            for r in capture.records(topic, partition)
            if r.committed and not any(first <= r.offset <= last for first, last in gone)
        ]
    for topic, (release, old) in OLD.items():  # no consumer of 0.8: the answers to producers
        records[f"{topic}-0"] = [
            [r.offset, r.timestamp, None if r.value is None else r.value.hex()]
            for r in truth.load(captures.path(release)).produced()
            if f"{r.topic}-{r.partition}" == old
        ]
    return records


def _records(partition: dict[str, Any]) -> list[list[Any]]:
    assert all(committed for *_, committed, _epoch in partition["records"])
    return [record[:3] for record in partition["records"]]
