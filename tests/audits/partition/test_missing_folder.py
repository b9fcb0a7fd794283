"""What is said about a replica without a folder, by what else is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.election.membership import PartitionMembership
from kafkalog_reader.audits.partition.missing_folder import MissingFolder
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

NAMED = "broker 1 has no folder u-0, which its checkpoints name"
BOTH = "broker 1 has no folder u-0, which its checkpoints and the metadata log name"
CREATES = "it will create an empty replica"
ASIDE = "broker 1 has no folder u-0: its copy was moved aside, to /aside/u-0"


def membership(*replicas: int) -> PartitionMembership:
    return PartitionMembership(
        leader=replicas[0], leader_epoch=0, partition_epoch=0, replicas=replicas, isr=replicas,
        elr=(), last_known_elr=(), topic_id="", source="", source_offset=0,
    )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> PartitionDirectory:
    cluster(tmp_path, {1: replica("a@0/e0")})
    (root,) = discover([str(tmp_path)]).roots
    return PartitionDirectory(path=f"{root.path}/u-0", log_directory=root, topic="u", partition=0)


@pytest.mark.parametrize(
    ("replicas", "aside", "is_replaced", "is_down", "severity", "confidence", "message"),
    [
        ((), False, False, False, "H", "possible", f"{NAMED}; {CREATES}"),
        ((1, 2), False, False, False, "H", "proven", f"{BOTH}; {CREATES}"),
        (
            (1, 2), False, False, True, "H", "proven",
            f"{BOTH}; the broker does not start either",
        ),
        (
            (1, 2), True, False, False, "H", "proven",
            f"{ASIDE}; that reaches further than the copies here, and {CREATES}",
        ),
        (
            (1, 2), True, False, True, "H", "proven",
            f"{ASIDE}; that reaches further than the copies here, and the broker does not start "
            "either",
        ),
        (
            (1, 2), True, True, False, "L", "proven",
            f"{ASIDE}; {CREATES}, and copy from the leader",
        ),
    ],
)  # fmt: skip
def test_a_message_is_built_of_what_is_known(
    replicas: tuple[int, ...],
    severity: str,
    confidence: str,
    message: str,
    place: PartitionDirectory,
    *,
    aside: bool,
    is_replaced: bool,
    is_down: bool,
) -> None:
    known = membership(*replicas) if replicas else None
    moved = PartitionDirectory(
        path="/aside/u-0", log_directory=place.log_directory, topic="u", partition=0
    )
    missing = MissingFolder(directory=place, is_partial=False)
    found = missing.finding(
        known, moved if aside else None, is_replaced=is_replaced, is_down=is_down
    )
    assert missing.is_made_empty(known)
    assert (found.code, found.severity, found.confidence) == ("KL-310", severity, confidence)
    assert found.message == message
    assert (found.actions == (NOTHING_TO_DO,)) == is_replaced


def test_a_broker_that_has_no_replica_by_the_metadata_log_needs_no_folder(
    place: PartitionDirectory,
) -> None:
    missing = MissingFolder(directory=place, is_partial=False)
    found = missing.finding(membership(2, 3), None, is_replaced=False, is_down=False)
    assert not missing.is_made_empty(membership(2, 3))
    assert found.code == "KL-309"
    assert found.message.startswith(f"{NAMED}, and needs none: ")


def test_of_a_partial_copy_nothing_is_known(place: PartitionDirectory) -> None:
    missing = MissingFolder(directory=place, is_partial=True)
    found = missing.finding(membership(1, 2), None, is_replaced=False, is_down=False)
    assert not missing.is_made_empty(membership(1, 2))
    assert (found.code, found.severity, found.confidence) == ("KL-310", "L", "possible")
    assert found.message == f"{NAMED}; only part of its log directory was supplied"
