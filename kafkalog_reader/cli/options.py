"""Arguments and options of several commands, with their help texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import OF_READING_OPTIONS, complete_files
from kafkalog_reader.errors import OptionError
from kafkalog_reader.tables import option_values
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.tables.option_values import Kind
    from kafkalog_reader.tables.options import Option

_RATE: Final = "kafkalog_reader.rate"
_FOLLOW_LINKS: Final = "kafkalog_reader.follow_links"

Decorator = Callable[[Any], Any]

_AGO: Final = re.compile(r"-([0-9]{1,9})\s*(s|m|h|d|w)", re.ASCII | re.IGNORECASE)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

EARLIEST: Final = "earliest"
LATEST: Final = "latest"


class Grouped(click.ParamType[int]):
    """A number from 0 on, also with the separators of our own output: 1,048,203.

    Args:
        name: what it counts, for ``--help``.
        meaning: what the number must be, for the error, with its article.
    """

    def __init__(self, name: str, meaning: str) -> None:
        self.name = name
        self._meaning = meaning

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        if isinstance(value, int):
            return value
        digits = value.replace(",", "").replace("_", "")
        if not digits.isascii() or not digits.isdigit():
            self.fail(f"{value!r} is not {self._meaning}", param, ctx)
        return int(digits)


OFFSET: Final = Grouped("offset", "an offset: an offset is 0 or greater")
POSITION: Final = Grouped("byte", "a position: the first byte of a file is 0")
NUMBER: Final = Grouped("number", "a number of 0 or more")


class OffsetOrEnd(click.ParamType[int | str]):
    """An offset, or ``earliest`` or ``latest``, as consumers call the two ends of a log."""

    name = "offset"

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | str:
        if isinstance(value, str) and value.lower() in (EARLIEST, LATEST):
            return value.lower()
        if isinstance(value, str) and re.fullmatch("-[0-9]+", value):
            self.fail(
                f"{value!r} is not an offset; --last {value[1:]} counts from the end", param, ctx
            )
        return OFFSET.convert(value, param, ctx)


class Columns(click.ParamType[tuple[str, ...]]):
    """Column names separated by commas."""

    name = "a,b"

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in value.split(","))
        if "" in names:
            self.fail(f"{value!r} has an empty column name", param, ctx)
        if len(set(names)) < len(names):
            self.fail(f"{value!r} names a column twice", param, ctx)
        return names


class Size(click.ParamType[int]):
    """A number of bytes: 4096, 64k, 50MB, 1GiB; k, m, g and t are powers of 1024."""

    name = "bytes"

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return option_values.parse_size(self.name, value)
        except OptionError as error:
            self.fail(error.problem, param, ctx)


class Rate(Size):
    """Bytes per second, like ``Size``; a rate below a kilobyte must have the unit B."""

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        rate = super().convert(value, param, ctx)
        if isinstance(value, str) and value.strip().isdigit() and rate < 1024:
            self.fail(
                f"{rate} bytes a second? Give a unit: {rate}MB, {rate}k, or {rate}B for bytes",
                param, ctx,
            )  # fmt: skip
        return rate


def paths_argument(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The argument ``PATH...``; the command's parameter is ``paths``."""
    return click.argument(
        "paths", metavar="PATH...", shell_complete=complete_files, nargs=-1, required=True
    )(command)


