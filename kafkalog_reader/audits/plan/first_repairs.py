"""What is done to the files of a broker before its start, so that it serves its copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    REBUILD_INDEX,
    RESTORE_OLD_SEGMENTS,
    RESTORE_TOPIC_ID,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import CLEAN_MARKER_CONTRADICTED
from kafkalog_reader.audits.catalogue.log_rules import END_WILL_BE_MISREAD
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.io.names import CLEAN_SHUTDOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.plan.start_loss import StartLoss

_DAMAGE: Final = codes_with(Role.DAMAGE)
_REPAIRED_FIRST: Final = codes_with(Role.REPAIRED_BEFORE_START)


def repairs_of(found: Sequence[Finding], *, is_lossy: bool) -> dict[int, tuple[Repair, ...]]:
    """By broker, what makes its start serve a copy that it would hide or set aside.

    Of hidden or damaged records only where they are lost otherwise: a follower fetches them again.
    A file that can be written costs less than a copy that is moved aside and fetched again.
    """
    return {
        each.directory.log_directory.broker_id: each.repairs
        for each in found
        if each.code in _REPAIRED_FIRST
        and (is_lossy or each.code != END_WILL_BE_MISREAD)
        and (
            each.actions[0] in (REBUILD_INDEX, RESTORE_TOPIC_ID, WRITE_EPOCHS)
            or (is_lossy and each.actions[0] == RESTORE_OLD_SEGMENTS)
        )
        and each.repairs
        and each.directory is not None
        and each.directory.log_directory.broker_id is not None
    }


def without_markers(
    found: Sequence[Finding], losses: Sequence[StartLoss]
) -> dict[int, tuple[Repair, ...]]:
    """By broker, how it recovers a log that its clean-shutdown marker contradicts.

    Where its start removes records, because by the marker it trusts stale indexes; and where the
    log has no damage at which a recovery would cut it.
    """
    losing = {each.broker_id for each in losses if each.records and not each.is_down}
    damaged = {each.directory for each in found if each.code in _DAMAGE}
    return {
        root.broker_id: (move_aside(root.path, CLEAN_SHUTDOWN),)
        for each in found
        if each.code == CLEAN_MARKER_CONTRADICTED and each.directory is not None
        for root in [each.directory.log_directory]
        if root.broker_id is not None
        and (root.broker_id in losing or each.directory not in damaged)
    }
