"""Changes on one broker between two copies of its disks."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Answer, Run


def changed(
    tmp_path: Path, run: Run, old: dict[str, Any], new: dict[str, Any]
) -> tuple[int, list[tuple[object, ...]]]:
    cluster(tmp_path / "old", {1: replica(**old)})
    cluster(tmp_path / "new", {1: replica(**new)})
    answer = run("changes", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert answer.err == ""
    return answer.status, kinds(answer)


def kinds(answer: Answer) -> list[tuple[object, ...]]:
    rows = [json.loads(line) for line in answer.out.splitlines()]
    return [(row["kind"], row["firstOffset"], row["nextOffset"]) for row in rows]


def test_records_below_the_new_log_start_went_by_retention(tmp_path: Path, run: Run) -> None:
    old = {"log": "0-4/e0 5-9/e0", "high_watermark": 10}
    new = {"log": "5-9/e0 10-11/e0", "log_start": 5, "high_watermark": 12}
    assert changed(tmp_path, run, old, new) == (
        0, [("expired", 0, 5), ("unchanged", 5, 10), ("added", 10, 12)],
    )  # fmt: skip


def test_what_was_cut_below_the_old_high_watermark_was_committed(tmp_path: Path, run: Run) -> None:
    old = {"log": "0-4/e0 5-9/e0", "high_watermark": 8}
    new = {"log": "0-4/e0", "high_watermark": 5}
    assert changed(tmp_path, run, old, new) == (
        1, [("unchanged", 0, 5), ("lostCommitted", 5, 8), ("truncated", 8, 10)],
    )  # fmt: skip


def test_what_was_cut_at_the_high_watermark_is_not_a_loss(tmp_path: Path, run: Run) -> None:
    old = {"log": "0-4/e0 5-9/e0", "high_watermark": 5}
    new = {"log": "0-4/e0", "high_watermark": 5}
    status, found = changed(tmp_path, run, old, new)
    assert (status, found) == (0, [("unchanged", 0, 5), ("truncated", 5, 10)])


def test_the_first_line_counts_what_was_cut(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "old", {1: replica("0-4/e0 5-9/e0", high_watermark=5)})
    cluster(tmp_path / "new", {1: replica("0-4/e0", high_watermark=5)})
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert answer.status == 0
    assert answer.out.startswith(
        "no committed record is known to be lost; 5 records truncated: 1 partition, 1 changed\n"
    )


def test_nothing_at_all_is_reported_in_a_line(tmp_path: Path, run: Run) -> None:
    for name in ("old", "new"):
        cluster(tmp_path / name, {1: replica("0-4/e0", high_watermark=5)})
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert (answer.status, answer.out) == (0, "nothing lost: 1 partition, 0 changed\n")


def test_keys_that_have_newer_values_went_by_compaction(tmp_path: Path, run: Run) -> None:
    def record(offset: int, key: bytes) -> Batch:
        return data_batch(offset, [Record(offset_delta=0, key=key, value=b"%d" % offset)])

    log = [record(0, b"a"), record(1, b"b"), record(2, b"a"), record(3, b"c")]
    old = {"log": log, "high_watermark": 4}
    new = {"log": log[1:], "base_offset": 0, "high_watermark": 4, "cleaner_offset": 3}
    status, found = changed(tmp_path, run, old, new)
    assert status == 0
    assert ("compacted", 0, 1) in found
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert "compaction has gone further in the new copy" in answer.out
    lost = {"log": [log[0], *log[2:]], "base_offset": 0, "high_watermark": 4, "cleaner_offset": 3}
    status, found = changed(tmp_path / "lost", run, old, lost)
    assert status == 1  # the only record with key b
    assert ("missing", 1, 2) in found
    answer = run("changes", tmp_path / "lost" / "old", tmp_path / "lost" / "new")
    assert "missing inside the log of the new copy, and nothing explains it" in answer.out


def test_damage_is_reported_of_the_copy_that_has_it(tmp_path: Path, run: Run) -> None:
    for name in ("old", "new"):
        cluster(tmp_path / name, {1: replica("0-4/e0 5-9/e0", high_watermark=10)})
    log = tmp_path / "new" / "broker-1" / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[-1] ^= 1
    log.write_bytes(content)
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert answer.status == 1
    rows = [" ".join(line.split()) for line in answer.out.splitlines()]
    assert "t-0 5–9 5 DAMAGED wrong checksum in the new copy" in rows


def test_partitions_that_came_and_went_are_named(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "old", {1: replica("0-4/e0", topic="gone")})
    cluster(tmp_path / "new", {1: replica("0-4/e0", topic="fresh")})
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert answer.status == 1
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]
    assert lines[0] == "partition gone (1 range): 2 partitions, 2 changed"
    assert lines[3].startswith("gone-0 0–4 5 PARTITION GONE deleted, moved away or lost")
    assert lines[4] == "fresh-0 0–4 5 new partition"


def test_a_real_broker_that_healed_lost_nothing_committed(run: Run) -> None:
    captured = captures.path("s3_2")
    answer = run("changes", captured / "both-led" / "broker-0", captured / "healed" / "broker-0",
                 "--topic", "t", "--format", "json")  # fmt: skip
    # it led alone with the high watermark 2 while the others committed f and g: S3.2
    assert answer.status == 0
    assert kinds(answer) == [
        ("unchanged", 0, 2), ("rewritten", 2, 4), ("truncated", 4, 5),
    ]  # fmt: skip
    text = run("changes", captured / "both-led" / "broker-0", captured / "healed" / "broker-0")
    assert text.status == 0
    assert text.out.startswith(
        "no committed record is known to be lost; 2 records replaced; 1 record truncated: "
        "2 partitions, 2 changed\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("both-led", "healed", "OLD holds brokers 0, 1, 100, 2: give a copy of one broker"),
        ("both-led/broker-0", "healed/broker-1", "OLD is of broker 0, NEW of broker 1"),
    ],
)
def test_other_brokers_are_refused(old: str, new: str, said: str, run: Run) -> None:
    answer = run("changes", captures.path("s3_2") / old, captures.path("s3_2") / new)
    assert answer.status == 2
    assert said in answer.err


def test_what_could_not_be_compared_is_not_called_sound(tmp_path: Path, run: Run) -> None:
    for name in ("old", "new"):
        cluster(tmp_path / name, {1: replica("0-4/e0", high_watermark=5)})
    log = tmp_path / "new" / "broker-1" / "t-0" / "00000000000000000000.log"
    log.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 345\n")
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert answer.status == 2
    assert answer.out.startswith("not compared (")


def test_replica_diff_compares_two_times_of_one_broker(
    tmp_path: Path, run: Run, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    cluster(tmp_path / "old", {1: replica("0-4/e0", high_watermark=5)})
    cluster(tmp_path / "new", {1: replica("0-4/e0 5-6/e0", high_watermark=7)})
    given = [f"new={tmp_path / 'new'}", f"old={tmp_path / 'old'}"]
    answer = run("changes", tmp_path / "old", tmp_path / "new")
    assert status(replica_diff, given) == answer.status == 0
    assert capfdbinary.readouterr().out.decode() == answer.out
    assert "new records" in answer.out
    assert status(replica_diff, [*given, "--quick"]) == 2
    assert b"give only selections" in capfdbinary.readouterr().err


def test_a_deleted_log_is_a_loss(tmp_path: Path, run: Run) -> None:
    """As replica-diff has it, the copy ends where its next start creates an empty segment."""
    old = {"log": "0-4/e0 5-9/e0", "high_watermark": 8}
    new = {"log": "", "epochs": "0:0", "high_watermark": 8, "files": {f"{0:020d}.log": None}}
    assert changed(tmp_path, run, old, new) == (
        1, [("lostCommitted", 0, 8), ("truncated", 8, 10)],
    )  # fmt: skip


def test_nothing_deletes_segments_of_a_topic_that_is_only_compacted(
    tmp_path: Path, run: Run
) -> None:
    """Verify says KL-404 of the same files: retention is no explanation."""
    kept = captures.path("everything/stopped/broker-0")
    broker = tmp_path / "broker-0"
    shutil.copytree(kept, broker)
    (first, *others) = sorted((broker / "compacted-0").glob("*.log"))
    first.unlink()
    second = int(others[0].stem)
    answer = run("changes", kept, broker, "--topic", "compacted", "--format", "json")
    assert kinds(answer)[0] == ("missing", 0, second)
    assert answer.status == 1
    text = run("changes", kept, broker, "--topic", "compacted").out
    assert text.startswith("missing (1 range): 1 partition, 1 changed")
    assert run("verify", broker, "--topic", "compacted").status == 1


def lettered(values: str, *sizes: int) -> list[Batch]:
    """One record for each letter, in batches of these sizes."""
    found, first = [], 0
    for size in sizes:
        records = [
            Record(offset_delta=n, timestamp_delta=first + n, key=None, value=value.encode())
            for n, value in enumerate(values[first : first + size])
        ]
        found.append(data_batch(first, records))
        first += size
    return found


@pytest.mark.parametrize(
    ("old", "new", "high_watermark", "expected"),
    [
        pytest.param(
            ("abcdefghij", 10), ("abXdefXhij", 3, 4, 3), 10,
            (1, [("lostCommitted", 0, 10, 2)]), id="committed",
        ),
        pytest.param(
            ("abcdefghij", 10), ("abXdefXhij", 3, 4, 3), 0,
            (0, [("rewritten", 0, 10, 2)]), id="not_known_to_be",
        ),
        pytest.param(
            ("abcdefghij", 10), ("abcdefghij", 3, 4, 3), 10,
            (0, [("compacted", 0, 10, 0)]), id="equal_records",
        ),
        pytest.param(
            ("abcde", 5), ("abXdefghij", 10), 5,
            (1, [("lostCommitted", 0, 5, None), ("added", 5, 10, None)]), id="longer_now",
        ),
        pytest.param(
            ("abcdefghij", 10), ("abXde", 2, 3), 10,
            (1, [("lostCommitted", 0, 5, None), ("lostCommitted", 5, 10, None)]), id="shorter_now",
        ),
    ],
)  # fmt: skip
def test_records_in_batches_with_other_bounds_are_compared(
    old: tuple[Any, ...],
    new: tuple[Any, ...],
    high_watermark: int,
    expected: object,
    tmp_path: Path,
    run: Run,
) -> None:
    cluster(tmp_path / "old", {1: replica(lettered(*old), high_watermark=high_watermark)})
    cluster(tmp_path / "new", {1: replica(lettered(*new), high_watermark=high_watermark)})
    answer = run("changes", tmp_path / "old", tmp_path / "new", "--format", "json")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    found = [(row["kind"], row["firstOffset"], row["nextOffset"], row["records"]) for row in rows]
    assert (answer.status, found) == expected
    text = run("changes", tmp_path / "old", tmp_path / "new").out
    assert ("nothing lost" in text) == (old[0] == new[0])
