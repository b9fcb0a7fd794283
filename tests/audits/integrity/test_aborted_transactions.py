"""KL-707 and KL-708: a transaction index that contradicts the abort markers of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, Batch, cluster, data_batch, marker_batch, replica
from kafkalog_reader.audits.catalogue.actions import REBUILD_INDEX, REBUILT_AT_START
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

BATCH = 119
"""Size of a batch of ``data``, in bytes."""


def data(offset: int, producer: int, *, flags: int = TRANSACTIONAL_BIT) -> Batch:
    records = [Record(offset_delta=0, value=b"v" * 50)]
    return data_batch(
        offset, records, base_timestamp=EPOCH_MILLIS, base_sequence=offset, flags=flags,
        producer_id=producer, producer_epoch=0,
    )  # fmt: skip


def marker(offset: int, producer: int, kind: ControlType) -> Batch:
    return marker_batch(
        offset, control_type=kind, coordinator_epoch=0, leader_epoch=0, timestamp=EPOCH_MILLIS,
        producer_id=producer, producer_epoch=0,
    )  # fmt: skip


def abort(offset: int, producer: int) -> Batch:
    return marker(offset, producer, ControlType.ABORT)


def commit(offset: int, producer: int) -> Batch:
    return marker(offset, producer, ControlType.COMMIT)


TWO_PRODUCERS = (
    data(0, 7), data(1, 8), abort(2, 7), data(3, 7), commit(4, 8), data(5, 8), commit(6, 7),
    abort(7, 8), abort(8, 7), data(9, 7, flags=0), abort(10, 7),
)  # fmt: skip
"""Aborted: producer 7 at 0 to 2, and 8 at 5 to 7. The markers at 8 and 10 end nothing."""
ENTRIES = [(0, 7, 0, 2, 1), (0, 8, 5, 7, 8)]


def written(
    root: Path, batches: Sequence[Batch] = TWO_PRODUCERS, *, is_clean: bool = True, **given: Any
) -> Path:
    described = replica([*batches], high_watermark=len(batches), **given)
    return cluster(root, {0: described}, clean=[0] if is_clean else [])[0] / "t-0"


def index(directory: Path, base_offset: int = 0) -> Path:
    return directory / f"{base_offset:020d}.txnindex"


def write(path: Path, entries: Sequence[tuple[int, ...]]) -> None:
    path.write_bytes(b"".join(TRANSACTION_INDEX_ENTRY.struct.pack(*each) for each in entries))


def found(directory: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(directory.parent)]), asked)
    every = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in every if each.code in ("KL-707", "KL-708", "KL-213")]


def offsets_of(found: Finding) -> tuple[int | None, int | None]:
    return found.first_offset, found.next_offset


def test_the_index_that_follows_the_format_reference_agrees(tmp_path: Path) -> None:
    directory = written(tmp_path)
    write(index(directory), ENTRIES)
    assert found(directory) == []


def test_a_removed_entry_is_missing(tmp_path: Path) -> None:
    directory = written(tmp_path)
    write(index(directory), ENTRIES[:1])
    (only,) = found(directory)
    assert (only.code, only.severity, offsets_of(only)) == ("KL-707", "C", (5, 8))
    assert dict(only.evidence) == {
        "producerId": "8", "firstOffset": "5", "lastOffset": "7", "transactions": "1",
    }  # fmt: skip


def test_a_removed_index_lacks_every_transaction(tmp_path: Path) -> None:
    directory = written(tmp_path)
    index(directory).unlink()
    (only,) = found(directory)
    assert (only.code, offsets_of(only)) == ("KL-707", (0, 3))
    assert "is missing" in only.message
    assert dict(only.evidence)["transactions"] == "2"


@pytest.mark.parametrize(
    "entry",
    [(0, 7, 3, 6, 7), (0, 8, 9, 9, 10), (0, 8, 10, 10, 11), (0, 8, 11, 12, 13)],
    ids=["commit marker", "data", "another producer's marker", "beyond the end"],
)
def test_an_entry_without_an_abort_marker_is_extra(tmp_path: Path, entry: tuple[int, ...]) -> None:
    directory = written(tmp_path)
    entries = sorted([*ENTRIES, entry], key=lambda each: each[3])
    write(index(directory), entries)
    (only,) = found(directory)
    assert (only.code, only.position) == ("KL-708", entries.index(entry) * 34)


@pytest.mark.parametrize(
    ("code", "entries"),
    [("KL-707", None), ("KL-707", ENTRIES[:1]), ("KL-708", [*ENTRIES, (0, 8, 10, 10, 11)])],
)
def test_a_start_that_finds_no_offset_index_rebuilds_both(
    tmp_path: Path, code: str, entries: list[tuple[int, ...]] | None
) -> None:
    """On brokers of 3.9.1 the files were byte for byte as before: LogSegment#recover."""
    directory = written(tmp_path)
    index(directory).unlink()
    if entries is not None:
        write(index(directory), entries)
    offset_index = index(directory).with_suffix(".index")
    (severe,) = found(directory)
    assert (severe.code, severe.severity, severe.actions) == (code, "C", (REBUILD_INDEX,))
    offset_index.unlink()
    (low,) = found(directory)
    assert (low.code, low.severity, low.actions, low.repairs) == (
        code,
        "L",
        (REBUILT_AT_START,),
        (),
    )
    assert low.caused_by == f"KL-201 t-0/{offset_index.name} None"


