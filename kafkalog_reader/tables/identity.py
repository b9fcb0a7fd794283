"""The columns ``schemas.identity.IDENTITY``, which say where a row comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


def identity_of(directory: PartitionDirectory) -> dict[str, object]:
    """The values for everything in a partition directory."""
    return {
        **identity_of_log_directory(directory.log_directory),
        "topic": directory.topic,
        "partition": directory.partition,
    }


def identity_of_log_directory(root: LogDirectory) -> dict[str, object]:
    """The values for a log directory; text that is not UTF-8 is escaped."""
    return {
        "clusterId": None if root.cluster_id is None else shown(root.cluster_id),
        "brokerId": root.broker_id,
        "brokerLabel": None if root.broker_label is None else shown(root.broker_label),
        "logDirectory": shown(root.path),
    }
