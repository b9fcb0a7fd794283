"""Names of topics by their ids, as the supplied partition directories have them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_topic_id
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)


def topic_names(evidence: Evidence) -> dict[str, str]:
    """Read one ``partition.metadata`` of each topic, and that of every deleted directory.

    One that cannot be read is a warning.
    """
    names: dict[str, str] = {}
    known: set[tuple[str | None, str]] = set()
    for directory in evidence.partition_directories(ReadRequest()):
        topic = directory.topic
        if topic is None or ((directory.log_directory.cluster_id, topic) in known):
            continue
        try:
            topic_id = read_topic_id(directory.path, context=directory.context)
        except LocatedError as error:
            logger.warning("%s", error)
            continue
        if topic_id is not None:
            names[topic_id] = topic
            if directory.is_replica:
                known.add((directory.log_directory.cluster_id, topic))
    return names
