"""Steps where copies of the metadata log contradict each other, or must not lead."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.leading_log_text import topics_text
from kafkalog_reader.report.quorum_step import QuorumStep, describe, names_text, node_name, nodes
from kafkalog_reader.report.repair_text import repair_commands
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit


def contested_step(audit: QuorumAudit) -> QuorumStep:
    """Whichever log leads, partitions are set aside: a person must choose."""
    quorum = audit.quorum
    lost = "; ".join(
        f"with that of {node_name(each)}, {topics_text(topics)}"
        for each in quorum.copies
        if (topics := quorum.leading.contested.get(each.directory.path))
    )
    return QuorumStep(
        text="Start no node. Whichever of these metadata logs leads, brokers set partitions aside "
        f"(-stray) that hold records: {lost}. Look for a metadata log that names all of them. "
        "Without one, choose, and before any start save the records of what you give up (kafkalog "
        "salvage). If these are disks of several clusters, give those of each cluster alone.",
    )


def stranger_step(audit: QuorumAudit) -> QuorumStep:
    """The usual advice, to write the new cluster id into ``meta.properties``, loses everything."""
    strangers = audit.quorum.strangers
    ids = sorted({each.directory.log_directory.cluster_id or "?" for each in strangers})
    one = len(strangers) == 1
    return QuorumStep(
        text=f"{names_text(strangers).capitalize()}, of cluster {listed([*map(shown, ids)])}, "
        f"{'is' if one else 'are'} no controller of these brokers: "
        f"{'its metadata log' if one else 'their metadata logs'} never named "
        f"{topics_text(audit.quorum.leading.held)}. Do not write that cluster.id into "
        "meta.properties of these nodes: brokers that follow such a controller set their "
        "partitions aside (-stray). If it was formatted to replace a lost controller, move its log "
        "directories aside, and go on with the steps below.",
    )


def steps_without_contradiction(audit: QuorumAudit) -> Iterator[QuorumStep]:
    """A follower keeps its own records where offset and leader epoch are the leader's."""
    quorum, kept = audit.quorum, audit.agreeing
    wrong = [
        each
        for each in quorum.copies
        if each not in kept
        and (quorum.is_younger(each) or any(quorum.parting(each, one).is_conflict for one in kept))
    ]
    rest = [each for each in quorum.startable if each not in kept and each not in wrong]
    yield QuorumStep(
        text=f"Start {names_text(kept)}, and nothing else, until they have a leader. They are a "
        "majority, and do not contradict each other.",
        commands=describe(audit, nodes(kept)),
    )
    if wrong:
        yield all_moved_aside(wrong)
    later = f"{names_text([*rest, *wrong])}" if rest or wrong else "the brokers"
    yield QuorumStep(text=f"Then start {later}.")


def all_moved_aside(wrong: Sequence[MetadataCopy]) -> QuorumStep:
    folders = (posixpath.split(each.directory.path.rstrip("/")) for each in wrong)
    return QuorumStep(
        text=f"While {names_text(wrong)} {'is' if len(wrong) == 1 else 'are'} stopped, move "
        "__cluster_metadata-0 there aside: a follower never replaces such records. Without the "
        "folder, it fetches them from the leader.",
        commands=tuple(repair_commands(move_aside(*each) for each in folders)),
    )
