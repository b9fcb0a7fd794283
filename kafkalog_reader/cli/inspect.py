"""``kafkalog inspect``: shows one structure of a file, bytes on the left, meaning on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import POSITION, local_file, max_rate_option
from kafkalog_reader.cli.run import verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.format.layout import ShownField, Structure

BYTES_A_LINE: Final[int] = 8
LINES_A_FIELD: Final[int] = 4
_BYTES_WIDTH: Final[int] = 3 * BYTES_A_LINE - 1
_NAME_WIDTH: Final[int] = 20
_TEXT_WIDTH: Final[int] = 48


@click.command(
    "inspect", epilog=exit_text("inspect"), short_help="One structure of a file, field by field."
)
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option(
    "--position",
    type=POSITION,
    metavar="N",
    default=0,
    show_default=True,
    help="Byte of FILE at which the structure starts.",
)
@max_rate_option
@verbose_option()
def inspect_command(file: str, position: int) -> None:
    """Show one structure of a file field by field: position, bytes, name, meaning.

    \b
    Example:
      kafkalog inspect /mnt/b1/orders-17/00000000000081234500.log --position 1,048,203

    FILE may be a .log or .checkpoint (a record batch and its records, or a message from before
    Kafka 0.11; compressed ones are shown decompressed, with positions in the payload), a .index,
    .timeindex or .txnindex (one entry), a producer .snapshot (all of it at position 0), a
    *-checkpoint, meta.properties, partition.metadata or .kafka_cleanshutdown. A wrong CRC is shown
    with the right one. If nothing starts at the position, the error names the nearest positions.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.inspect_file import structures
    from kafkalog_reader.io.names import shown

    for number, structure in enumerate(structures(local_file(file), position)):
        if number:
            click.echo()
        click.echo(shown(structure.title))
        for line in _structure_lines(structure):
            click.echo(line)


def _structure_lines(structure: Structure) -> Iterator[str]:
    from kafkalog_reader.io.names import shown

    fields = structure.fields
    last = max((field.position + len(field.content) for field in fields), default=0)
    place = max(3, len(str(last)))
    name = max((len(field.name) for field in fields), default=0)
    texts = [shown(field.content.decode("utf-8", "backslashreplace")) for field in fields]
    text = max((len(text) for text in texts), default=0)
    for field, line in zip(fields, texts, strict=True):
        label = f"{field.name:<{max(name, _NAME_WIDTH)}}   {shown(field.meaning)}"
        if field.is_text:
            yield f"{field.position:>{place}}  {line:<{min(text, _TEXT_WIDTH)}}   {label}".rstrip()
        else:
            yield from _hex_lines(field, place, label)


def _hex_lines(field: ShownField, place: int, label: str) -> Iterator[str]:
    shown_bytes = field.content[: BYTES_A_LINE * LINES_A_FIELD]
    for start in range(0, max(1, len(shown_bytes)), BYTES_A_LINE):
        digits = shown_bytes[start : start + BYTES_A_LINE].hex(" ")
        line = f"{field.position + start:>{place}}  {digits:<{_BYTES_WIDTH}}   {label}"
        yield line.rstrip()
        label = ""
    if hidden := len(field.content) - len(shown_bytes):
        yield f"{'':>{place}}  ... {hidden} more bytes"
