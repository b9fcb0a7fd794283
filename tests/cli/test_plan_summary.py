"""The first lines of the plan under replica-diff are those of kafkalog plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.plans.random_cluster import deal, evidence, sources
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.elections.state import State

HEADS = (
    "The plan for all partitions together:",
    "If these brokers are stopped, the order of their starts matters:",
)
NEXT = "In which order to start the brokers, and what each step loses:"
SEEDS = range(7000, 7024)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[State]:
    return sources(tmp_path_factory.mktemp("scenarios"))


def words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("seed", SEEDS)
def test_replica_diff_ends_with_the_first_lines_of_the_plan(
    capfd: pytest.CaptureFixture[str], known: list[State], tmp_path: Path, seed: int
) -> None:
    deal(seed, known, tmp_path / "scratch", tmp_path / "state")
    paths = evidence(tmp_path / "state")
    status(kafkalog, ["plan", *paths])
    first = words(capfd.readouterr().out.split("\n\n", maxsplit=1)[0].splitlines())
    status(replica_diff, [*paths])
    compared = [line.strip() for line in capfd.readouterr().out.splitlines()]
    if head := next((each for each in HEADS if each in compared), None):
        assert words(compared[compared.index(head) + 1 : compared.index(NEXT)]) == first
        assert compared[-1] == f"kafkalog plan {' '.join(paths)}"
    else:
        assert "start brokers 0, 1 and 2 in any order" in first or "NO PLAN" in first


def test_the_summary_of_chosen_partitions_says_so_and_its_command_keeps_the_options(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    short, long = "a@0/e0 b@1/e0", "a@0/e0 b@1/e0 c@2/e0"
    cluster(
        tmp_path,
        {
            1: [replica(long, topic=topic, high_watermark=2) for topic in "abc"],
            2: [replica(short, topic=topic, high_watermark=2) for topic in "abc"],
        },
    )
    status(replica_diff, [str(tmp_path), "--topic", "a", "--topic", "b", "--rule", "current"])
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    shown = words(lines[lines.index(HEADS[1]) :])
    assert "Only the selected partitions are in this plan" in shown
    assert lines[-1] == f"kafkalog plan {tmp_path} --rule current"


def test_one_lagging_partition_shows_the_order_and_verify_names_the_plan(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Records that no checkpoint proves committed are lost, too, if the short copy starts first."""
    short, long = "a@0/e0 b@1/e0", "a@0/e0 b@1/e0 c@2/e0"
    cluster(
        tmp_path,
        {
            0: [replica(long, topic="t", high_watermark=2)],
            1: [replica(long, topic="t", high_watermark=2)],
            2: [replica(short, topic="t", high_watermark=2)],
        },
    )
    assert status(replica_diff, [str(tmp_path)]) == 1
    out = words(capfd.readouterr().out.splitlines())
    assert (
        f"{HEADS[1]} Start brokers 0 and 1, then broker 2. No supplied record is lost then." in out
    )
    assert out.endswith(f"{NEXT} kafkalog plan {tmp_path}")
    assert status(kafkalog, ["verify", str(tmp_path)]) == 1
    out = words(capfd.readouterr().out.splitlines())
    assert out.startswith("not safe to start in any order: nothing wrong in 1 partition")
    start = "start brokers 0 and 1, then broker 2. No supplied record is lost then."
    another = "Another order can lose 1 record, 1 possibly committed (t-0)."
    assert f"If these brokers are stopped: {start} {another}" in out
    assert "kafkalog plan, with the same paths, has the steps." in out
    assert status(kafkalog, ["plan", str(tmp_path)]) == 1
