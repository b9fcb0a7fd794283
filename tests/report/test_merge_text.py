"""What is said where only a merge of the copies gives a sound log."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
from kafkalog_reader.report.merge_text import merge_reason, placing_commands, placing_text

if TYPE_CHECKING:
    from pathlib import Path


def outcome(corrected: int = 0, *lost: tuple[int, int]) -> MergeOutcome:
    return MergeOutcome(
        readable_offsets=1, gained_offsets=1, corrected_batches=corrected, lost=lost
    )


@pytest.mark.parametrize(
    ("corrected", "copies", "begins"),
    [
        (0, 1, "What can be read of the only copy makes a sound log."),
        (1, 1, "1 batch of the only copy can be corrected."),
        (2, 1, "2 batches of the only copy can be corrected."),
        (0, 2, "No copy has every record intact, but a merged log has more than any of them."),
        (1, 2, "No copy has every record intact, but a merged log has more than any of them; 1 "
               "batch can be corrected."),
    ],
)  # fmt: skip
def test_the_reason_counts_copies_and_corrections(corrected: int, copies: int, begins: str) -> None:
    assert merge_reason(outcome(corrected), copies) == f"{begins} Nothing is lost then."


@pytest.mark.parametrize(
    ("lost", "lacks"),
    [
        ([(3, 4)], "offset 3:"),
        ([(3, 5), (9, 10)], "offsets 3–4 and offset 9:"),
        ([(n, n + 1) for n in range(1, 4)], "offset 1, offset 2 and offset 3:"),
        ([(n, n + 1) for n in range(1, 6)], "offset 1, offset 2, offset 3 and 2 more ranges:"),
    ],
)
def test_the_first_ranges_that_stay_lost_are_named(lost: list[tuple[int, int]], lacks: str) -> None:
    assert f"It lacks {lacks} no supplied copy" in merge_reason(outcome(0, *lost), 2)


def test_a_single_copy_is_replaced_and_several_are_all_moved_aside() -> None:
    alone, several = placing_text("broker 1", 1), placing_text("broker 1", 3)
    assert "never delete the copy" in alone
    assert "all of these brokers" not in alone
    assert "move every copy aside, never delete one" in several
    assert "broker 1 has to lead" in several


@pytest.mark.parametrize("end", ["", "/"])
def test_the_commands_put_the_merged_log_in_the_place_of_the_first(
    tmp_path: Path, end: str
) -> None:
    for folder, content in (("one/t-0", "1"), ("two/t-0", "2"), ("merged/t-0", "merged")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "log").write_text(content)
    first, second, merged = (str(tmp_path / name) for name in ("one/t-0", "two/t-0", "merged"))
    commands = placing_commands(f"{first}{end}", [f"{second}{end}"], merged)
    subprocess.run(["sh", "-ec", "\n".join(commands)], check=True)
    assert (tmp_path / "one/t-0/log").read_text() == "merged"
    assert not (tmp_path / "two/t-0").exists()
    kept = [path.read_text() for path in tmp_path.rglob("log") if "merged" not in path.read_text()]
    assert sorted(kept) == ["1", "2"]
    assert (tmp_path / "merged/t-0/log").exists()
