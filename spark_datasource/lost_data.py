"""What a stream can no longer read: refused, or only a warning where data may be lost."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.errors import DataLossError, KafkaLogError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.asked_offsets import LogBounds
    from kafkalog_reader.tables.request import ReadRequest, TopicPartition
    from spark_datasource.stream_offsets import Offsets

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LostData:
    """Compares the offsets of a checkpoint with what the logs have.

    Each check raises DataLossError, or UsageError if the checkpoint is of another query, unless
    ``failOnDataLoss`` is false.
    """

    request: ReadRequest

    def check_gone(
        self,
        gone: set[TopicPartition],
        begun: Offsets,
        ended: Offsets,
        replicas: Mapping[TopicPartition, PartitionDirectory],
    ) -> None:
        """Check that every partition of a trigger still has a copy; say which are new.

        Args:
            gone: partitions known to have none.
            begun: where the trigger begins.
            ended: where it ends.
            replicas: the copies that there are.
        """
        self.check_selected(begun)
        gone = gone | {key for key in ended if key not in replicas}
        gone = {key for key in gone if self.request.selects(*key)}
        if gone:
            self._lose(f"{_names(gone)}: no copy is left; some data may have been missed")
        for key in sorted(ended.keys() - begun.keys() - gone):
            logger.info("%s-%d is new", *key)

    def check_start(self, begun: Offsets, bounds: Mapping[TopicPartition, LogBounds]) -> None:
        """Refuse what planning would refuse; what may be lost is only a warning there."""
        may_lose = not self.request.fail_on_data_loss
        if may_lose and any(self.request.selects(*key) for key in begun):
            return
        self.check_gone({*begun} - {*bounds}, begun, {}, {})
        for key in sorted(begun.keys() & bounds.keys()):
            self.check_first(key, begun[key], bounds[key].log_start)
            self.check_end(key, begun[key], bounds[key].end)

    def check_first(self, key: TopicPartition, start: int, first: int) -> None:
        """Check that the log still begins at or below where the trigger does."""
        if start < first:
            self._lose(
                f"{key[0]}-{key[1]}: offsets {start} to {first - 1} were deleted before this query "
                "read them"
            )

    def check_end(self, key: TopicPartition, start: int, stop: int) -> None:
        """Check that the log still ends at or above where the trigger begins."""
        if start > stop:
            self._lose(f"{key[0]}-{key[1]}: the log end moved back from offset {start} to {stop}")

    def check_selected(self, begun: Offsets) -> None:
        """A checkpoint of another query has offsets that this one does not ask for."""
        others = {key for key in begun if not self.request.selects(*key)}
        if not others:
            return
        problem = (
            f"the checkpoint of this query holds offsets of {_names(others)}, which its options do "
            "not select"
        )
        if len(others) == len(begun):
            raise UsageError(f"{problem}: it belongs to another query; use a new checkpoint")
        self._lose(problem, UsageError)

    def _lose(self, problem: str, kind: type[KafkaLogError] = DataLossError) -> None:
        if self.request.fail_on_data_loss:
            raise kind(f"{problem}. failOnDataLoss=false continues with what is left")
        logger.warning("%s", problem)


def _names(keys: Iterable[TopicPartition]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, number in sorted(keys))
