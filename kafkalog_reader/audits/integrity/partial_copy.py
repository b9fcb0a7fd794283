"""Log directories from which only some partitions were copied: the broker may have the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import METADATA_TOPIC, parse_directory_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from kafkalog_reader.io.evidence import LogDirectory

_MIN_MISSING: Final = 2
"""One folder that is gone beside one that is there is more likely a loss."""

Partition = tuple[str, int]
"""Topic and partition."""


def named_partitions(root: LogDirectory) -> frozenset[Partition]:
    """Partitions that both checkpoints name which hold every replica; none where one is damaged."""
    try:
        rows = [checkpointed_offsets(root, name) for name in (HIGH_WATERMARKS, RECOVERY_POINTS)]
    except LocatedError:  # a finding of its own
        return frozenset()
    return frozenset(key for key in rows[0] if key in rows[1] and key[0] != METADATA_TOPIC)


def is_partial_copy(named: Collection[Partition], folders: Collection[Partition]) -> bool:
    """Whether a log directory is a copy of some partitions of a broker, by all appearances.

    Brokers lose single folders, or all of them with their disk. Where some are there and more are
    missing, somebody copied what was of interest.

    Args:
        named: ``named_partitions`` of the log directory.
        folders: partitions that have a folder, in whatever state.
    """
    present = sum(key in folders for key in named)
    missing = len(named) - present
    return present > 0 and missing >= _MIN_MISSING and missing > present


def is_part_of_log_directory(root: LogDirectory) -> bool:
    """The same of a log directory; one that cannot be listed is not a partial copy."""
    try:
        with os.scandir(root.path) as entries:
            names = [parse_directory_name(entry.name) for entry in entries]
    except OSError:  # a finding of its own
        return False
    folders = {(name.topic, name.partition) for name in names if name is not None}
    return is_partial_copy(named_partitions(root), folders)
