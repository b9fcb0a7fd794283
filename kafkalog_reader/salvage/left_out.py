"""What a salvage left out, and where: counts every place and lists the first ones."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.last_resort import pass_on
from kafkalog_reader.scan.damage import Damage, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from kafkalog_reader.errors import LocatedError

MAX_PLACES: Final = 10_000
"""Per partition: people read manifests, and hostile input could add places without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One place left out: file and position, and the offset if known."""

    file: str
    position: int | None
    offset: int | None
    problem: str


@dataclass(slots=True)
class Places:
    """The places that one partition's salvage left out.

    Attributes:
        count: number of places; each of several adjacent batches with a wrong CRC counts.
        batches: of these, whole batches; the others are bytes that form no batch, or files.
    """

    count: int = 0
    batches: int = 0
    first: list[LeftOut] = field(default_factory=list)

    def add(self, error: LocatedError, count: int = 1, *, are_batches: bool = False) -> None:
        """Add one place, or several that are reported together."""
        self.count += count
        self.batches += count if are_batches else 0
        if len(self.first) < MAX_PLACES:
            where = error.where
            place = LeftOut(
                file=where.file,
                position=where.position,
                offset=where.offset,
                problem=error.problem,
            )
            self.first.append(place)


class NotedDamage(Damage):
    """Reads on after damage, with a warning, and notes it.

    Attributes:
        positions: of the places noted, by displayed file name.
    """

    def __init__(self, places: Places, mode: Mode = Mode.PERMISSIVE) -> None:
        super().__init__(mode)
        self.positions: dict[str, set[int]] = {}
        self._places = places
        self._are_batches = True

    @classmethod
    def silent(cls) -> NotedDamage:
        """For a second reading, which repeats what the first one reported."""
        return cls(Places(), Mode.DROPMALFORMED)

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        """Note the place, then warn; a batch that is reported twice counts once."""
        where = error.where
        if self._are_batches and where.position is not None:
            positions = self.positions.setdefault(where.file, set())
            if where.position in positions:
                return
            positions.add(where.position)
        are_batches = self._are_batches and where.position is not None
        self._places.add(error, batches, are_batches=are_batches)
        super().left_out(error, batches=batches, next_offset=next_offset)

    def stretch_left_out(self, error: LocatedError) -> None:
        """Note bytes that form no batch, or a file that cannot be read."""
        with self.of_stretches():
            self.left_out(error)

    @contextmanager
    def of_stretches(self) -> Iterator[None]:
        """While it lasts, the damage reported is bytes that do not form a batch."""
        self._are_batches = False
        try:
            yield
        finally:
            self._are_batches = True


class UnreadCopies(Damage):
    """Passes over copies that cannot be read, with a warning.

    Attributes:
        errors: why, in the order of the copies.
    """

    def __init__(self) -> None:
        super().__init__(Mode.PERMISSIVE)
        self.errors: list[LocatedError] = []

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        """Keep the error, then warn."""
        self.errors.append(error)
        super().left_out(error, batches=batches, next_offset=next_offset)

    def taken(self) -> list[LocatedError]:
        """The errors since the last call."""
        errors, self.errors = self.errors, []
        return errors


class Warnings(logging.Handler):
    """Collects the reader's other warnings, such as a torn end or links not followed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        pass_on(record, self)
        is_noted = record.name == Damage.__module__ and record.funcName != Damage.log_ends.__name__
        if is_noted or len(self.messages) >= MAX_PLACES:
            return
        message = record.getMessage()
        if message not in self.messages[-100:]:
            self.messages.append(message)

    def __enter__(self) -> Self:
        logging.getLogger("kafkalog_reader").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("kafkalog_reader").removeHandler(self)
