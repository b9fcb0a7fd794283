"""``kafkalog groups``: where each consumer group stands, and its lag."""

from __future__ import annotations

import csv
import io
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.group_list import (
    MOVES_CONSUMERS,
    NO_COMMIT,
    WITHOUT_OFFSET,
    commit_lines,
    group_lines,
    removed_lines,
    share_line,
    total_line,
    totals_of,
    with_groups_of,
    with_members,
    with_pending,
    with_removed,
)
from kafkalog_reader.cli.listing import screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout, plural
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option
from kafkalog_reader.errors import LogLayoutError, OptionError, UsageError
from kafkalog_reader.io.names import OFFSETS_TOPIC, shown
from kafkalog_reader.scan.hidden_records import HiddenRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kafkalog_reader.cli.group_list import Row
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_OF_PROBLEMS: Final = ("brokerId", "offsetsPartition", "recordOffset", "problem")
_BOOTSTRAP: Final = "--bootstrap-server HOST:PORT"
_SHOWN: Final = 10
_PLACES: Final = {
    "above-log-end": "above the log end",
    "below-log-start": "below the log start",
    "on-lost-branch": "after records that an election cut off",
}


@click.command(
    "groups",
    epilog=exit_text("groups"),
    short_help="Where each consumer group stands, and its lag.",
)
@paths_argument
@click.option(
    "--group", "names", metavar="NAME", multiple=True, help="Only this group; repeatable."
)
@text_or_json_option(
    "one object per partition of a group, with the columns of the table group_offsets; with --by, "
    "one object per group"
)
@click.option("--by", type=click.Choice(["group"]), help="Show totals instead of partitions.")
@click.option(
    "--reset-file",
    metavar="FILE",
    shell_complete=complete_files,
    help="Also write the offsets as CSV for kafka-consumer-groups --reset-offsets --from-file.",
)
@click.option("--force", is_flag=True, help="Overwrite the file of --reset-file.")
@reading_options("topic", "partition", "as_of")
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def groups_command(
    paths: tuple[str, ...], names: tuple[str, ...], output_format: str, by: str | None,
    reset_file: str | None, force: bool,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Show where each consumer group stands, as kafka-consumer-groups --describe does.

    \b
    Examples:
      kafkalog groups /mnt/b1 /mnt/b2 /mnt/b3
      kafkalog groups /mnt/b1 /mnt/b2 /mnt/b3 --group billing --as-of 2026-11-21T03:00:00Z \\
          --reset-file billing.csv

    Read from __consumer_offsets, so supply the log directories of all brokers: a group is in one of
    its partitions. LAG counts up to the log end in the files of the best copy. A commit in a
    transaction counts if the transaction was committed. CONSUMER-ID, HOST and CLIENT-ID are those
    of the last member that had the partition. - means that it is unknown or that there is none.
    NOTE names an offset that an open transaction will commit. Share groups commit no offsets:
    `kafkalog table share_groups` has where they are.

    Of a group that expired or was deleted, --group shows what its tombstones say: when it was
    removed, and its last commits, as far as the cleaner kept them.

    --as-of shows the groups at an earlier time, as far as compaction kept their commits; log ends
    are those of the files. `kafkalog table group_commits` has every commit.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.not_known import say_not_known, with_not_known
    from kafkalog_reader.cli.results import write_json
    from kafkalog_reader.tables.schemas.commands import GROUP_PARTITIONS, GROUP_TOTALS
    from kafkalog_reader.tables.selection import check_selection

    if force and reset_file is None:
        raise OptionError("force", "it needs --reset-file")
    table = registry.table("group_offsets")
    request = registry.request(table, None, **options)
    evidence = supplied(paths)
    check_selection(evidence, request, selects_directories=table.selects_directories)
    supplied_partitions = offsets_partitions(evidence, request)
    hidden = HiddenRecords()
    groups, rows = gathered(evidence, options, names, hidden=hidden)
    if names:
        groups, rows = _with_removed(names, groups, rows, evidence, options)
        _check_names(names, groups, hidden)
        groups = [each for each in groups if each["groupId"] in names]
        rows = [each for each in rows if each["groupId"] in names]
    totals = totals_of(groups, rows)
    if output_format == "json":
        lines = with_not_known(totals if by else rows, hidden, of_group(rows))
        write_json(GROUP_TOTALS if by else GROUP_PARTITIONS, lines)
    else:
        _write_text(totals, rows, by, supplied_partitions)
    if reset_file is not None:
        write_reset_file(rows, evidence, reset_file, overwrite=force)
    is_hidden = say_not_known(hidden, request.mode)
    is_moved = any(row["status"] in MOVES_CONSUMERS for row in rows)
    is_removed = any(total["removedTime"] is not None for total in totals)
    return FOUND if is_hidden or is_moved or is_removed else CLEAN


def of_group(rows: Sequence[Row]) -> Callable[[Mapping[str, Any]], list[tuple[str, int | None]]]:
    """From which partition of ``__consumer_offsets`` a row is: that of any row of its group."""
    known = {
        (row["clusterId"], row["groupId"]): row["offsetsPartition"]
        for row in rows
        if row.get("offsetsPartition") is not None
    }
    return lambda row: [(OFFSETS_TOPIC, known.get((row["clusterId"], row["groupId"])))]


def offsets_partitions(evidence: Evidence, request: ReadRequest) -> int:
    """The number of supplied partitions of ``__consumer_offsets``.

    Raises:
        LogLayoutError: there is none.
    """
    from kafkalog_reader import registry

    table = registry.table("group_offsets")
    count = sum(1 for _unit in table.units(evidence, request))
    if not count:
        raise LogLayoutError(
            "no partition of __consumer_offsets is in the inputs, so nothing is known about groups"
        )
    return count


def gathered(
    evidence: Evidence,
    options: dict[str, Any],
    names: Sequence[str] = (),
    *,
    hidden: HiddenRecords | None = None,
) -> tuple[list[Row], list[Row]]:
    """The rows of the table groups, and one row per partition of each group.

    Args:
        evidence: the inputs.
        options: of the command.
        names: of groups; then only the logs of their partitions are looked at.
        hidden: receives what damage hides from them.
    """
    from kafkalog_reader.cli.not_known import note_unreadable
    from kafkalog_reader.tables.pending_commits import pending_commits

    of_groups = (
        "clusterId", "groupId", "type", "state", "members", "protocol", *_OF_PROBLEMS
    )  # fmt: skip
    groups = _rows("groups", of_groups, evidence, options, hidden=hidden)
    of_members = (
        "clusterId", "groupId", "assignment", "memberId", "clientHost", "clientId", *_OF_PROBLEMS
    )  # fmt: skip
    members = _rows("group_members", of_members, evidence, options, hidden=hidden)
    if hidden is not None:
        note_unreadable([*groups, *members], hidden, evidence, OFFSETS_TOPIC)
    places = None
    if names:
        known = _rows("group_offsets", ("groupId", "topic", "partition"), evidence, options)
        chosen = [row for row in known if row["groupId"] in names]
        places = frozenset((row["topic"], row["partition"]) for row in chosen)
    commits = _rows("group_offsets", None, evidence, options, places, hidden)
    rows = with_members(commits, members)
    request = replace(_request("group_offsets", None, options), hidden=hidden)
    rows = [
        row
        for row in rows
        if row["status"] != NO_COMMIT or request.selects(row["topic"], row["partition"])
    ]
    # What was open at an earlier time is not known: its markers are in the log now.
    pending = pending_commits(evidence, request) if request.as_of is None else ()
    rows = with_pending(rows, pending)
    _check_topics(request, rows, evidence)
    return with_groups_of(groups, rows), rows


def _check_topics(request: ReadRequest, rows: Sequence[Row], evidence: Evidence) -> None:
    """Refuse a topic that no group has a commit of and no folder is named after."""
    from kafkalog_reader.tables.names import nearest
    from kafkalog_reader.tables.request import ReadRequest

    missing = (request.topics or frozenset()) - {row["topic"] for row in rows}
    if not missing:
        return
    folders = evidence.partition_directories(ReadRequest())
    known = {each.topic for each in folders if each.topic is not None}
    known |= {row["topic"] for row in _rows("group_offsets", ("topic",), evidence, {})}
    for topic in sorted(missing - known):
        raise UsageError(
            f"no topic {topic!r} in the given paths, nor an offset of it in __consumer_offsets"
            f"{nearest(topic, known)}"
        )


def _rows(
    name: str, columns: tuple[str, ...] | None, evidence: Evidence, options: dict[str, Any],
    places: frozenset[tuple[str, int]] | None = None, hidden: HiddenRecords | None = None,
) -> list[Row]:  # fmt: skip
    from kafkalog_reader import registry
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.internal_topic import plain_rows

    request = replace(_request(name, columns, options), assigned=places, hidden=hidden)
    reading = TableRows(registry.table(name), evidence, request, rows_on_stdout=False)
    rows: list[Row] = []
    for each in reading:
        rows += plain_rows(each)
        reading.rows_done = len(rows)
    return rows


def _request(name: str, columns: tuple[str, ...] | None, options: dict[str, Any]) -> ReadRequest:
    from kafkalog_reader import registry

    return registry.request(registry.table(name), columns, **options)


def _with_removed(
    names: Sequence[str],
    groups: list[Row],
    rows: list[Row],
    evidence: Evidence,
    options: dict[str, Any],
) -> tuple[list[Row], list[Row]]:
    """The groups and rows, and what tombstones say of named groups that are not among them."""
    from kafkalog_reader.tables.removed_groups import removed_groups, removed_offsets

    absent = sorted(set(names) - {each["groupId"] for each in groups})
    if not absent:
        return groups, rows
    request = _request("group_offsets", None, options)
    offsets = removed_offsets(evidence, request, absent)
    return with_removed(groups, rows, removed_groups(evidence, request, absent), offsets)


def _check_names(names: Sequence[str], groups: Sequence[Row], hidden: HiddenRecords) -> None:
    from kafkalog_reader.tables.names import nearest

    known = {each["groupId"] for each in groups if each["groupId"] is not None}
    absent = [each.file for each in hidden.ranges() if each.is_absent]
    more = f" and {len(absent) - 1:,} more" if len(absent) > 1 else ""
    elsewhere = f"; no copy of {absent[0]}{more} was supplied, where it may be" if absent else ""
    for name in names:
        if name not in known:
            raise OptionError(
                "group",
                f"no group named {name!r} in the supplied partitions of __consumer_offsets"
                f"{nearest(name, known)}{elsewhere}",
            )


def _write_text(
    totals: Sequence[Row], rows: Sequence[Row], by: str | None, supplied_partitions: int
) -> None:
    from kafkalog_reader.cli.output import standard_output

    screen = screen_width()
    lines: list[str] = []
    if by and totals:
        lines = [*group_lines(totals, screen), ""]
    elif not by and rows:
        lines = [*commit_lines(rows, screen), ""]
    columns = screen or 10_000
    lines += textwrap.wrap(total_line(totals, rows, supplied_partitions), columns)
    lines += textwrap.wrap(share_line(totals), columns)
    for line in removed_lines(totals):
        lines += textwrap.wrap(line, columns)
    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in lines)


