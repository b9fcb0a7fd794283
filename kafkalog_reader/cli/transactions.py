"""``kafkalog transactions``: which transactions are open, and what they hold back."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option
from kafkalog_reader.cli.transaction_list import (
    hangs,
    id_lines,
    is_alarming,
    open_lines,
    open_total,
    with_late,
)
from kafkalog_reader.errors import LogLayoutError, OptionError
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC
from kafkalog_reader.tables.transaction_status import NO_COORDINATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from kafkalog_reader.cli.transaction_list import Row
    from kafkalog_reader.io.evidence import Evidence

_HANGING_ADVICE: Final = (
    "A hanging transaction stays open until somebody aborts it. Abort it only if the same "
    "transaction was not committed in its other partitions. On the running cluster:"
)
_NO_STATES: Final = f"no partition of {TRANSACTION_STATE_TOPIC} is in the inputs"
_SUPPLY: Final = "supply the log directories of all brokers"


@click.command(
    "transactions",
    epilog=exit_text("transactions"),
    short_help="Which transactions are open, since when, and who will end them.",
)
@paths_argument
@text_or_json_option(
    "one object per open transaction and partition, with the columns of the table "
    "open_transactions; with --by id, one per transactional id, with those of transactions"
)
@click.option(
    "--by", type=click.Choice(["id"]), help="Show all transactional ids, as their coordinators do."
)
@reading_options("topic", "partition", "as_of")
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def transactions_command(
    paths: tuple[str, ...], output_format: str, by: str | None, as_of: str | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Show the open transactions: consumers with read_committed stop at the first of a partition.

    \b
    Examples:
      kafkalog transactions /mnt/b1 /mnt/b2 /mnt/b3
      kafkalog transactions /mnt/b1 /mnt/b2 /mnt/b3 --by id --as-of 2026-11-21T03:00:00Z

    Read from the best copy of each partition, and from __transaction_state, so supply the log
    directories of all brokers. STATUS is ongoing if the coordinator has the partition in the
    transaction and will end it, hanging if it has not and the log went on for longer than any
    transaction may take, maybe-hanging if that is not certain, no-coordinator if no supplied
    partition of __transaction_state knows the producer, and coordinator-damaged if one that may
    know more is damaged or ends below its high watermark. WHO ENDS IT names KL-702 or KL-703 if
    `kafkalog verify` reports one of them for the transaction. SINCE is the coordinator's time, or
    else that of the first batch. LSO is the last stable offset.

    --by id lists all transactional ids; --as-of shows their states at an earlier time.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.not_known import note_unreadable, say_not_known, with_not_known
    from kafkalog_reader.cli.results import write_json
    from kafkalog_reader.tables.schemas.commands import OPEN_TRANSACTION_LINES, TRANSACTION_LINES
    from kafkalog_reader.tables.selection import check_selection

    if by is None and as_of is not None:
        raise OptionError("as-of", "it needs --by id: a log has no earlier states of transactions")
    table = registry.table("transactions" if by else "open_transactions")
    if by:
        options["as_of"] = as_of
    request = registry.request(table, None, **options)
    evidence = supplied(paths)
    check_selection(evidence, request, selects_directories=table.selects_directories)
    if by and not _has_states(evidence):
        raise LogLayoutError(
            f"{_NO_STATES}, so nothing is known about transactional ids: {_SUPPLY}"
        )
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.internal_topic import plain_rows

    reading = TableRows(table, evidence, request, rows_on_stdout=output_format == "json")
    rows = [row for each in _counted(reading) for row in plain_rows(each)]
    if by:
        note_unreadable(rows, reading.hidden, evidence, TRANSACTION_STATE_TOPIC)
    else:
        rows = with_late(rows, evidence)
    if output_format == "json":
        columns = TRANSACTION_LINES if by else OPEN_TRANSACTION_LINES
        write_json(columns, with_not_known(rows, reading.hidden, of_states if by else of_log))
    lost = [] if by else _lost_states(rows, evidence)
    if output_format != "json":
        has_states = by is not None or _has_states(evidence)
        _write_text(rows, by, has_states=has_states, lost=lost)
    is_hidden = say_not_known(reading.hidden, request.mode)
    is_found = is_hidden or lost or (not by and any(map(is_alarming, rows)))
    return FOUND if is_found else CLEAN


def of_states(row: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """From which log a row of ``--by id`` is."""
    return [(TRANSACTION_STATE_TOPIC, row["statePartition"])]


def of_log(row: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """From which logs the row of an open transaction is."""
    return [(row["topic"], row["partition"]), (TRANSACTION_STATE_TOPIC, row.get("statePartition"))]


def _counted(reading: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401  TableRows
    for rows in reading:
        reading.rows_done += rows.num_rows
        yield rows


def _has_states(evidence: Evidence) -> bool:
    """Whether a partition of ``__transaction_state`` was supplied."""
    from kafkalog_reader.tables.request import ReadRequest

    request = ReadRequest(topics=frozenset({TRANSACTION_STATE_TOPIC}))
    return any(True for _ in evidence.topic_partitions(request))


def _lost_states(rows: Sequence[Row], evidence: Evidence) -> list[str]:
    """Partitions on no broker that may know who ends an open transaction; mostly none."""
    if not any(row["status"] == NO_COORDINATOR for row in rows):
        return []
    from kafkalog_reader.audits.partition.lost_partitions import lost_partitions
    from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
    from kafkalog_reader.tables.request import ReadRequest

    request = ReadRequest(topics=frozenset({TRANSACTION_STATE_TOPIC}))
    found = lost_partitions(evidence, request, cluster_metadata(evidence))
    held_records = (dict(each.evidence) for each in found if each.severity == "C")
    return [f"{TRANSACTION_STATE_TOPIC}-{each['partition']}" for each in held_records]


def _write_text(
    rows: Sequence[Row], by: str | None, *, has_states: bool, lost: Sequence[str] = ()
) -> None:
    from kafkalog_reader.cli.output import standard_output

    screen = screen_width()
    if by:
        lines = [*id_lines(rows, screen)] if rows else ["No transactional id was found."]
    else:
        listed = list(open_lines(rows, screen))
        lines = [*listed, ""] if len(listed) > 1 else []
        lines += textwrap.wrap(open_total(rows), screen or 10_000)
        if any(row["status"] == NO_COORDINATOR and not hangs(row) for row in rows):
            advice = _lost_advice(lost) if lost else _supply_advice(has_states=has_states)
            lines += textwrap.wrap(advice, screen or 10_000)
        lines += _advice(rows, screen)
    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in lines)


def _lost_advice(lost: Sequence[str]) -> str:
    """What to do where every broker was supplied, and none has the coordinator's partition."""
    more = f" and {len(lost) - 1:,} more partitions of it" if len(lost) > 1 else ""
    return (
        f"{lost[0]}{more}, which may know who ends them, is on no broker (kafkalog verify, "
        "KL-310): look for a copy, such as a backup. Without it nobody ends them, and they hang."
    )


def _supply_advice(*, has_states: bool) -> str:
    if has_states:
        return f"Other partitions of {TRANSACTION_STATE_TOPIC} may know who ends them: {_SUPPLY}."
    return f"{_NO_STATES[0].upper()}{_NO_STATES[1:]}, so who ends them is unknown: {_SUPPLY}."


def _advice(rows: Sequence[Row], screen: int | None) -> list[str]:
    text, commands = hanging_advice(rows)
    indented = (f"  {command}" for command in commands)
    return [*textwrap.wrap(text, screen or 10_000), *indented] if commands else []


def hanging_advice(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """How to look at hanging transactions on the running cluster: a text, and commands."""
    from kafkalog_reader.report.shell_word import shell_word

    places = dict.fromkeys((row["topic"], row["partition"]) for row in rows if hangs(row))
    return _HANGING_ADVICE, [
        "kafka-transactions.sh --bootstrap-server HOST:9092 find-hanging "
        f"--topic {shell_word(topic)} --partition {partition}"
        for topic, partition in places
    ]
