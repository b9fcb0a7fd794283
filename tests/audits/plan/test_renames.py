"""Which findings give segments their names back before there is a plan."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.actions import DO_NOT_START, RESTORE_OLD_SEGMENTS
from kafkalog_reader.audits.integrity.file_repair import Decompress, Move, Repair
from kafkalog_reader.audits.integrity.finding import Finding
from kafkalog_reader.audits.plan.renames import renames_of, restores_names
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

BACK = Move(path="/b1/t-0/0.log.bak", target="/b1/t-0/0.log")
DECOMPRESSED = Decompress(path="/b1/t-0/7.log.gz", target="/b1/t-0/7.log", program="gzip -dc")
ASIDE = Move(path="/b1/t-0/0.log.swap", target="/aside/b1/t-0/0.log.swap")


def found(
    *repairs: Repair,
    broker: int | None = 1,
    severity: str = "H",
    confidence: str = "likely",
    actions: tuple[str, ...] = (RESTORE_OLD_SEGMENTS,),
) -> Finding:
    root = LogDirectory(path="/b1", broker_id=broker)
    return Finding(
        code="KL-003",
        severity=severity,
        message="",
        confidence=confidence,
        directory=PartitionDirectory(path="/b1/t-0", log_directory=root, topic="t", partition=0),
        actions=actions,
        repairs=repairs,
    )


@pytest.mark.parametrize("repair", [BACK, DECOMPRESSED])
def test_a_name_is_given_back_in_the_folder_of_the_file(repair: Repair) -> None:
    assert restores_names(found(repair))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(found(BACK, severity="L"), id="nothing_is_at_stake"),
        pytest.param(found(BACK, confidence="possible"), id="no_index_shows_that_it_is_missing"),
        pytest.param(found(BACK, actions=(DO_NOT_START,)), id="another_action"),
        pytest.param(found(), id="no_repair"),
        pytest.param(found(ASIDE, BACK), id="a_damaged_new_segment_leaves"),
    ],
)
def test_other_findings_give_no_name_back(other: Finding) -> None:
    assert not restores_names(other)
    assert renames_of([other]) == {}


def test_all_segments_of_a_copy_get_their_names_back() -> None:
    several = [found(BACK), found(DECOMPRESSED), found(BACK, broker=2), found(BACK, broker=None)]
    assert renames_of(several) == {1: (BACK, DECOMPRESSED), 2: (BACK,)}
