"""``kafkalog schema``: JSON Schema of what ``--format json`` prints."""

from __future__ import annotations

import json

import click

from kafkalog_reader.cli.run import verbose_option

REPLICA_DIFF = "replica-diff"
PLAN = "plan"


@click.command("schema", no_args_is_help=True, short_help="JSON Schema of --format json.")
@click.argument("name", metavar="replica-diff|plan|TABLE")
@verbose_option()
def schema_command(name: str) -> None:
    """Print the JSON Schema of one line of --format json.

    \b
    Example:
      kafkalog schema replica-diff
      kafkalog schema findings

    TABLE is any table of `kafkalog tables`; `kafkalog verify --format json` prints rows of the
    table findings. The schemas are also in docs/schemas.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.report.json_schema import partition_schema, plan_schema, table_schema

    made = {REPLICA_DIFF: partition_schema, PLAN: plan_schema}.get(name)
    schema = table_schema(registry.table(name)) if made is None else made()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
