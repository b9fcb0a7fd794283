"""What a salvage left out, and where: every place counted, the first ones kept by name."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.request import Mode

if TYPE_CHECKING:
    from typing import Self

    from kafkalog_reader.errors import LocatedError

MOST_PLACES: Final = 10_000
"""Kept of one partition: a manifest is to be read by people, and hostile bytes have no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One place that did not make it, by file and position, with the offset where it is known."""

    file: str
    position: int | None
    offset: int | None
    problem: str


@dataclass(slots=True)
class Places:
    """The places that one partition's salvage left out."""

    count: int = 0
    first: list[LeftOut] = field(default_factory=list)

    def add(self, error: LocatedError, batches: int = 1) -> None:
        """Note one more, or several that are said at once."""
        self.count += batches
        if len(self.first) < MOST_PLACES:
            where = error.where
            place = LeftOut(
                file=where.file,
                position=where.position,
                offset=where.offset,
                problem=error.problem,
            )
            self.first.append(place)


class NotedDamage(Damage):
    """Reads on behind damage, with a warning, and notes it.

    Attributes:
        positions: of the places noted, by file as it is shown.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(Mode.PERMISSIVE)
        self.positions: dict[str, set[int]] = {}
        self._places = places

    def left_out(self, error: LocatedError, *, batches: int = 1) -> None:
        """Note the place, then warn."""
        self._places.add(error, batches)
        if error.where.position is not None:
            self.positions.setdefault(error.where.file, set()).add(error.where.position)
        super().left_out(error, batches=batches)


class Warnings(logging.Handler):
    """Keeps what the reader warned of besides damage: a torn end, links that were not followed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == Damage.__module__ or len(self.messages) >= MOST_PLACES:
            return
        message = record.getMessage()
        if message not in self.messages[-100:]:
            self.messages.append(message)

    def __enter__(self) -> Self:
        logging.getLogger("kafkalog_reader").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("kafkalog_reader").removeHandler(self)
