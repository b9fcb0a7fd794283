"""Log directories of two nodes that were exchanged, as the folders that they are in show.

Nothing is certain: a folder need not be that of one node. Labels (``N=PATH``) say it better.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kafkalog_reader.io.directories import LogDirectory

logger = logging.getLogger(__name__)
_NODES: Final = 2
"""In a folder in which one of the log directories is that of another node."""


def exchanged_disks(roots: Iterable[LogDirectory]) -> Iterator[tuple[LogDirectory, LogDirectory]]:
    """Yield two of the same name, in two folders, that would each fit into the other folder.

    There, all other log directories have its node id.
    """
    folders: dict[str, dict[str, LogDirectory]] = defaultdict(dict)
    for root in roots:
        if root.named is None and root.broker_id is not None:
            folder, name = os.path.split(os.path.abspath(root.path))
            folders[folder][name] = root
    mixed = [each for each in folders.values() if len(_nodes(each)) == _NODES]
    for one, other in combinations(mixed, 2):
        for name in sorted(one.keys() & other.keys()):
            here, there = one[name], other[name]
            others = _nodes(one, name), _nodes(other, name)
            is_wrong = here.broker_id != there.broker_id
            if is_wrong and others == ({there.broker_id}, {here.broker_id}):
                yield here, there
                break  # with two disks in each folder, the others fit as well


def warn_of_exchanged_disks(roots: Iterable[LogDirectory]) -> None:
    """Name them: whatever an audit says of their records, their nodes do not start."""
    for one, other in exchanged_disks(roots):
        logger.warning("%s", exchanged_disks_text(one, other))


def exchanged_disks_text(one: LogDirectory, other: LogDirectory) -> str:
    """What the folders of two log directories suggest."""
    return (
        f"{shown(one.path)} has node id {one.broker_id}, and {shown(other.path)} has "
        f"{other.broker_id}, unlike the log directories beside them; if each folder is that of a "
        "node, disks of these two are exchanged, and neither starts"
    )


def _nodes(folder: Mapping[str, LogDirectory], without: str | None = None) -> set[int | None]:
    return {root.broker_id for name, root in folder.items() if name != without}
