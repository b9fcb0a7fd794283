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

    from kafkalog_reader.io.evidence import PartitionDirectory

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
        logger.warning("%s: deleted since it was listed", shown(directory.path))
        return ()
    except OSError as error:
        where = LogPosition(shown(directory.path))
        raise UnreadableFileError(error.strerror or str(error), where) from error


def regular_file(entry: os.DirEntry[str], *, follow_links: bool) -> FileStatus | None:
    """The status of a regular file; None, and a warning, for what must not be opened."""
    try:
        is_link = entry.is_symlink()
        if is_link and not follow_links:
            logger.warning("%s: symbolic link, not followed", shown(entry.path))
            return None
        status = entry.stat(follow_symlinks=follow_links)
    except FileNotFoundError:  # segments vanish while a live broker is copied; links may be broken
        logger.warning("%s: deleted since it was listed", shown(entry.path))
        return None
    except OSError as error:
        where = LogPosition(shown(entry.path))
        raise UnreadableFileError(error.strerror or str(error), where) from error
    if not stat.S_ISREG(status.st_mode):
        logger.warning("%s: not a regular file, skipped", shown(entry.path))
        return None
    return status, os.path.realpath(entry.path) if is_link else None
