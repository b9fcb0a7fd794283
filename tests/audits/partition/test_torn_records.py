"""replica-diff, plan and salvage give the same numbers where a torn batch has whole records.

Batches have ten records; forty bytes less leave six of them whole, whose bytes are counted here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.salvage import salvage_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

CUT: Final = 40
LOG = "0-9/e0 10-19/e0"
LONG = f"{LOG} 20-29/e0"


def whole_records() -> int:
    """How many records of the second batch end before the cut."""
    content = parse_log(LOG)[1].build()
    at, count = 61, 0
    while (end := at + 1 + content[at] // 2) <= len(content) - CUT:
        at, count = end, count + 1
    return count


WHOLE: Final = whole_records()


def write(
    root: Path, *logs: str, high_watermarks: tuple[int, ...], clean: bool = False
) -> list[str]:
    """Brokers 1, 2, ... with these logs, the first of which is torn."""
    brokers = range(1, len(logs) + 1)
    described = {
        broker: replica(log, high_watermark=high, recovery_point=0)
        for broker, log, high in zip(brokers, logs, high_watermarks, strict=True)
    }
    directories = cluster(root, described, clean=[*brokers] if clean else [])
    (log,) = (directories[1] / "t-0").glob("*.log")
    log.write_bytes(log.read_bytes()[:-CUT])
    return [str(path) for path in directories.values()]


def numbers(lost: dict[str, Any]) -> str:
    """How many were lost and how many of them committed, as text has it."""
    total, known = lost["lostRecords"], lost["lostCommittedRecords"]
    possible = lost["lostPossiblyCommittedRecords"]
    if known == total:
        return f"{total} committed records"
    if not known + possible:
        unless = " unless an election was unclean" if lost["lostCommittedOnlyIfUnclean"] else ""
        return f"{total} records, none committed{unless}"
    parts = [f"{total} records", *([f"{known} committed"] if known else [])]
    word = "" if known else " committed"
    return ", ".join([*parts, *([f"{possible} possibly{word}"] if possible else [])])


@pytest.mark.parametrize(
    ("logs", "high_watermarks", "clean", "words", "range_", "total"),
    [
        pytest.param(
            (LOG,), (10,), False, "6 records, 6 possibly committed", (10, 16), None, id="one"
        ),
        pytest.param(
            (LOG, "0-9/e0"), (10, 10), False, "6 records, 6 possibly committed", (10, 16), 6,
            id="the_other_ends_before_it",
        ),
        pytest.param(
            (LONG, "0-9/e0 10-14/e2"), (10, 10), False,
            "6 records, none committed unless an election was unclean", (20, 26), 16,
            id="after_a_fork_that_was_not_committed",
        ),
        pytest.param(
            (LONG, LOG), (25, 20), False, "6 records, 5 committed, 1 possibly", (20, 26), 6,
            id="known_to_be_committed",
        ),
        pytest.param(
            (LOG, "0-9/e0"), (20, 10), True, "6 committed records", (10, 16), 6,
            id="after_a_clean_shutdown_which_cuts_nothing",
        ),
        pytest.param((LOG, LOG), (20, 20), False, "", (20, 20), 0, id="whole_elsewhere"),
    ],
)  # fmt: skip
def test_the_commands_agree(
    tmp_path: Path, logs: tuple[str, ...], high_watermarks: tuple[int, ...], words: str,
    range_: tuple[int, int], total: int | None, *, clean: bool,
) -> None:  # fmt: skip
    assert WHOLE == 6
    paths = write(tmp_path / "in", *logs, high_watermarks=high_watermarks, clean=clean)
    text = " ".join(asked(replica_diff, *paths)[1].split())
    first, following = range_
    offsets = f"(offsets {first} to {following - 1} in a torn batch of broker 1)"
    assert (f"LOST AT START: {words} {offsets}" in text) is bool(words)
    assert ("LOST AT START" in text) is bool(words)
    compared = json.loads(asked(replica_diff, *paths, "--format", "json")[1])
    if words:
        torn = compared["lostAtStart"]
        assert torn["replicas"] == ["broker 1"]
        assert (torn["firstOffset"], torn["nextOffset"]) == range_
        assert (torn["lostRecords"], numbers(torn)) == (6, words)
    else:
        assert compared["lostAtStart"] is None
    document: dict[str, Any] = json.loads(asked(plan_command, *paths, "--format", "json")[1])
    if total is not None:
        assert document["lost"]["lostRecords"] == total
    salvaged = asked(
        salvage_command, *paths, "--replica", "broker:1", "--output", str(tmp_path / "out")
    )[1]
    if words:
        kept = f"offsets {first} to {following - 1} kept: {WHOLE} whole records of 10"
        assert kept in " ".join(salvaged.split())
