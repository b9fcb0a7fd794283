"""KL-312: what is wrong with ``meta.properties``, which says whose a log directory is."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    KEEP_ONE_DIRECTORY,
    LEAVE_ONE_OUT,
    RESTORE_IDENTITY,
    RETURN_DIRECTORY,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import META_PROPERTIES_PROBLEM
from kafkalog_reader.audits.catalogue.input_rules import UNREADABLE_FILE
from kafkalog_reader.audits.integrity.file_repair import Write, move_aside
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.audits.log.release_signs import release_signs
from kafkalog_reader.audits.recovery.disks import (
    METADATA_LOG,
    disk_failures,
    is_copied_with_its_files,
)
from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.meta_properties import parse_meta_properties
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.exchanged_disks import exchanged_disks, exchanged_disks_text
from kafkalog_reader.io.log_directory import are_disks_exchanged, exchange_text, live_partitions
from kafkalog_reader.io.names import META_PROPERTIES, shown
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import FileRepair
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.io.directories import LogDirectory

_OF_OTHER_NODE: Final = (" says node ", "the path was given as broker ")
"""In the problem of a file that may be right, in a directory that is another node's."""


def exchange_findings(
    roots: Sequence[LogDirectory], exchanged: Sequence[LogDirectory]
) -> Iterator[Finding]:
    """Yield the finding about paths that were given with each other's node ids: no file is wrong.

    Where the disks were exchanged, it is one finding for each.

    Args:
        roots: all that were supplied.
        exchanged: those with a wrong label.
    """
    message = exchange_text(roots, exchanged)
    are_disks = are_disks_exchanged(roots, exchanged)
    for root in exchanged if are_disks else exchanged[:1]:
        yield finding(
            META_PROPERTIES_PROBLEM,
            message if are_disks else f"{message}; if the labels are right, disks were exchanged",
            severity="H" if are_disks else "M",
            directory=PartitionDirectory.whole(root),
            actions=(RETURN_DIRECTORY,) if are_disks else (LEAVE_ONE_OUT, RETURN_DIRECTORY),
        )


def exchanged_disk_findings(roots: Sequence[LogDirectory]) -> Iterator[Finding]:
    """Yield a finding for two disks that their folders show to be exchanged."""
    for one, other in exchanged_disks(roots):
        yield finding(
            META_PROPERTIES_PROBLEM,
            exchanged_disks_text(one, other),
            severity="M",
            confidence="possible",
            directory=PartitionDirectory.whole(one),
            actions=(LEAVE_ONE_OUT, RETURN_DIRECTORY),
        )


def identity_finding(
    root: LogDirectory,
    lines: tuple[str, ...] = (),
    *,
    is_kraft: bool = False,
    has_zookeeper: bool = False,
    has_label: bool = True,
) -> Finding | None:
    """The finding about one log directory; None if its file is sound.

    Args:
        root: supplied as a whole.
        lines: the file as it should be; empty if that is unknown.
        is_kraft: the cluster is known to have a metadata log; the directory may show it, too.
        has_zookeeper: another log directory is of a broker with ZooKeeper.
        has_label: False where the node id that was given does not count.
    """
    path = posixpath.join(root.path, META_PROPERTIES)
    is_kraft = is_kraft or METADATA_LOG in live_partitions(root)
    severity = "H"
    actions: tuple[str, ...] | None = None
    repairs: tuple[FileRepair, ...] = ()
    try:
        content = read_if_present(path, METADATA_LIMIT, context=root.context)
        if content is None:
            severity, problem = _missing(root, is_kraft=is_kraft, has_zookeeper=has_zookeeper)
            actions = (RESTORE_IDENTITY,)
            repairs = (Write(path=path, lines=lines),) if lines else ()
        else:
            labelled = root if has_label else replace(root, named=None)
            problem = _contradiction(labelled, content, is_kraft=is_kraft)
            if not problem:
                problem = _refused_together(root, path, is_kraft=is_kraft)
                lines = ()  # they would have the same ids again
    except LocatedError as error:
        problem = error.problem
    if not problem:
        return None
    refusal = actions_of_refusal(problem)
    if refusal is not None:  # nothing is known to be wrong with it
        return finding(
            UNREADABLE_FILE,
            f"{META_PROPERTIES}: {problem}",
            directory=PartitionDirectory.whole(root),
            file=META_PROPERTIES,
            actions=refusal,
        )
    if any(words in problem for words in _OF_OTHER_NODE):
        actions = (RETURN_DIRECTORY,)
    if METADATA_LOG in problem:
        actions = (KEEP_ONE_DIRECTORY, RESTORE_IDENTITY)
    if lines and not repairs:
        repairs = (move_aside(root.path, META_PROPERTIES), Write(path=path, lines=lines))
    return finding(
        META_PROPERTIES_PROBLEM,
        f"{META_PROPERTIES}: {problem}",
        severity=severity,
        directory=PartitionDirectory.whole(root),
        file=META_PROPERTIES,
        actions=actions,
        repairs=repairs,
    )


def _refused_together(root: LogDirectory, path: str, *, is_kraft: bool) -> str:
    """Why the node does not start with all its log directories; said of the one that is named."""
    paths = sorted({root.path, *root.siblings})
    fatal = disk_failures(paths, root.context, is_kraft=is_kraft, node_id=root.broker_id).fatal
    named = f"{shown(path)}: "
    if fatal.startswith(named):
        return f"{fatal.removeprefix(named)}; the node does not start with it"
    others = (posixpath.join(each, META_PROPERTIES) for each in paths)
    if root.path != paths[0] or any(fatal.startswith(f"{shown(each)}: ") for each in others):
        return ""
    return fatal


def _missing(root: LogDirectory, *, is_kraft: bool, has_zookeeper: bool) -> tuple[str, str]:
    """Severity and problem; a release without topic ids, before 2.8, has ZooKeeper."""
    if is_kraft and is_copied_with_its_files(root.path):
        return "H", "missing: the node does not start without it"
    signs = release_signs(root.path)
    if signs.has_segments and not signs.time_indexes:
        return "I", "missing, as before release 0.9: give the broker as N=PATH"
    if root.broker_id is not None:
        return (
            "H" if signs.topic_ids and not has_zookeeper else "M",
            f"missing; the directory is taken for that of node {root.broker_id}. A KRaft node does "
            "not start without the file",
        )
    return "H", "missing: cluster and node are unknown"


def _contradiction(root: LogDirectory, content: bytes, *, is_kraft: bool) -> str:
    """What a file that can be parsed has wrong; empty if nothing.

    Raises:
        LocatedError: it cannot be parsed.
    """
    where = LogPosition(shown(posixpath.join(root.path, META_PROPERTIES)))
    node_id = parse_meta_properties(content, where).node_id
    if node_id is None:
        return "without the id of the node, which does not start with it" if is_kraft else ""
    if node_id != root.broker_id:
        return (
            f"has node id {node_id}, but according to the metadata log its directory.id is that of "
            f"broker {root.broker_id}, which does not start with this file"
        )
    if root.named is not None and root.named.isdigit() and node_id != int(root.named):
        return f"has node id {node_id}, but the path was given as broker {root.named}"
    return ""
