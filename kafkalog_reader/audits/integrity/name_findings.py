"""KL-002 and KL-003 inside a partition directory: what must not be opened, and hostile names."""

from __future__ import annotations

import contextlib
import posixpath
import re
import stat
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import FINISH_COPY, RESTORE_OLD_SEGMENTS
from kafkalog_reader.audits.catalogue.input_rules import (
    HOSTILE_NAME,
    UNSAFE_PATH_SKIPPED,
)
from kafkalog_reader.audits.integrity.file_repair import Decompress, Move
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.file_listing import listed_files
from kafkalog_reader.io.names import (
    is_replica_file,
    parse_segment_file_name,
    parse_snapshot_file_name,
    shown,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import PartitionDirectory

_SEGMENT_ENDINGS: Final = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_STATES: Final = (".deleted", ".cleaned", ".swap")
_RENAMED_LOG: Final = re.compile(r"\.?([0-9]{20})\.log.+", re.ASCII | re.DOTALL)
"""A segment to which somebody gave another name: compressed, a backup, half a transfer."""
_UNFINISHED: Final = re.compile(r"\.(.+)\.[A-Za-z0-9]{6}", re.ASCII | re.DOTALL)
"""A file that rsync has not finished: it renames it then."""
_DECOMPRESSION: Final = {
    ".gz": "gzip -dc", ".zst": "zstd -dc", ".xz": "xz -dc", ".bz2": "bzip2 -dc", ".lz4": "lz4 -dc",
    ".lzo": "lzop -dc", ".zip": "unzip -p",
}  # fmt: skip
"""What writes the content of a file to standard output, by the end of its name."""
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
    entries = sorted(directory.context.entries(directory.path), key=lambda entry: entry.name)
    names = {entry.name for entry in entries}
    for entry in entries:
        found = _of_entry(replica, entry, names)
        if found is not None:
            yield found
            reported += 1
        if reported == _MAX_LISTED:
            return


def renamed_segments(directory: PartitionDirectory) -> Iterator[tuple[int, str]]:
    """Base offset and file of each segment that is here only under a name which Kafka never reads.

    None if the directory cannot be listed, which others report.
    """
    try:
        entries = listed_files(directory)
    except UnreadableFileError:
        return
    names = {entry.name for entry in entries}
    for entry in entries:
        segment = _segment_of(entry.name)
        if segment is None or segment in names:
            continue
        with contextlib.suppress(OSError):  # deleted since it was listed
            status = entry.stat(follow_symlinks=directory.follow_links)
            if stat.S_ISREG(status.st_mode) and status.st_size:
                yield int(segment[:20]), entry.name


def _of_entry(replica: Replica, entry: os.DirEntry[str], names: Collection[str]) -> Finding | None:
    file = replica.file(shown(entry.name))
    size = 0
    try:
        status = entry.stat(follow_symlinks=replica.directory.follow_links)
        mode, size = status.st_mode, status.st_size
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
    target = _unfinished(entry.name)
    if target is not None and stat.S_ISREG(mode):
        return _unfinished_copy(replica, file, target, is_missing=target not in names)
    segment = _segment_of(entry.name)
    if segment is not None and stat.S_ISREG(mode) and segment not in names:
        is_indexed = segment.removesuffix(".log") + ".index" in names
        return _missing_segment(replica, entry.name, size, segment, is_indexed=is_indexed)
    if segment is not None or _is_strange(entry.name):
        return finding(
            HOSTILE_NAME,
            f"{file}: not a name that Kafka gives a file of a partition",
            directory=replica.directory,
            file=file,
        )
    return None


def _unfinished(name: str) -> str | None:
    """The file of a replica that rsync was copying under another name."""
    match = _UNFINISHED.fullmatch(name)
    return match[1] if match is not None and is_replica_file(match[1]) else None


def _unfinished_copy(replica: Replica, file: str, target: str, *, is_missing: bool) -> Finding:
    """A copy that is incomplete; where the file is there, it may be left from an earlier one."""
    still = "still runs, or was broken off" if is_missing else "was broken off"
    return finding(
        HOSTILE_NAME,
        f"{file}: rsync has not finished {target}: the copy of this log directory {still}, and "
        "more files may be missing",
        severity="H" if is_missing else "L",
        confidence="likely",
        directory=replica.directory,
        file=file,
        actions=(FINISH_COPY,),
    )


def _segment_of(name: str) -> str | None:
    """The log file that has become a file of another name, which Kafka never reads."""
    match = _RENAMED_LOG.fullmatch(name)
    return None if match is None or name.endswith(_STATES) else f"{match[1]}.log"


def _missing_segment(
    replica: Replica, name: str, size: int, segment: str, *, is_indexed: bool
) -> Finding:
    """A start would delete the index of the segment; retention deletes it with the segment."""
    file = replica.file(shown(name))
    path = replica.directory.path
    source, target = posixpath.join(path, name), posixpath.join(path, segment)
    program = _DECOMPRESSION.get(posixpath.splitext(name)[1].lower())
    how = "give it" if program is None else "decompress it, and give it"
    loses = "before a start, which would delete its indexes" if is_indexed else "before a start"
    return finding(
        HOSTILE_NAME,
        f"{file}: {size:,} bytes that Kafka does not read, and that may be the "
        f"missing segment {segment}: {how} that name {loses}",
        severity="H",
        confidence="likely" if is_indexed else "possible",
        directory=replica.directory,
        file=file,
        evidence={"baseOffset": int(segment.removesuffix(".log"))},
        actions=(RESTORE_OLD_SEGMENTS,),
        repairs=(
            Move(path=source, target=target)
            if program is None
            else Decompress(path=source, target=target, program=program),
        ),
    )


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
