"""Arguments and options that several commands have, with the words of ``kafkalog --help``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click

Decorator = Callable[[Any], Any]

_SIZE: Final = re.compile(r"([0-9]{1,15})\s*([kmg]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_AGO: Final = re.compile(r"-([0-9]{1,9})\s*(s|m|h|d|w)", re.ASCII | re.IGNORECASE)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SHIFTS: Final = {"": 0, "k": 10, "m": 20, "g": 30}

EARLIEST: Final = "earliest"
LATEST: Final = "latest"

RULES: Final = "current, several-rounds, one-round or high-watermark"
REPLICAS: Final = "best, all or broker:N"


class Grouped(click.ParamType[int]):
    """A number from 0 on, also with the separators of our own output: 1,048,203.

    Args:
        name: what it counts, for ``--help``.
        meaning: what a number must be, for the error.
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
            self.fail(f"{value!r} is no {self._meaning}", param, ctx)
        return int(digits)


OFFSET: Final = Grouped("offset", "offset: an offset is 0 or greater")
POSITION: Final = Grouped("byte", "position: the first byte of a file is 0")


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
    """A number of bytes: 4096, 64k, 50MB, 1GiB; k, m and g are 1024 each, as everywhere here."""

    name = "bytes"

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        if isinstance(value, int):
            return value
        size = _SIZE.fullmatch(value.strip())
        if size is None or int(size[1]) == 0:
            self.fail(f"{value!r} is no size: write 50MB, 64m or bytes", param, ctx)
        return int(size[1]) << _SHIFTS[size[2].lower()]


class Rate(Size):
    """Bytes a second, as ``Size``; what is below a kilobyte must say that it means bytes."""

    def convert(
        self,
        value: Any,  # noqa: ANN401  click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        rate = super().convert(value, param, ctx)
        if isinstance(value, str) and value.strip().isdigit() and rate < 1 << _SHIFTS["k"]:
            self.fail(
                f"{rate} bytes a second? Give a unit: {rate}MB, {rate}k, or {rate}B for bytes",
                param, ctx,
            )  # fmt: skip
        return rate


def paths_argument(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The argument ``PATH...``; the command's parameter is ``paths``."""
    return click.argument("paths", metavar="PATH...", nargs=-1, required=True)(command)


def follow_links_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--follow-links``."""
    return click.option(
        "--follow-links", is_flag=True, help="Follow symbolic links; otherwise they are skipped."
    )(command)


def text_or_json_option(meaning_of_json: str) -> Decorator:
    """``--format`` of what is written for people; as ``output_format``."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=f"json is {meaning_of_json}.",
    )


def selection_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """``--topic`` and ``--partition``, both repeatable."""
    command = click.option(
        "--partition",
        metavar="N",
        type=click.IntRange(0),
        multiple=True,
        help="Only this one; repeatable.",
    )(command)
    return click.option("--topic", multiple=True, help="Only this topic; repeatable.")(command)


def offset_range_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """``--from-offset`` and ``--to-offset``."""
    command = click.option(
        "--to-offset", type=OFFSET, help="The end of the range: the first offset left out."
    )(command)
    return click.option("--from-offset", type=OFFSET, help="The first offset of the range.")(
        command
    )


class Moment(click.ParamType[str]):
    """A time as text; one before now, such as -1h, becomes the time that it means."""

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
            self.fail(f"{value!r} is before all time", param, ctx)
        text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = param.opts[0] if param is not None else "time"
        click.echo(f"{said} {value}: {text} (UTC), by this machine's clock", err=True)
        return text


MOMENT: Final = Moment()


def time_range_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """``--from-time`` and ``--to-time``, as text."""
    command = click.option(
        "--to-time",
        metavar="TIME",
        type=MOMENT,
        help="The end of the range: the first time left out.",
    )(command)
    return click.option(
        "--from-time",
        metavar="TIME",
        type=MOMENT,
        help="The start of the range: 2026-11-21T06:00:00Z, 2026-11-21 (UTC unless it says "
        "+02:00), milliseconds, or -1h, -30m, -2d before now.",
    )(command)


def started_at_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--started-at``, as text; None where it is not given."""
    return click.option(
        "--started-at",
        metavar="TIME",
        type=MOMENT,
        help="When brokers start, which decides what retention deletes: 2026-11-21T06:00:00Z, "
        "milliseconds, now or -1h.  [default: right after each log's newest record]",
    )(command)


def deep_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--deep``; None where it is not given."""
    return click.option(
        "--deep",
        is_flag=True,
        default=None,
        help="Findings: decompress and decode every record too.",
    )(command)


def rule_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--rule``; None where it is not given."""
    return click.option(
        "--rule",
        metavar="RULE",
        help=f"Elections: how followers truncate: {RULES} (Kafka 2.7 and later, 2.0 to 2.6, "
        "0.11 to 1.1, and before).  [default: as the files show]",
    )(command)


def max_batch_bytes_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--max-batch-bytes``."""
    return click.option(
        "--max-batch-bytes",
        metavar="BYTES",
        type=Size(),
        help="What one batch may decompress to.  [default: 512m, above 16m 1000 times its size]",
    )(command)


def selected(topic: tuple[str, ...], partition: tuple[int, ...]) -> dict[str, Any]:
    """The two options above as keyword options of ``registry.request``."""
    return {"topic": topic or None, "partition": partition or None}


def max_rate_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--max-rate``: takes effect at once, for the whole process."""
    return click.option(
        "--max-rate",
        metavar="BYTES",
        type=Rate(),
        expose_value=False,
        callback=_limit_rate,
        help="Read at most this many bytes a second, such as 50MB: for a broker's own disk.",
    )(command)


def _limit_rate(_context: click.Context, _option: click.Parameter, value: int | None) -> None:
    from kafkalog_reader.io.read_rate import limit_rate

    limit_rate(value)
