"""Finds folders of one broker whose names were exchanged with those of another topic.

Each folder has the topic id of its topic in ``partition.metadata``. Of the logs only the first
batches are read: where they are those of the name, that file was exchanged, and not the folder.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.partition.misnamed import Misnamed, name_of
from kafkalog_reader.audits.partition.same_content import is_content_of
from kafkalog_reader.audits.partition.swapped_folders import decided
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.folder import is_folder
from kafkalog_reader.io.names import METADATA_TOPIC, parse_directory_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.directories import PartitionDirectory

_MOST_READ: Final = 1024
"""Other topics of the broker whose topic id is read."""
_LONGEST: Final = 8
"""Folders of a circle that is followed."""


def swapped_topics(audit: PartitionAudit) -> tuple[Misnamed, ...]:
    """The folders that have each other's names, with one of the copies of this partition."""
    if not isinstance(audit.comparison, NotCompared) or audit.topic in (None, METADATA_TOPIC):
        return ()
    copies = [each.directory for each in audit.replicas]
    found = [misnamed for each in copies for misnamed in _circle(each, copies)]
    if len(found) < 2:
        return tuple(found)
    foreign = {
        each.directory.path
        for each in audit.replicas
        if isinstance(each.start, Recovery) and each.start.outcome is StartOutcome.STRAY
    }
    strays = [each for each in found if any(f.path in foreign for f, _ in each.folders)]
    return tuple(strays) if len(strays) == 1 else decided(found, copies)


def _circle(copy: PartitionDirectory, copies: Sequence[PartitionDirectory]) -> Iterator[Misnamed]:
    """The circle that begins with a copy; none if another copy has its topic id."""
    others = [each for each in copies if each.log_directory.path != copy.log_directory.path]
    own, known = topic_id_of(copy), {topic_id_of(each) for each in others} - {None}
    if own is None or not known or own in known:
        return
    by_topic = _folders(copy)
    ids = {topic: topic_id_of(folder) for topic, folder in by_topic.items()}
    elsewhere: dict[str, str] = {}  # by topic id, the topic of the other brokers' folders
    for topic, folder in by_topic.items():
        for id_ in {topic_id_of(each) for each in _same_folders(folder, others)} - {None}:
            elsewhere[id_ or ""] = topic
    holds: dict[str, str] = {}
    at = copy.topic or ""
    while at not in holds and len(holds) < _LONGEST:
        held = elsewhere.get(ids.get(at) or "")
        if held is None or held == at:
            return
        holds[at] = held
        at = held
    are_named_right = (
        is_content_of(by_topic[topic], _same_folders(by_topic[topic], others)) for topic in holds
    )
    if at == copy.topic and not any(are_named_right):  # else the files were exchanged
        yield _found(by_topic, holds, others)


def _found(
    by_topic: dict[str, PartitionDirectory],
    holds: dict[str, str],
    others: Sequence[PartitionDirectory],
) -> Misnamed:
    order = [min(holds)]
    while holds[order[-1]] != order[0]:
        order.append(holds[order[-1]])
    partition = by_topic[order[0]].partition or 0
    brokers = joined([each.replica_name for each in others])
    return Misnamed(
        folders=tuple((by_topic[topic], (holds[topic], partition)) for topic in order),
        reasons=tuple(
            f"partition.metadata in {name_of((topic, partition))} has the topic id of "
            f"{name_of((holds[topic], partition))} on {brokers}"
            for topic in order
        ),
        effect="The next start would rename them to -stray, and create empty replicas",
    )


def _folders(copy: PartitionDirectory) -> dict[str, PartitionDirectory]:
    """The live folders of the same partition number in its log directory, by topic."""
    root = copy.log_directory
    found = {copy.topic or "": copy}
    if root.clean_shutdown is None:  # it was not supplied as a whole
        return found
    try:
        entries = root.context.entries(root.path)
    except OSError:  # has its own finding
        return found
    for entry in entries:
        name = parse_directory_name(entry.name)
        if name is None or (name.partition, name.state) != (copy.partition, None):
            continue
        if name.topic not in found and is_folder(entry, root.context):
            path = posixpath.join(root.path, entry.name)
            found[name.topic] = replace(copy, path=path, topic=name.topic)
            if len(found) > _MOST_READ:
                break
    return found


def _same_folders(
    folder: PartitionDirectory, copies: Sequence[PartitionDirectory]
) -> Iterator[PartitionDirectory]:
    """The folders of the same name in the log directories of these copies."""
    name = posixpath.basename(folder.path.rstrip("/"))
    for each in copies:
        yield replace(each, path=posixpath.join(each.log_directory.path, name), topic=folder.topic)
