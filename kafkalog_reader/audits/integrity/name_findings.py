"""KL-002 and KL-003 inside a partition directory: what must not be opened, and hostile names."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.input_rules import (
    HOSTILE_NAME,
    UNSAFE_PATH_SKIPPED,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.io.names import parse_segment_file_name, parse_snapshot_file_name, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.replica import Replica

_SEGMENT_ENDINGS: Final = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_STATES: Final = (".deleted", ".cleaned", ".swap")
_MAX_LISTED: Final = 1000
"""Maximum findings for one directory, which may hold a million strange names."""


def name_findings(replica: Replica) -> Iterator[Finding]:
    """Yield links, devices and names that Kafka would not have written.

    Raises:
        OSError: the directory cannot be listed.
    """
    directory = replica.directory
    if directory.only is not None:
        return
    reported = 0
    for entry in sorted(directory.context.entries(directory.path), key=lambda entry: entry.name):
        found = _of_entry(replica, entry)
        if found is not None:
            yield found
            reported += 1
        if reported == _MAX_LISTED:
            return


def _of_entry(replica: Replica, entry: os.DirEntry[str]) -> Finding | None:
    file = replica.file(shown(entry.name))
    try:
        mode = entry.stat(follow_symlinks=replica.directory.follow_links).st_mode
    except OSError:  # deleted since it was listed, or a link that leads nowhere
        mode = stat.S_IFLNK if entry.is_symlink() else stat.S_IFREG
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a file or folder"
        return finding(
            UNSAFE_PATH_SKIPPED,
            f"{file}: {kind}, not opened",
            directory=replica.directory,
            file=file,
        )
    if _is_strange(entry.name):
        return finding(
            HOSTILE_NAME,
            f"{file}: not a name that Kafka gives a file of a partition",
            directory=replica.directory,
            file=file,
        )
    return None


def _is_strange(name: str) -> bool:
    """Whether a name cannot be printed unchanged, or only ends like that of a segment file."""
    if shown(name) != name:
        return True
    stem = name
    for state in _STATES:
        stem = stem.removesuffix(state)
    if not stem.endswith(_SEGMENT_ENDINGS):
        return False
    return parse_segment_file_name(stem) is None and parse_snapshot_file_name(stem) is None
