"""Which releases may start a log directory, by its files: KIP-858 (3.7), KIP-516 (2.8), KIP-101."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.release import possible_rules
from kafkalog_reader.audits.recovery.rule import (
    CURRENT_RULE,
    FIRST_RULE,
    SINCE_0_9,
    SINCE_0_10_1,
    SINCE_0_11,
    SINCE_2_3,
    SINCE_3_0,
    SINCE_4_1,
    StartRule,
)
from kafkalog_reader.io.directories import LogDirectory

if TYPE_CHECKING:
    from pathlib import Path

LOG, TIMES = f"t-0/{0:020}.log", f"t-0/{0:020}.timeindex"
EPOCHS, TOPIC_ID, META = "t-0/leader-epoch-checkpoint", "t-0/partition.metadata", "meta.properties"


def written(root: Path, *names: str) -> LogDirectory:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return LogDirectory(path=str(root), broker_id=1)


@pytest.mark.parametrize(
    ("names", "rules"),
    [
        pytest.param([META], (CURRENT_RULE,), id="nothing_to_judge_by"),
        pytest.param([LOG], (FIRST_RULE, SINCE_0_9), id="0.8"),
        pytest.param([LOG, META], (SINCE_0_9,), id="0.9"),
        pytest.param([LOG, META, TIMES], (SINCE_0_10_1,), id="0.10.1"),
        pytest.param([LOG, META, TIMES, EPOCHS], (SINCE_2_3, SINCE_0_11), id="0.11"),
        pytest.param([LOG, EPOCHS], (SINCE_2_3, SINCE_0_11), id="0.11_without_others"),
        pytest.param([LOG, META, TIMES, EPOCHS, TOPIC_ID], (SINCE_3_0,), id="2.8"),
        pytest.param([LOG, TOPIC_ID], (SINCE_3_0,), id="2.8_without_others"),
    ],
)
def test_the_newest_file_decides(
    tmp_path: Path, names: list[str], rules: tuple[StartRule, ...]
) -> None:
    assert possible_rules(written(tmp_path, *names)) == rules


@pytest.mark.parametrize(
    ("registered", "rules"),
    [
        pytest.param(0, (CURRENT_RULE, SINCE_4_1, SINCE_3_0), id="unknown"),
        pytest.param(25, (CURRENT_RULE, SINCE_4_1, SINCE_3_0), id="4.0"),
        pytest.param(26, (CURRENT_RULE, SINCE_4_1), id="4.1"),
        pytest.param(30, (CURRENT_RULE, SINCE_4_1), id="4.3"),
        pytest.param(31, (CURRENT_RULE,), id="4.4"),
    ],
)
def test_of_releases_with_directory_ids_the_registration_tells_the_oldest(
    tmp_path: Path, registered: int, rules: tuple[StartRule, ...]
) -> None:
    """MetadataVersion: IBP_4_0_IV3 is 25, IBP_4_1_IV0 26, IBP_4_3_IV0 30 and IBP_4_4_IV0 31."""
    written(tmp_path, LOG)
    root = LogDirectory(path=str(tmp_path), broker_id=1, directory_id="AAAAAAAAAAEAAAAAAAAABQ")
    assert possible_rules(root, registered) == rules


def test_a_log_directory_that_is_gone_has_its_own_finding(tmp_path: Path) -> None:
    root = LogDirectory(path=str(tmp_path / "gone"), broker_id=1)
    assert possible_rules(root) == (CURRENT_RULE,)


def test_the_rules_change_with_the_log_directory(tmp_path: Path) -> None:
    root = written(tmp_path, LOG)
    assert possible_rules(root) == (FIRST_RULE, SINCE_0_9)
    written(tmp_path, META)
    os.utime(tmp_path, ns=(1, 1))  # a clock of whole seconds would hide the change
    assert possible_rules(root) == (SINCE_0_9,)
