"""How the files of one question are read: said once, where it is asked, and handed on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkalog_reader.io.read_rate import ReadRate
    from kafkalog_reader.io.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext:
    """Travels with the evidence: each log directory has it, and all that is opened below.

    It pickles without what belongs to one process; a worker of Spark reads at its own pace.

    Attributes:
        follow_links: whether symbolic links may be followed.
        rate: limits the bytes per second from disk; None does not.
        threads: those that share the work; None where each question has its own.
    """

    follow_links: bool = False
    rate: ReadRate | None = field(default=None, compare=False, repr=False)
    threads: Threads | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return _plain, (self.follow_links,)


def _plain(follow_links: bool) -> ReadContext:
    return ReadContext(follow_links=follow_links)


PLAIN: Final = ReadContext()
FOLLOWING: Final = ReadContext(follow_links=True)
