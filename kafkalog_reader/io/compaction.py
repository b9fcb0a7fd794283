"""Whether the log cleaner may have removed records of a log, by the files beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory

CLEANER_CHECKPOINT: Final = "cleaner-offset-checkpoint"
_INTERNAL: Final = "__"


def may_be_compacted(directory: PartitionDirectory) -> bool:
    """Whether compaction may explain offsets that a log lacks.

    The log cleaner writes a row for each log that it cleaned; internal topics are compacted by
    themselves. The metadata log never is: snapshots replace its beginning.
    """
    topic, partition = directory.topic, directory.partition
    if topic is None or partition is None or topic == METADATA_TOPIC:
        return False
    if topic.startswith(_INTERNAL):
        return True
    try:
        return (topic, partition) in checkpointed_offsets(
            directory.log_directory, CLEANER_CHECKPOINT
        )
    except LocatedError:  # a finding of verify; whose rows it has is unknown
        return False
