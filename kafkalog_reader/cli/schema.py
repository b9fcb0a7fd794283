"""``kafkalog schema``: prints the JSON Schemas of ``--format json``."""

from __future__ import annotations

import json
from typing import Any, Final

import click

from kafkalog_reader.cli.completion import Items, words_starting
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.run import verbose_option

OF_COMMANDS: Final = (
    "replica-diff", "plan", "quorum", "report", "changes", "ls-by-topic", "ls-by-broker", "find",
    "timeline", "census", "duplicates", "duplicates-by-record", "keys", "groups-by-partition",
    "groups-by-group", "transactions-by-partition", "transactions-by-id",
)  # fmt: skip
"""What ``kafkalog schema`` knows besides tables."""


def _complete_names(_context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    from kafkalog_reader.registry import TABLES

    return words_starting((*OF_COMMANDS, *TABLES), start)


@click.command(
    "schema",
    epilog=exit_text("schema"),
    no_args_is_help=True,
    short_help="JSON Schema of --format json.",
)
@click.argument("name", metavar="NAME", shell_complete=_complete_names)
@verbose_option()
def schema_command(name: str) -> None:
    """Print the JSON Schema of one line of --format json.

    \b
    Example:
      kafkalog schema replica-diff
      kafkalog schema findings

    NAME is replica-diff, plan, quorum, report, changes, ls-by-topic, ls-by-broker, find, timeline,
    census, duplicates, duplicates-by-record, keys, groups-by-partition, groups-by-group,
    transactions-by-partition, transactions-by-id, or any table of `kafkalog tables`. `kafkalog
    verify` prints rows of the table findings, and `kafkalog ls` without --by those of replicas.
    `kafkalog groups` prints groups-by-partition, and with --by group groups-by-group: groups is the
    table of that name. `kafkalog transactions` prints transactions-by-partition, and with --by id
    transactions-by-id. `kafkalog report --extract` prints one object. The schemas are also in
    docs/schemas.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    click.echo(json.dumps(schema_named(name), indent=2, ensure_ascii=False))


def schema_named(name: str) -> dict[str, Any]:
    """The schema of a command's lines, or of a table's rows.

    Raises:
        UsageError: there is neither; the message names the nearest one.
    """
    from kafkalog_reader import registry
    from kafkalog_reader.cli.replica_groups import KEYS
    from kafkalog_reader.errors import UsageError
    from kafkalog_reader.report.json_schemas import partition, plan, quorum, report, rows
    from kafkalog_reader.tables.names import nearest
    from kafkalog_reader.tables.schemas import commands

    match name:
        case "replica-diff":
            return partition.partition_schema()
        case "plan":
            return plan.plan_schema()
        case "quorum":
            return quorum.quorum_schema()
        case "report":
            return report.report_schema(
                commands.GROUP_PARTITIONS,
                commands.OPEN_TRANSACTION_LINES,
                commands.TIMELINE,
            )
        case "changes":
            return rows.changes_schema()
        case "ls-by-topic":
            return rows.group_schema("topic", KEYS["topic"])
        case "ls-by-broker":
            return rows.group_schema("broker", KEYS["broker"])
        case "find":
            return rows.command_schema("find", "A record that matches", commands.FOUND_RECORDS)
        case "timeline":
            return rows.command_schema("timeline", "A change of a partition", commands.TIMELINE)
        case "census":
            return rows.command_schema(
                "census", "Batches of a topic with one codec and format", commands.CENSUS
            )
        case "duplicates":
            return rows.command_schema(
                "duplicates", "A partition with duplicates", commands.DUPLICATES
            )
        case "duplicates-by-record":
            return rows.command_schema(
                "duplicates --by record", "A duplicate", commands.DUPLICATE_RECORDS
            )
        case "keys":
            return rows.command_schema("keys", "The keys of a topic", commands.KEYS)
        case "groups-by-partition":
            return rows.command_schema(
                "groups", "A partition of a group", commands.GROUP_PARTITIONS
            )
        case "groups-by-group":
            return rows.command_schema("groups --by group", "A group", commands.GROUP_TOTALS)
        case "transactions-by-partition":
            return rows.command_schema(
                "transactions",
                "A transaction that is open in a partition",
                commands.OPEN_TRANSACTION_LINES,
            )
        case "transactions-by-id":
            return rows.command_schema(
                "transactions --by id", "A transactional id", commands.TRANSACTION_LINES
            )
        case _ if name in registry.TABLES:
            return rows.table_schema(registry.table(name))
        case _:
            close = nearest(name, (*OF_COMMANDS, *registry.TABLES)) or "."
            raise UsageError(f"no schema named {name!r}{close} `kafkalog schema --help` lists all")
