"""KL-525 of controllers that lack what a broker has of the metadata log."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import data_batch
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from tests.audits.quorum.controllers import created, write_combined, write_controllers

if TYPE_CHECKING:
    from pathlib import Path

NO_OP = b"\x01\x14\x00\x00"


def with_broker(root: Path, logs: dict[int, str]) -> Path:
    """Write controllers, and node 9, which is a broker."""
    write_controllers(root, logs)
    (root / "broker-9" / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    return root


def log_of(root: Path, node: int) -> Path:
    (log,) = root.glob(f"broker-{node}/__cluster_metadata-0/*.log")
    return log


def verified(root: Path) -> str:
    return " ".join(CliRunner().invoke(verify_command, [str(root)]).stdout.split())


@pytest.mark.parametrize(("is_whole", "said"), [(True, 2), (False, 0)])
def test_a_majority_that_would_start_with_an_empty_log_is_critical(
    tmp_path: Path, *, is_whole: bool, said: int
) -> None:
    """Brokers 1 and 2 of 3.3.2 started before node 3, and deleted every partition."""
    root = write_combined(tmp_path, is_whole=is_whole)
    result = CliRunner().invoke(verify_command, [str(root)], standalone_mode=False)
    out = " ".join(result.stdout.split())
    assert out.count("so do 2 of 3 controllers: if broker 3 starts later") == said
    assert ("KL-525 CRITICAL" in out) is bool(said)


@pytest.mark.parametrize(("emptied", "is_found"), [((1, 2), True), ((1,), False)])
def test_a_majority_with_empty_copies_is_critical_too(
    tmp_path: Path, *, emptied: tuple[int, ...], is_found: bool
) -> None:
    """An empty log votes for every candidate, and a majority of them elects one of themselves."""
    root = write_combined(tmp_path, is_whole=True)
    (sound,) = root.glob("*/__cluster_metadata-0")
    for node in (1, 2):
        folder = root / f"broker-{node}" / "__cluster_metadata-0"
        shutil.copytree(sound, folder)
        if node in emptied:
            for each in folder.iterdir():
                each.unlink()
            (folder / f"{0:020}.log").write_bytes(b"")
    result = CliRunner().invoke(verify_command, [str(root)], standalone_mode=False)
    out = " ".join(result.stdout.split())
    assert ("KL-525 CRITICAL" in out) is is_found
    planned = CliRunner().invoke(plan_command, [str(root)], standalone_mode=False).stdout
    assert planned.startswith("The controllers can elect a leader that loses metadata") is is_found


@pytest.mark.parametrize(
    ("value", "is_found"),
    [pytest.param(NO_OP, False, id="idle"), pytest.param(created(1, 3), True, id="topic")],
)
def test_what_an_idle_controller_wrote_is_nothing_that_controllers_lack(
    tmp_path: Path, value: bytes, *, is_found: bool
) -> None:
    """A 4.2.0 cluster under load, copied node by node within a second: broker 4 came last."""
    root = with_broker(tmp_path, {1: "111", 2: "111", 3: "111", 9: "111"})
    batch = data_batch(3, [Record(offset_delta=0, value=value)], leader_epoch=1)
    with log_of(root, 9).open("ab") as log:
        log.write(batch.build())
    assert ("KL-525" in verified(root)) is is_found


def test_damaged_controllers_hold_what_is_before_their_damage(tmp_path: Path) -> None:
    """Controller 2 is short; 1 and 3 go on, each with a damaged batch: a start cuts them there."""
    root = with_broker(tmp_path, {1: "111111", 2: "1", 3: "111111", 9: "111111"})
    for node, offset in ((1, 2), (3, 4)):
        log = log_of(root, node)
        content = bytearray(log.read_bytes())
        at = len(content) // 6 * offset
        content[at + 61 : at + 69] = bytes(8)  # the first record of the batch
        log.write_bytes(content)
    said = verified(root)
    assert "end at offset 1," not in said
    assert (
        "a start cuts brokers 1 and 3 at damage: then the copies of controllers end at offset 4, "
        "that of broker 9 at 6: the metadata records between are then on no controller"
    ) in said
