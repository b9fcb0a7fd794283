"""Derives which releases may start a log directory from the files that it holds."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.release_signs import release_signs
from kafkalog_reader.audits.recovery.rule import (
    CURRENT_RULE,
    FIRST_RULE,
    SINCE_0_9,
    SINCE_0_10_1,
    SINCE_0_11,
    SINCE_2_3,
    SINCE_3_0,
    SINCE_4_1,
    StartRule,
)

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import LogDirectory

_SINCE_3_7: Final = (CURRENT_RULE, SINCE_4_1, SINCE_3_0)
_META_PROPERTIES: Final = "meta.properties"


def possible_rules(root: LogDirectory, registered: int = 0) -> tuple[StartRule, ...]:
    """The rules by which the broker of a log directory may start, the likeliest first.

    Directory ids came with 3.7 and topic ids with 2.8. Between 0.11 and 2.7 no file distinguishes
    releases, although they behave differently.

    Args:
        root: the log directory.
        registered: the highest ``metadata.version`` with which its node registered, whose release
            may have been upgraded since; 0 if unknown.
    """
    if root.directory_id is not None:
        return tuple(
            rule
            for rule, following in zip(_SINCE_3_7, (None, *_SINCE_3_7), strict=False)
            if following is None or registered < following.metadata_version
        )
    try:
        version = Path(root.path).stat().st_mtime_ns
    except OSError:
        return (CURRENT_RULE,)  # has its own finding
    return _rules(root.path, version)


@lru_cache(maxsize=64)
def _rules(root: str, _version: int) -> tuple[StartRule, ...]:
    """The rules of a log directory; cached until it changes."""
    signs = release_signs(root)
    if not signs.has_segments:
        return (CURRENT_RULE,)
    if signs.topic_ids:
        return (SINCE_3_0,)
    if signs.leader_epochs:
        return (SINCE_2_3, SINCE_0_11)
    if signs.time_indexes:
        return (SINCE_0_10_1,)
    if Path(posixpath.join(root, _META_PROPERTIES)).is_file():
        return (SINCE_0_9,)
    return (FIRST_RULE, SINCE_0_9)
