"""A replica without a folder: KL-310, or KL-309 where its broker needs none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CHECKPOINT_ROW_WITHOUT_DIRECTORY,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.audits.election.membership import PartitionMembership

_CREATES: Final = "it will create an empty replica"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFolder:
    """A folder that checkpoints name, and that is not in its log directory."""

    directory: PartitionDirectory
    is_partial: bool
    """Whether only part of the log directory was supplied."""

    @property
    def broker_id(self) -> int | None:
        return self.directory.log_directory.broker_id

    @property
    def _who(self) -> str:
        return PartitionDirectory.whole(self.directory.log_directory).replica_name

    def _is_assigned(self, membership: PartitionMembership | None) -> bool | None:
        """Whether the metadata log assigns the partition to the broker; None: it does not say."""
        if membership is None or self.broker_id is None:
            return None
        return self.broker_id in membership.replicas

    def is_made_empty(self, membership: PartitionMembership | None) -> bool:
        """Whether its broker makes an empty replica instead."""
        return not self.is_partial and self._is_assigned(membership) is not False

    def finding(
        self,
        membership: PartitionMembership | None,
        moved: PartitionDirectory | None,
        *,
        is_replaced: bool,
        is_down: bool,
    ) -> Finding:
        """KL-310, or KL-309 if by the metadata log other brokers have the partition.

        Args:
            membership: of the partition by the metadata log.
            moved: the copy of this broker that was moved aside; None if there is none.
            is_replaced: whether a copy that was supplied reaches as far as that one.
            is_down: whether the broker does not start.
        """
        root, is_assigned = self.directory.log_directory, self._is_assigned(membership)
        evidence: dict[str, object] = {"checkpoints": f"{RECOVERY_POINTS} {HIGH_WATERMARKS}"}
        folder = f"{shown(self.directory.topic or '')}-{self.directory.partition}"
        lacks = f"{self._who} has no folder {folder}"
        if membership is not None and is_assigned is False:
            return finding(
                CHECKPOINT_ROW_WITHOUT_DIRECTORY,
                f"{lacks}, which its checkpoints name, and needs none: according to the metadata "
                f"log it is on {joined_ids(membership.replicas)}",
                directory=self.directory,
                file=RECOVERY_POINTS,
                evidence=evidence,
            )
        is_low, confidence = self.is_partial, "possible"
        creates = "the broker does not start either" if is_down else _CREATES
        if self.is_partial:
            effect = ", which its checkpoints name; only part of its log directory was supplied"
        else:
            if root.clean_shutdown or is_assigned:
                confidence = "proven"
            names = "its checkpoints and the metadata log" if is_assigned else "its checkpoints"
            effect = f", which {names} name; {creates}"
            if moved is not None:
                is_low = is_replaced
                aside = f": its copy was moved aside, to {shown(moved.path)}"
                effect = (
                    f"{aside}; {_CREATES}, and copy from the leader"
                    if is_replaced
                    else f"{aside}; that reaches further than the copies here, and {creates}"
                )
        return finding(
            REPLICA_DIRECTORY_MISSING,
            f"{lacks}{effect}",
            severity="L" if is_low else None,
            confidence=confidence,
            directory=self.directory,
            file=RECOVERY_POINTS,
            evidence=evidence,
            actions=(NOTHING_TO_DO,) if is_low and not self.is_partial else None,
        )
