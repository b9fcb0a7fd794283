"""Checks key by key that compaction explains the records that replicas of a topic lack.

The cleaner keeps the last record of each key. So a record that one replica has and another lacks is
explained by a later record of its key there, by a later tombstone anywhere, by being a tombstone or
without a key itself, or by a transaction that may have been aborted. A record that nothing explains
is missing. Source: Kafka 4.0, storage.internals.log.Cleaner#shouldRetainRecord.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind, KeyCheck
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import PartitionDirectory

logger = logging.getLogger(__name__)

MAX_RECORDS: Final[int] = 2_000_000
MAX_BYTES: Final[int] = 128 << 20
"""Keys and values of one partition held in memory; beyond this, keys are not compared."""
_REQUEST: Final = ReadRequest(
    columns=("offset", "key", "value", "isControl", "isTransactional"), mode=Mode.DROPMALFORMED
)
_SCHEMA: Final = RecordsTable().projected(_REQUEST)


def compare_keys(
    histories: Mapping[Replica, History],
    comparison: Comparison,
    cleaned: Sequence[Difference],
) -> KeyCheck:
    """Do the work of ``key_check.check_keys`` for a partition with these cleaned ranges."""
    first = min(difference.first_offset for difference in cleaned)
    left = [MAX_RECORDS, MAX_BYTES]
    logs: dict[Replica, pa.Table] = {}
    for replica in histories:
        directory = replica.directory
        log = _read(directory, first, left)
        if log is None:
            logger.warning("%s: too many keys to compare", directory.path)
            return KeyCheck(is_complete=False)
        logs[replica] = log
    dead = pa.concat_tables([log.filter(pc.is_null(log["value"])) for log in logs.values()])
    buried = _latest(dead)
    missing: list[Difference] = []
    for difference in cleaned:
        replicas = [*(each for side in difference.contents for each in side), *difference.absent]
        union = _union([_between(logs[each], difference) for each in replicas])
        for replica in replicas:
            offsets = _unexplained(union, logs[replica], buried, histories[replica])
            missing += _as_differences(offsets, replica, replicas, logs)
    return KeyCheck(
        missing=tuple(missing),
        latest=tuple(
            _latest_mismatches(comparison, logs, min(h.log_end_offset for h in histories.values()))
        ),
    )


def _read(directory: PartitionDirectory, first_offset: int, left: list[int]) -> pa.Table | None:
    """The records with a key of a replica, from an offset on; None if there are too many."""
    found: list[pa.RecordBatch] = []
    for segment_slice in slices_of(directory, _REQUEST, Damage(Mode.DROPMALFORMED)):
        try:
            for rows in read_slice(segment_slice, _SCHEMA, _REQUEST, Damage(Mode.DROPMALFORMED)):
                is_wanted = pc.and_(
                    pc.greater_equal(rows["offset"], first_offset), pc.invert(rows["isControl"])
                )
                kept = rows.filter(pc.and_(is_wanted, pc.is_valid(rows["key"])))
                left[0] -= kept.num_rows
                left[1] -= kept.nbytes
                if min(left) < 0:
                    return None
                found.append(kept)
        except LocatedError as error:
            logger.warning("%s", error)
    return pa.Table.from_batches(found, _SCHEMA)


def _offsets(log: pa.Table) -> NDArray[np.int64]:
    return np.asarray(log["offset"].to_numpy(), dtype=np.int64)


def _between(log: pa.Table, difference: Difference) -> pa.Table:
    offsets = _offsets(log)
    start, stop = np.searchsorted(offsets, (difference.first_offset, difference.next_offset))
    return log.slice(int(start), int(stop - start))


def _union(logs: Sequence[pa.Table]) -> pa.Table:
    """Every record once, by offset."""
    together = pa.concat_tables(logs)
    _, firsts = np.unique(_offsets(together), return_index=True)
    return together.take(pa.array(firsts))


def _latest(log: pa.Table) -> pa.Table:
    """The last offset of each key."""
    return log.group_by("key").aggregate([("offset", "max")])


def _unexplained(
    union: pa.Table, log: pa.Table, buried: pa.Table, history: History
) -> NDArray[np.int64]:
    """Offsets that a replica should have and lacks."""
    offsets = _offsets(union)
    lacks = ~np.isin(offsets, _offsets(log))
    lacks &= (offsets >= history.log_start_offset) & (offsets < history.log_end_offset)
    lacking = union.filter(pa.array(lacks))
    lacking = lacking.filter(
        pc.and_(pc.is_valid(lacking["value"]), pc.invert(lacking["isTransactional"]))
    ).select(["offset", "key"])
    if not lacking.num_rows:
        return _offsets(lacking)
    for name, others in (("here", _latest(log)), ("buried", buried)):
        others = others.select(["key", "offset_max"]).rename_columns(["key", name])
        lacking = lacking.join(others, "key", join_type="left outer")
    later = pc.max_element_wise(lacking["here"], lacking["buried"])
    explained = pc.fill_null(pc.greater(later, lacking["offset"]), False)
    return np.sort(_offsets(lacking.filter(pc.invert(explained))))


def _as_differences(
    offsets: NDArray[np.int64],
    lacks: Replica,
    replicas: Sequence[Replica],
    logs: Mapping[Replica, pa.Table],
) -> Iterator[Difference]:
    if not len(offsets):
        return
    begins = np.flatnonzero(np.diff(offsets, prepend=offsets[0] - 2) > 1)
    first, last = offsets[begins], offsets[np.append(begins[1:], len(offsets)) - 1]
    others = [each for each in replicas if each != lacks]
    held = []
    for other in others:
        its = np.unique(_offsets(logs[other]))
        count = np.searchsorted(its, last, side="right") - np.searchsorted(its, first)
        held.append((count == last - first + 1).tolist())
    for number, (start, stop) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        yield Difference(
            kind=DifferenceKind.MISSING,
            first_offset=start,
            next_offset=stop + 1,
            batches=1,
            records=stop - start + 1,
            contents=(tuple(each for each, of in zip(others, held, strict=True) if of[number]),),
            absent=(lacks,),
        )


def _latest_mismatches(
    comparison: Comparison, logs: Mapping[Replica, pa.Table], next_offset: int
) -> Iterator[int]:
    """Offsets of conflicts that hold the last value of a key below the smallest log end."""
    for difference in comparison.differences:
        if difference.kind is not DifferenceKind.CONFLICT:
            continue
        sides = [logs[side[0]] for side in difference.contents]
        keys = pa.concat_tables([_between(log, difference) for log in sides])["key"]
        of_keys = pa.concat_tables([log.filter(pc.is_in(log["key"], keys)) for log in sides])
        below = of_keys.filter(pc.less(of_keys["offset"], next_offset))
        latest = dict(_rows(_latest(below)))
        values: dict[int, set[tuple[object, ...]]] = {}
        for log in sides:
            held = _between(log, difference)
            for offset, key, value in zip(
                *(held[name].to_pylist() for name in ("offset", "key", "value")), strict=True
            ):
                if latest.get(key) == offset:
                    values.setdefault(offset, set()).add((key, value))
        yield from sorted(offset for offset, held in values.items() if len(held) > 1)


def _rows(latest: pa.Table) -> Iterator[tuple[bytes, int]]:
    return zip(latest["key"].to_pylist(), latest["offset_max"].to_pylist(), strict=True)