def text_or_json_option(meaning_of_json: str) -> Decorator:
    """``--format`` text or json; the command's parameter is ``output_format``."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=f"json is {meaning_of_json}.",
    )


class Moment(click.ParamType[str]):
    """A time as text; a time relative to now, such as -1h, becomes absolute."""

    name = "time"

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        relative = _AGO.fullmatch(str(value).strip())
        if relative is None and str(value).strip().lower() != "now":
            return str(value)
        ago = timedelta()
        if relative is not None:
            ago = timedelta(seconds=int(relative[1]) * _SECONDS[relative[2].lower()])
        try:
            moment = datetime.now(UTC) - ago
        except OverflowError:
            self.fail(f"{value!r} is before the year 1", param, ctx)
        text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = param.opts[0] if param is not None else "time"
        click.echo(f"{said} {value}: {text} (UTC), by this machine's clock", err=True)
        return text


MOMENT: Final = Moment()


_TYPES: Final[dict[Kind, click.ParamType[Any]]] = {
    option_values.NUMBERS: NUMBER,
    option_values.OFFSET: OFFSET,
    option_values.COUNT: NUMBER,
    option_values.SIZE: Size(),
    option_values.TIME: MOMENT,
    option_values.AS_OF: MOMENT,
}
"""How the terminal parses values of a kind; all others are text."""


def _additional_values(name: str, option: Option, *, has_ends: bool) -> str:
    """The values that only the terminal accepts, for the help text."""
    if option.kind in (option_values.TIME, option_values.AS_OF):
        return "; also now, or -30m, -1h, -2d before now"
    if name == "from_offset":
        ends = "; earliest is the log start, latest the log end" if has_ends else ""
        return f", such as 81,240,000 or 81240000{ends}"
    return ""


def reading_option(
    name: str,
    *,
    kind: click.ParamType[Any] | None = None,
    has_tables: bool = False,
    **attributes: Any,  # noqa: ANN401  click's
) -> Decorator:
    """An option of ``tables.options.OPTIONS``, such as ``--from-time``; None if not given.

    Args:
        name: in ``tables.options.OPTIONS``.
        kind: parses the value, if this command accepts more than other interfaces do.
        has_tables: whether the help text lists the tables that have the option.
        attributes: of click's option, if they differ for this command.
    """
    option = OPTIONS[name]
    also = _additional_values(name, option, has_ends=kind is not None)
    several = "; repeatable" if option.kind.is_repeatable else ""
    is_default_ours = option.default and "default" not in attributes
    default = f"  [default: {option.default}]" if is_default_ours else ""
    is_flag = option.kind is option_values.FLAG
    tables = f"  [tables: {', '.join(sorted(option.tables or ()))}]" if has_tables else ""
    found: dict[str, Any] = {
        "help": f"{option.meaning}{also}{several}.{'' if is_flag else default}"
        f"{tables if option.tables else ''}",
    }
    if option.kind.is_repeatable:
        found |= {"multiple": True, "callback": lambda _context, _option, given: given or None}
    if is_flag:
        found |= {"is_flag": True, "default": None}
    else:
        found |= {"metavar": option.kind.placeholder, "type": kind or _TYPES.get(option.kind)}
    if name in OF_READING_OPTIONS:
        found["shell_complete"] = OF_READING_OPTIONS[name]
    return click.option(f"--{name.replace('_', '-')}", **(found | attributes))


def reading_options(*names: str, has_tables: bool = False) -> Decorator:
    """Several such options, in the order of ``--help``."""

    def decorate(command: Any) -> Any:  # noqa: ANN401  what click decorates
        for name in reversed(names):
            command = reading_option(name, has_tables=has_tables)(command)
        return command

    return decorate


def words_of(*names: str, **given: Any) -> list[str]:  # noqa: ANN401  as click gives them
    """These options as words of a command, as they were given; those that were not are left out."""
    return [
        word
        for name in names
        if given.get(name) is not None
        for word in (f"--{name.replace('_', '-')}", str(given[name]))
    ]


def max_rate_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--max-rate``: holds for all that the command reads; see ``read_context``."""
    return click.option(
        "--max-rate",
        metavar="BYTES",
        type=Rate(),
        expose_value=False,
        callback=_limit_rate,
        help="Read at most this many bytes per second, such as 50MB: for a running broker's disk.",
    )(command)


def input_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """``--follow-links`` and ``--max-rate`` of a command that calls ``supplied``."""
    return click.option(
        "--follow-links",
        is_flag=True,
        expose_value=False,
        callback=_follow_links,
        help="Follow symbolic links; otherwise they are skipped.",
    )(max_rate_option(command))


def _limit_rate(context: click.Context, _option: click.Parameter, value: int | None) -> None:
    from kafkalog_reader.io.read_rate import ReadRate

    context.meta[_RATE] = None if value is None else ReadRate(value)


def _follow_links(context: click.Context, _option: click.Parameter, value: bool) -> None:
    context.meta[_FOLLOW_LINKS] = value


def read_context(*, follow_links: bool = False) -> ReadContext:
    """How the command that runs reads files: as its options say.

    Args:
        follow_links: follow links, whether ``--follow-links`` is given or not.
    """
    from kafkalog_reader.io.read_context import ReadContext

    running = click.get_current_context(silent=True)
    given = {} if running is None else running.meta
    return ReadContext(
        follow_links=follow_links or given.get(_FOLLOW_LINKS, False), rate=given.get(_RATE)
    )


def local_file(path: str) -> str:
    """Where a FILE of the command that runs is, which may be inside an archive.

    Raises:
        LogLayoutError: the archive has no such member.
        UnreadableFileError: the archive is damaged or hostile.
    """
    from kafkalog_reader.io.path_argument import local_path

    return local_path(path, read_context())


def supplied(paths: Sequence[str]) -> Evidence:
    """What the PATHs of the command that runs hold.

    Raises:
        LogLayoutError: a path does not exist, or holds nothing that Kafka writes.
    """
    from kafkalog_reader import registry

    return registry.discovered(paths, read_context())
