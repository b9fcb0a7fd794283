"""The possible outcomes of a start for a replica, and how a start fails.

The steps of a simulated start raise the failures that a broker meets there. ``attempted`` is the
only place that catches them: whoever begins a simulation gets a value, so that no failure of a
simulated broker becomes an error of this program.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class StartOutcome(Enum):
    """What the next start does to a replica."""

    LOADS = "loads"
    """It is served with every sound record in its files."""
    HIDDEN = "hidden"
    """It is served with a log end below sound records of its last segment.

    The records stay in the file, but no reader gets them, and new records take their offsets:
    KL-415.
    """
    CUT = "cut"
    """Recovery cuts records off."""
    EMPTIED = "emptied"
    """Every segment is deleted: the log start is beyond the end."""
    STRAY = "stray"
    """The directory is renamed and kept, and the partition starts empty: KL-417."""
    DIRECTORY_OFFLINE = "directoryOffline"
    """The log directory is taken offline, or serves nothing."""
    BROKER_ABORTS = "brokerAborts"
    """The broker does not come up."""
    EXPIRED = "expired"
    """Time retention deletes segments right after the start: KL-418."""


FAILURES: Final = frozenset({StartOutcome.BROKER_ABORTS, StartOutcome.DIRECTORY_OFFLINE})
"""Then the replica is not loaded at all."""


class StartFailure(Exception):  # noqa: N818  happens to the broker, not an error of this program
    """The broker does not survive a step; only ``attempted`` catches it."""


class DirectoryFailure(Exception):  # noqa: N818  the same, for a log directory
    """A step takes the log directory offline; only ``attempted`` catches it."""


@dataclass(frozen=True, slots=True)
class FailedStep:
    """How a step of a start failed.

    Attributes:
        reason: file and position, and what is wrong there.
        ends_broker: whether it ends the broker; otherwise it takes the log directory offline.
    """

    reason: str
    ends_broker: bool


def attempted(step: Callable[[], _T]) -> _T | FailedStep:
    """What a step of a simulated start returns, or how it fails."""
    try:
        return step()
    except (StartFailure, DirectoryFailure) as failure:
        return FailedStep(str(failure), ends_broker=isinstance(failure, StartFailure))