def test_old_brokers_list_markers_that_end_nothing(tmp_path: Path) -> None:
    directory = written(tmp_path)
    write(index(directory), [*ENTRIES, (0, 7, 8, 8, 9)])
    assert found(directory) == []


def test_first_offsets_may_differ(tmp_path: Path) -> None:
    directory = written(tmp_path)
    write(index(directory), [(0, 7, 1, 2, 1), ENTRIES[1]])
    assert found(directory) == []


def test_a_malformed_index_is_only_that(tmp_path: Path) -> None:
    directory = written(tmp_path)
    write(index(directory), ENTRIES[::-1])
    assert {each.code for each in found(directory)} == {"KL-213"}


def test_a_transaction_of_several_segments_is_listed_where_its_marker_is(tmp_path: Path) -> None:
    batches = [data(0, 7), data(1, 9), data(2, 9), data(3, 9), abort(4, 7)]
    directory = written(tmp_path, batches, segment_bytes=2 * BATCH + 1)
    marked = max(directory.glob("*.txnindex"))
    assert marked.name != f"{0:020d}.txnindex"
    assert found(directory) == []
    marked.unlink()
    (only,) = found(directory)
    assert (only.code, offsets_of(only)) == ("KL-707", (0, 5))
    assert only.file == f"t-0/{marked.name}"


def test_a_missing_segment_may_have_held_the_marker(tmp_path: Path) -> None:
    batches = [data(0, 7), data(1, 9), data(2, 9), data(3, 9), abort(4, 7)]
    directory = written(tmp_path, batches, segment_bytes=2 * BATCH + 1)
    logs = sorted(directory.glob("*.log"))
    assert len(logs) == 3
    logs[1].unlink()
    max(directory.glob("*.txnindex")).unlink()
    assert found(directory) == []


def test_a_damaged_batch_may_have_been_a_marker(tmp_path: Path) -> None:
    batches = [data(0, 7), data(1, 9), data(2, 7), abort(3, 7), data(4, 7), abort(5, 7)]
    directory = written(tmp_path, batches)
    log = directory / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[BATCH + 70] ^= 1
    log.write_bytes(content)
    index(directory).unlink()
    assert found(directory) == []
    write(index(directory), [(0, 9, 1, 1, 2), (0, 7, 0, 3, 4), (0, 7, 4, 5, 6)])
    assert found(directory) == []


def test_a_torn_end_may_have_held_the_marker(tmp_path: Path) -> None:
    directory = written(tmp_path, [data(0, 7), abort(1, 7), data(2, 8), abort(3, 8)])
    write(index(directory), [(0, 7, 0, 1, 2), (0, 8, 2, 3, 4)])
    assert found(directory) == []
    log = directory / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-1])
    assert found(directory) == []
    log.write_bytes(log.read_bytes()[:-77])  # at the border of a batch: nothing shows a tear
    assert [each.code for each in found(directory)] == ["KL-708"]


def test_the_start_after_a_crash_rebuilds_the_last_index(tmp_path: Path) -> None:
    directory = written(tmp_path, is_clean=False)
    index(directory).unlink()
    assert found(directory) == []


def test_compaction_may_have_removed_markers(tmp_path: Path) -> None:
    kept = [each for number, each in enumerate(TWO_PRODUCERS) if number != 7]
    directory = written(tmp_path, kept)
    write(index(directory), ENTRIES)
    assert found(directory) == []
