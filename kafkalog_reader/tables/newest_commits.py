"""The commit that holds for each group, topic and partition, among millions of records.

Most commits are superseded soon: of records that are read one after another only the last one of
each key is decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.tables.group_commits import commits_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.tables.request import ReadRequest

COMMIT_KEY: Final = ("groupId", "topic", "partition")
_COUNTED: Final = ("none", "committed")
"""Transaction states of valid commits."""
_HELD_BYTES: Final = 32 << 20
"""Bytes of records that are held: the more of them, the more are superseded and not decoded."""
_NOTED: Final = 10_000
"""Unreadable records that are noted."""
_GATHERED: Final = 1 << 17
"""Commits that are gathered before the superseded ones are dropped."""


class NewestCommits:
    """The valid commit with the greatest record offset of each group, topic and partition.

    Args:
        schema: columns of ``group_commits``, with ``recordOffset``, ``transactionState``,
            ``problem`` and those of ``COMMIT_KEY``.
        request: selects topic partitions.
        held_bytes: records of no more bytes than this are decoded together.

    Attributes:
        unreadable: (offset, problem) of records that no coordinator can load, the first ones.
    """

    def __init__(
        self, schema: pa.Schema, request: ReadRequest, held_bytes: int = _HELD_BYTES
    ) -> None:
        self._schema = schema
        self._request = request
        self._held_bytes = held_bytes
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._parts = [schema.empty_table()]
        self._added = 0
        self.unreadable: list[tuple[int, str]] = []

    def add_records(self, records: pa.RecordBatch) -> None:
        """Take more records of the log, in its order, as ``commit_records`` yields them."""
        if self._size + records.nbytes > self._held_bytes:
            self._decode()
        self._held.append(records)
        self._size += records.nbytes

    def add(self, commits: pa.RecordBatch) -> None:
        """Take more commits; those that cannot be read or are superseded are dropped."""
        self._note(commits)
        commits = valid(commits)
        self._parts.append(pa.table(commits))
        self._added += len(commits)
        if self._added > max(_GATHERED, 2 * len(self._parts[0])):
            self._drop_superseded()

    def commits(self) -> pa.Table:
        """The newest ones so far, with tombstones."""
        self._decode()
        return self._drop_superseded()

    def _decode(self) -> None:
        """Add the commits among the records; most are superseded by later ones and not decoded."""
        records = self._held
        if not records:
            return
        commits = commits_in(last_of_each_key(records), self._schema, self._request)
        if commits["problem"].null_count < len(commits):  # an older one may hold instead
            self._note(commits)
            commits = commits_in(pa.concat_batches(records), self._schema, self._request)
            commits = commits.filter(pc.is_null(commits["problem"]))
        self._held, self._size = [], 0
        self.add(commits)

    def _note(self, commits: pa.RecordBatch) -> None:
        """Keep where the records are that cannot be read, up to a number of them."""
        if commits["problem"].null_count == len(commits):
            return
        is_wrong = pc.and_(pc.is_valid(commits["problem"]), _is_counted(commits))
        wrong = commits.filter(is_wrong)[: _NOTED - len(self.unreadable)]
        self.unreadable += zip(
            wrong["recordOffset"].to_pylist(), wrong["problem"].to_pylist(), strict=True
        )

    def _drop_superseded(self) -> pa.Table:
        together = pa.concat_tables(self._parts)
        numbered = together.append_column("row", pa.array(np.arange(len(together))))
        ordered = numbered.sort_by("recordOffset")
        last = ordered.group_by(list(COMMIT_KEY), use_threads=False).aggregate([("row", "last")])
        newest = together.take(last["row_last"])
        self._parts, self._added = [newest], 0
        return newest


def last_of_each_key(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The last record of each key, of those that are not in an open or aborted transaction.

    Args:
        batches: at least one, with ``key``, ``offset`` and ``transactionState``. If their offsets
            do not rise, all of the records are returned.
    """
    offsets = np.concatenate([batch["offset"].to_numpy() for batch in batches])
    if (offsets[1:] <= offsets[:-1]).any():
        return pa.concat_batches(batches)
    found = _last_of_each_key(batches)
    if not pc.all(_is_counted(found)).as_py():  # an earlier one may count instead
        found = _last_of_each_key([batch.filter(_is_counted(batch)) for batch in batches])
    return found


def _last_of_each_key(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    keys = pa.chunked_array([batch["key"] for batch in batches])
    which = keys.dictionary_encode(null_encoding="encode").combine_chunks().indices.to_numpy()
    last = np.empty(int(which.max(initial=-1)) + 1, np.int64)
    last[which] = np.arange(len(which))  # the last one of equal keys remains
    last.sort()
    found, first = [], 0
    for batch in batches:
        begin, end = np.searchsorted(last, (first, first + len(batch)))
        found.append(batch.take(pa.array(last[begin:end] - first)))
        first += len(batch)
    return pa.concat_batches(found)


def valid(commits: pa.RecordBatch) -> pa.RecordBatch:
    """The commits that can be read and are in no open or aborted transaction."""
    return commits.filter(pc.and_(pc.is_null(commits["problem"]), _is_counted(commits)))


def _is_counted(rows: pa.RecordBatch) -> pa.BooleanArray:
    return pc.is_in(rows["transactionState"], pa.array(_COUNTED))
