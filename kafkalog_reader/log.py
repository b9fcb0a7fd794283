"""The way in for Python: ``kafkalog_reader.open(*paths)``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader import registry
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.option_signature import lists_options
from kafkalog_reader.tables.option_values import FLAG, SIZE, check_progress, check_threads
from kafkalog_reader.tables.options import CONSUMER_VIEW
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.selection import check_selection, without_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date
    from typing import Unpack

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.table_scan import TableScan
    from kafkalog_reader.tables.options import ReadOptions


class Log:
    """Log directories of one or many brokers, as ``open`` found them. Nothing is ever written to.

    Attributes:
        evidence: the directories, for the parts of this package that take it.
    """

    def __init__(self, evidence: Evidence, paths: tuple[str, ...] = ()) -> None:
        self.evidence = evidence
        self._paths = paths

    def __repr__(self) -> str:
        brokers = self.brokers()
        names = f"brokers {', '.join(map(str, brokers))}" if len(brokers) > 1 else (
            f"broker {brokers[0]}" if brokers else "no broker known by its number"
        )  # fmt: skip
        count = len(self.topics())
        return f"<Log of {names}: {count} topic{'' if count == 1 else 's'}>"

    def topics(self) -> list[str]:
        """The names of the topics of which a replica is there, sorted."""
        found = self.evidence.partition_directories(ReadRequest())
        return sorted({each.topic for each in found if each.is_replica and each.topic is not None})

    def brokers(self) -> list[int]:
        """The node ids of the brokers, sorted, as far as their log directories say them."""
        ids = {each.broker_id for each in self.evidence.log_directories}
        return sorted(each for each in ids if each is not None)

    @staticmethod
    def tables() -> list[str]:
        """The names of all tables."""
        return list(registry.TABLES)

    @lists_options("records")
    def records(
        self,
        columns: Iterable[str] | None = None,
        *,
        progress: Progress = no_progress,
        **options: Unpack[ReadOptions],
    ) -> TableScan:
        """Records as a consumer sees them: each once, from the best copy, from the log start on.

        ``log.table("records")`` is the evidence: every copy, every column, control records.

        Args:
            columns: names in the order wanted; None is those of Spark's Kafka source.
            progress: called with the number of bytes read since its last call.
            options: which records, such as ``topic="orders"``; see ``ReadOptions``.

        Raises:
            UsageError: an unknown column or option, or a value that makes no sense.
        """
        from kafkalog_reader.tables.schemas.records import KAFKA_COLUMNS

        names = [column.name for column in KAFKA_COLUMNS] if columns is None else columns
        given: ReadOptions = {name: value for name, value in options.items() if value is not None}  # type: ignore[assignment]  # its keys are those of ReadOptions
        scan = self.table("records", names, progress=progress, **{**CONSUMER_VIEW, **given})
        return replace(scan, request=without_metadata(self.evidence, scan.request))

    @lists_options()
    def table(
        self,
        name: str,
        columns: Iterable[str] | None = None,
        *,
        progress: Progress = no_progress,
        **options: Unpack[ReadOptions],
    ) -> TableScan:
        """One table, lazily: every replica and every row unless the options say otherwise.

        Args:
            name: one of ``tables()``.
            columns: names in the order wanted; None is all. Only these are decoded.
            progress: called with the number of bytes read since its last call.
            options: see ``ReadOptions``.

        Raises:
            UsageError: an unknown table, column or option, or a value that makes no sense.
        """
        from kafkalog_reader.table_scan import TableScan

        check_progress(progress)
        asked = registry.request(registry.table(name), columns, **options)
        return TableScan(table=name, evidence=self.evidence, request=asked, progress=progress)

    @lists_options("findings")
    def verify(
        self,
        *,
        threads: int = 1,
        progress: Progress = no_progress,
        **options: Unpack[ReadOptions],
    ) -> Iterator[Finding]:
        """Check every checksum, header, index, checkpoint and snapshot; yield what is wrong.

        Findings come partition by partition, the worst of each first, as ``kafkalog verify
        --format json`` prints them.

        Args:
            threads: how many there are. Each checks one partition; an idle one reads ahead.
            progress: called with the number of bytes read since its last call.
            options: those of the table ``findings``, such as ``deep=True``.

        Raises:
            UsageError: an unknown option, or a value that makes no sense.
        """
        from kafkalog_reader.audits.tables.verification import verify
        from kafkalog_reader.io.threads import Threads

        check_threads(threads)
        check_progress(progress)
        table = registry.table("findings")
        asked = registry.request(table, **options)
        check_selection(self.evidence, asked)

        def findings() -> Iterator[Finding]:
            with Threads(threads) as sharing:
                report = sharing.reporting(progress)
                shared = replace(self.evidence.context, threads=sharing)
                units = table.units(self.evidence.within(shared), asked)
                for each in sharing.map(lambda unit: verify(unit, asked, report), units):
                    yield from (found for found, _ in each.findings)

        return findings()

    def diff(
        self,
        topic: str,
        partition: int,
        *,
        cluster: str | None = None,
        rule: str | None = None,
        started_at: date | str | int | None = None,
        progress: Progress = no_progress,
    ) -> PartitionAudit:
        """Compare the copies of one partition: where they part, and what each election would lose.

        In a notebook ``.figure()`` draws it.

        Args:
            topic: its name.
            partition: its number.
            cluster: its id, where the paths hold the partition in several clusters.
            rule: how followers truncate; None: as the files tell.
            started_at: when brokers start; None: right after each log's newest record.
            progress: called with the number of bytes read since its last call.

        Raises:
            UsageError: there is no replica of it, or there is one in several clusters.
        """
        from kafkalog_reader.audits.partition.partition_unit import partition_units
        from kafkalog_reader.audits.partition.unit_audit import audit_unit

        check_progress(progress)
        table = registry.table("divergence")
        asked = registry.request(
            table, topic=topic, partition=partition, rule=rule, started_at=started_at
        )
        check_selection(self.evidence, asked)
        units = [
            unit
            for unit in partition_units(self.evidence, asked)
            if cluster is None or unit.directories[0].log_directory.cluster_id == cluster
        ]
        if not units:
            raise UsageError(f"no replica of {topic}-{partition} in cluster {cluster}")
        if len(units) > 1:
            ids = [unit.directories[0].log_directory.cluster_id or "unknown" for unit in units]
            raise UsageError(f"{topic}-{partition} is in several clusters: {', '.join(ids)}")
        return audit_unit(units[0], asked, progress)

    def salvage(
        self,
        output: str | os.PathLike[str],
        *,
        as_segments: bool = False,
        merge: bool = False,
        topic_ids: Mapping[str, str] | None = None,
        leader_epoch: int | None = None,
        topic: str | Iterable[str] | None = None,
        partition: int | Iterable[int] | None = None,
        replica: str = "best",
        from_offset: int | None = None,
        to_offset: int | None = None,
        progress: Progress = no_progress,
    ) -> list[SalvagedPartition]:
        """Write everything readable into a new folder, as ``kafkalog salvage`` does.

        Args:
            output: a folder, new or empty, not among the inputs.
            as_segments: logs for a broker to load; otherwise Parquet.
            merge: with ``as_segments``: one log of all copies of a partition.
            topic_ids: with ``as_segments``: topic ids in another cluster that receives the logs.
            leader_epoch: with ``as_segments``: of every batch there; None is 0. Without it and
                ``topic_ids`` a log returns to its copies, and batches stay as they are.
            topic: only these; None is all.
            partition: only these; None is all.
            replica: ``best``, ``broker:N``, or ``all`` (Parquet only).
            from_offset: the first offset of the range.
            to_offset: the first offset after it.
            progress: called with the number of bytes read since its last call.

        Returns:
            What was written, what was left out and why, by partition.

        Raises:
            UsageError: options that contradict each other, or an output that holds something.
            SalvageCountError: records kept and left out do not add up to those found.
        """
        from kafkalog_reader.salvage.receiver import receiver_of
        from kafkalog_reader.salvage.run import salvage

        check_progress(progress)
        folder = _path(output)
        asked = registry.request(
            registry.table("records"), topic=topic, partition=partition, replica=replica,
            from_offset=from_offset, to_offset=to_offset,
        )  # fmt: skip
        check_selection(self.evidence, asked)
        receiver = receiver_of(
            self.evidence, asked, as_segments=as_segments, merge=merge, topic_ids=topic_ids or {},
            leader_epoch=leader_epoch,
        )  # fmt: skip
        return list(
            salvage(
                self.evidence, asked, folder, inputs=self._paths, receiver=receiver,
                merge=merge, progress=progress,
            )
        )  # fmt: skip


def open(  # noqa: A001  kafkalog_reader.open
    *paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    follow_links: bool = False,
    max_rate: int | str | None = None,
) -> Log:
    """Look at log directories, partition directories or segment files, of one or many brokers.

    Args:
        paths: as of ``kafkalog``, or lists of these; globs and ``N=PATH`` are understood.
        follow_links: follow symbolic links; otherwise they are skipped with a warning.
        max_rate: bytes a second, such as ``"50MB"``, that this log reads at most: for a broker's
            own disk. Each process that gets a copy or tasks of it reads as much.

    Raises:
        UsageError: something that is no path.
        LogLayoutError: nothing that Kafka writes is there.
        UnreadableFileError: the operating system refused.
    """
    from kafkalog_reader.io.path_argument import absolute_argument
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.read_rate import ReadRate

    rate = None if max_rate is None else ReadRate(SIZE.check("max_rate", max_rate))
    given = tuple(map(absolute_argument, _paths_in(paths)))
    context = ReadContext(follow_links=FLAG.check("follow_links", follow_links), rate=rate)
    return Log(registry.discovered(given, context), given)


def _paths_in(given: object) -> Iterator[str]:
    """The paths, one by one.

    Raises:
        UsageError: something that is no path.
    """
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | os.PathLike):
        for each in given:
            yield from _paths_in(each)
    else:
        yield _path(given)


def _path(given: object) -> str:
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str):
        raise UsageError(f"{given!r} is not a path: give text or a pathlib.Path")
    return text
