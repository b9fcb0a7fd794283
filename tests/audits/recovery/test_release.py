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
    SINCE_2_8,
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
        pytest.param([LOG, META, TIMES, EPOCHS, TOPIC_ID], (SINCE_2_8,), id="2.8"),
        pytest.param([LOG, TOPIC_ID], (SINCE_2_8,), id="2.8_without_others"),
    ],
)
def test_the_newest_file_decides(
    tmp_path: Path, names: list[str], rules: tuple[StartRule, ...]
) -> None:
    assert possible_rules(written(tmp_path, *names)) == rules


def test_a_directory_id_is_of_a_current_release_whatever_is_missing(tmp_path: Path) -> None:
    written(tmp_path, LOG)
    root = LogDirectory(path=str(tmp_path), broker_id=1, directory_id="AAAAAAAAAAEAAAAAAAAABQ")
    assert possible_rules(root) == (CURRENT_RULE,)


def test_a_log_directory_that_is_gone_has_its_own_finding(tmp_path: Path) -> None:
    root = LogDirectory(path=str(tmp_path / "gone"), broker_id=1)
    assert possible_rules(root) == (CURRENT_RULE,)


def test_the_rules_change_with_the_log_directory(tmp_path: Path) -> None:
    root = written(tmp_path, LOG)
    assert possible_rules(root) == (FIRST_RULE, SINCE_0_9)
    written(tmp_path, META)
    os.utime(tmp_path, ns=(1, 1))  # a clock of whole seconds would hide the change
    assert possible_rules(root) == (SINCE_0_9,)
