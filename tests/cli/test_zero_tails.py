"""Zeros at the end of logs, as a power loss leaves them: what stood there is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
LONGER = f"{LOG} e@4/e0"
ZEROS = 1137
ROUND = 1 << 20


def planned(root: Path) -> str:
    return " ".join(asked(plan_command, str(root))[1].split())


def write(root: Path, zeros: dict[int, int], longer: tuple[int, ...] = ()) -> None:
    """Three copies after a crash, and how many zeros end some of them."""
    copies = {n: replica(LONGER if n in longer else LOG, high_watermark=3) for n in range(3)}
    cluster(root, copies)
    for number, size in zeros.items():
        (log,) = root.glob(f"broker-{number}/t-0/*.log")
        log.write_bytes(log.read_bytes() + bytes(size))


@pytest.mark.parametrize(
    ("zeros", "longer", "unknown"),
    [
        pytest.param({0: ZEROS, 1: ZEROS, 2: ZEROS}, (), ZEROS, id="all"),
        pytest.param({0: 99, 1: ZEROS, 2: ZEROS}, (), 99, id="the_fewest"),
        pytest.param({2: ZEROS}, (2,), ZEROS, id="the_longest"),
        pytest.param({0: ZEROS, 1: ZEROS}, (), 0, id="one_equal_copy_ends_without"),
        pytest.param({0: ZEROS, 1: ZEROS}, (2,), 0, id="the_longest_ends_without"),
        pytest.param({}, (), 0, id="none"),
    ],
)
def test_only_zeros_at_the_end_of_the_longest_copies_hide_records(
    zeros: dict[int, int], longer: tuple[int, ...], unknown: int, tmp_path: Path
) -> None:
    write(tmp_path, zeros, longer)
    said = f"Records may have stood in the {unknown:,} zero bytes that end the log of t-0: whether"
    assert (said in planned(tmp_path)) == bool(unknown)
    assert ("zero bytes" in planned(tmp_path)) == bool(unknown)
    assert "Lost already" not in planned(tmp_path)


def test_zeros_of_a_preallocated_file_say_nothing(tmp_path: Path) -> None:
    write(tmp_path, {})
    for log in tmp_path.glob("broker-*/t-0/*.log"):
        with log.open("r+b") as file:
            file.truncate(ROUND)
    assert "zero bytes" not in planned(tmp_path)
