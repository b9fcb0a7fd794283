"""``kafkalog explain``: explains what a code means, and what to do."""

from __future__ import annotations

import json

import click

from kafkalog_reader.cli.completion import complete_codes
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import text_or_json_option
from kafkalog_reader.cli.run import verbose_option


@click.command(
    "explain",
    epilog=exit_text("explain"),
    short_help="What a finding means, and what to do about it.",
)
@click.argument("codes", metavar="[CODE|NAME]...", nargs=-1, shell_complete=complete_codes)
@text_or_json_option("one object per code")
@verbose_option()
def explain_command(codes: tuple[str, ...], output_format: str) -> None:
    """Explain a finding, an action or a trap; without CODE list them all.

    \b
    Example:
      kafkalog explain KL-418
      kafkalog explain A5 T15 batch-crc-mismatch

    KL codes are findings, A codes are actions, T codes are innocent situations that look like
    faults. docs/findings.md has the same texts with examples.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.report.catalogue_text import (
        codes_by_name,
        explained_json,
        explained_lines,
        list_lines,
    )

    known = [_code(each) for each in codes]
    if output_format == "json":
        every = dict.fromkeys(codes_by_name().values())
        for code in known or every:
            click.echo(json.dumps(explained_json(code)))
        return
    columns, _ = screen()
    if not known:
        write_lines(list_lines(columns))
    for index, code in enumerate(known):
        write_lines([()] * 2 if index else [])
        write_lines(explained_lines(code, columns))


def _code(text: str) -> str:
    """The code for a code or name.

    Raises:
        UsageError: there is none.
    """
    from kafkalog_reader.errors import UsageError
    from kafkalog_reader.report.catalogue_text import code_named, codes_by_name
    from kafkalog_reader.tables.names import nearest

    code = code_named(text)
    if code is None:
        close = nearest(text, codes_by_name())
        raise UsageError(
            f"no finding, action or trap {text!r}{close or '.'} `kafkalog explain` lists all"
        )
    return code
