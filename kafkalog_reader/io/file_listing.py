"""Lists the files of one directory, and looks only at regular ones."""

from __future__ import annotations

import logging
import os
import stat
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

FileStatus = tuple[os.stat_result, str | None]
"""Status of a file, and its real path if its name is a link."""


def listed_files(directory: PartitionDirectory) -> Sequence[os.DirEntry[str]]:
    """The entries of a partition directory; none, and a warning, if it is gone.

    Raises:
        UnreadableFileError: it cannot be listed.
    """
    try:
        return directory.context.entries(directory.path)
    except FileNotFoundError:  # a running broker removes deleted and moved partitions
        directory.context.warn(logger, directory.path, "deleted since it was listed")
        return ()
    except OSError as error:
        where = LogPosition(shown(directory.path))
        raise UnreadableFileError(error.strerror or str(error), where) from error


def regular_file(entry: os.DirEntry[str], context: ReadContext) -> FileStatus | None:
    """The status of a regular file; None, and a warning, for what must not be opened."""
    try:
        is_link = entry.is_symlink()
        if is_link and not context.follow_links:
            context.warn(logger, entry.path, "symbolic link, not followed")
            return None
        status = entry.stat(follow_symlinks=context.follow_links)
    except FileNotFoundError:  # segments vanish while a live broker is copied; links may be broken
        context.warn(logger, entry.path, "deleted since it was listed")
        return None
    except OSError as error:
        where = LogPosition(shown(entry.path))
        raise UnreadableFileError(error.strerror or str(error), where) from error
    if not stat.S_ISREG(status.st_mode):
        context.warn(logger, entry.path, "not a regular file, skipped")
        return None
    return status, os.path.realpath(entry.path) if is_link else None
