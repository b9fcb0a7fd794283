"""Remembers what was listed or read while one partition is examined.

An audit needs the same few small files and folders dozens of times. Within ``one_look`` each is
listed or read once, so that all results are from the same state, even if the broker runs.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.io.read_context import Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence


@contextmanager
def one_look(
    directories: Sequence[PartitionDirectory],
) -> Iterator[tuple[PartitionDirectory, ...]]:
    """The directories, whose folders and small files are read once until the block ends.

    Within the block of another look at them, that one goes on.
    """
    looks = [each.context.look for each in directories]
    if any(look is not None and not look.is_over for look in looks):
        yield tuple(directories)
        return
    look = Look()
    try:
        yield tuple(each.within(replace(each.context, look=look)) for each in directories)
    finally:
        look.end()


@contextmanager
def one_look_each(evidence: Evidence) -> Iterator[tuple[Evidence, Callable[[], None]]]:
    """The evidence, whose folders and small files are read once for each of its partitions.

    The function given with it is called after each partition. Within the block of another look,
    that one goes on.
    """
    known = evidence.context.look
    if known is not None and not known.is_over:
        yield evidence, lambda: None
        return
    look = Look()
    try:
        yield evidence.within(replace(evidence.context, look=look)), look.forget
    finally:
        look.end()
