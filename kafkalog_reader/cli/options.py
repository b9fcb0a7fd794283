"""Arguments and options that several commands have, with the words of ``kafkalog --help``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

Decorator = Callable[[Any], Any]

REPLICAS: Final = "best, all or broker:N"


class Offset(click.ParamType[int]):
    """A Kafka offset, also as our own output groups it: 1,048,203."""

    name = "offset"

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
            self.fail(f"{value!r} is no offset: an offset is 0 or greater", param, ctx)
        return int(digits)


class Columns(click.ParamType[tuple[str, ...]]):
    """Column names between commas."""

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


def paths_argument(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The argument ``PATH...``; the command's parameter is ``paths``."""
    return click.argument("paths", metavar="PATH...", nargs=-1, required=True)(command)


def follow_links_option(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The option ``--follow-links``."""
    return click.option(
        "--follow-links", is_flag=True, help="Follow symbolic links; otherwise they are skipped."
    )(command)


def selection_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """``--topic`` and ``--partition``, each as often as wanted."""
    command = click.option(
        "--partition",
        metavar="N",
        type=click.IntRange(0),
        multiple=True,
        help="Only this one; repeatable.",
    )(command)
    return click.option("--topic", multiple=True, help="Only this topic; repeatable.")(command)


def selected(topic: tuple[str, ...], partition: tuple[int, ...]) -> dict[str, Any]:
    """The two options above as keyword options of ``registry.request``."""
    return {"topic": topic or None, "partition": partition or None}
