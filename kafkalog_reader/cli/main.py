"""``kafkalog``: a group of commands, each imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final, NoReturn

import click

from kafkalog_reader import __version__
from kafkalog_reader.cli.run import run, session, verbose_option

COMMANDS: Final = {
    "ls": "kafkalog_reader.cli.ls:ls_command",
    "records": "kafkalog_reader.cli.records:records_command",
    "changes": "kafkalog_reader.cli.changes:changes_command",
    "verify": "kafkalog_reader.cli.verify:verify_command",
    "plan": "kafkalog_reader.cli.plan:plan_command",
    "quorum": "kafkalog_reader.cli.quorum:quorum_command",
    "report": "kafkalog_reader.cli.report:report_command",
    "find": "kafkalog_reader.cli.find:find_command",
    "timeline": "kafkalog_reader.cli.timeline:timeline_command",
    "groups": "kafkalog_reader.cli.groups:groups_command",
    "transactions": "kafkalog_reader.cli.transactions:transactions_command",
    "census": "kafkalog_reader.cli.census:census_command",
    "duplicates": "kafkalog_reader.cli.duplicates:duplicates_command",
    "keys": "kafkalog_reader.cli.keys:keys_command",
    "table": "kafkalog_reader.cli.table:table_command",
    "tables": "kafkalog_reader.cli.tables:tables_command",
    "sql": "kafkalog_reader.cli.sql:sql_command",
    "dump": "kafkalog_reader.cli.dump:dump_command",
    "inspect": "kafkalog_reader.cli.inspect:inspect_command",
    "salvage": "kafkalog_reader.cli.salvage:salvage_command",
    "explain": "kafkalog_reader.cli.explain:explain_command",
    "schema": "kafkalog_reader.cli.schema:schema_command",
}

SECTIONS: Final = {
    "See what is there": ("ls", "records", "find"),
    "Check and compare": ("verify", "changes", "report", "explain"),
    "Start brokers again, save data": ("plan", "quorum", "salvage"),
    "Follow leaders and clients": (
        "timeline",
        "groups",
        "transactions",
        "duplicates",
        "keys",
        "census",
    ),
    "Query everything": ("table", "tables", "sql", "schema"),
    "Examine bytes": ("inspect", "dump"),
}
"""The commands as ``--help`` and the manual list them, by heading."""


class LazyGroup(click.Group):
    """Imports a command when it is called: ``--help`` must not wait for Arrow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, attribute = COMMANDS[cmd_name].split(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section, with their short help in one column."""
        width = max(map(len, COMMANDS))
        for heading, names in SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(formatter.width))
                        for name, command in commands
                        if command is not None
                    ]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the closest known one."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from kafkalog_reader.tables.names import nearest

            if args[0] == "replica-diff":
                raise click.UsageError(
                    "replica-diff is a program of its own: replica-diff PATH...", ctx
                )
            close = nearest(args[0], COMMANDS) or f". Known: {', '.join(COMMANDS)}."
            raise click.UsageError(f"no command named {args[0]!r}{close}", ctx)
        return super().resolve_command(ctx, args)


def _show_version(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if not value:
        return
    click.echo(f"kafkalog {__version__}")
    if session().verbose:
        from kafkalog_reader.decode.codec_report import codec_lines

        click.echo("\n".join(codec_lines()))
    context.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version; with --verbose the kernel and the codec libraries, too.",
)
@verbose_option(is_eager=True)
def kafkalog() -> None:
    """Read Kafka's files on disk: read-only, and without a broker.

    PATH is a segment file, a partition directory, a log directory, or a folder that holds log
    directories of several brokers; also a glob in quotes, an archive of these (.tar, .tar.gz,
    .tar.zst, .zip), or the URI of an object store (s3://bucket/folder, gs:, abfs:). N=PATH gives
    the node id if meta.properties is missing, NAME=PATH a label.

    \b
    Examples:
      kafkalog ls 1=/mnt/b1 2=/mnt/b2
      replica-diff 1=/mnt/b1 2=/mnt/b2

    The separate command replica-diff shows where the copies of a partition diverge. Data goes to
    standard output, messages to standard error. The help of each command says when its exit status
    is 1 or 2; after Ctrl-C it is 130.
    """  # noqa: D301  click reads the backspace: keep these lines as they are


def main() -> NoReturn:
    """The console script ``kafkalog``."""
    run(kafkalog)