def _replaced_lines(rows: Sequence[Row], columns: int | None) -> list[str]:
    """Which committed offsets are not written, because their group cannot go on there."""
    moved = [row for row in rows if row["status"] in MOVES_CONSUMERS]
    texts = [
        f"{shown(row['groupId'])}, {shown(row['topic'])}-{row['partition']}: {row['safeOffset']:,} "
        f"written, not {row['committedOffset']:,}, which is {_PLACES[row['status']]}"
        for row in moved[:_SHOWN]
    ]
    if len(moved) > _SHOWN:
        texts.append(f"... {len(moved) - _SHOWN:,} more offsets that the log does not have")
    return [line for text in texts for line in textwrap.wrap(text, columns or 10_000)]


def write_reset_file(
    rows: Sequence[Row], evidence: Evidence, path: str, *, overwrite: bool
) -> None:
    """Write the committed offsets for ``kafka-consumer-groups --reset-offsets --from-file``.

    Where the log does not have a committed offset, or an election cut off what the group read, the
    offset where it can go on takes its place: the log end for one above it.

    A line is ``topic,partition,offset`` for one group, and begins with the group for several.
    Source: Kafka 4.3, ConsumerGroupCommand.ConsumerGroupService.parseResetPlan.

    Raises:
        UsageError: there is nothing to write, or the file cannot be written.
    """
    from kafkalog_reader.cli.output import destination
    from kafkalog_reader.report.shell_word import shell_word

    usable = [row for row in rows if row["status"] not in (*WITHOUT_OFFSET, "topic-recreated")]
    groups = list(dict.fromkeys(row["groupId"] for row in usable))
    if not usable:
        raise UsageError("--reset-file: no group has a committed offset to write")
    if len({row["clusterId"] for row in usable}) > 1:
        raise UsageError("--reset-file: the groups are of several clusters; supply one of them")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in usable:
        of_group = [row["groupId"]] if len(groups) > 1 else []
        offset = row["safeOffset" if row["status"] in MOVES_CONSUMERS else "committedOffset"]
        writer.writerow([*of_group, row["topic"], row["partition"], offset])
    with destination(path, evidence, overwrite=overwrite, option="--reset-file") as sink:
        sink.write(text.getvalue().encode())
    chosen = " ".join(f"--group {shell_word(group)}" for group in groups)
    left_out = sum(row["status"] == "topic-recreated" for row in rows)
    without = f", without {plural(left_out, 'offset')} of deleted topics" if left_out else ""
    for line in (
        *_replaced_lines(usable, screen_width()),
        f"{plural(len(usable), 'offset')} of {plural(len(groups), 'group')} written to "
        f"{path}{without}. While no consumer of the groups runs, see what it would change:",
        f"  kafka-consumer-groups.sh {_BOOTSTRAP} {chosen} --reset-offsets --from-file "
        f"{shell_word(path)} --dry-run",
        "Then use --execute instead of --dry-run.",
    ):
        click.echo(line, err=True)
