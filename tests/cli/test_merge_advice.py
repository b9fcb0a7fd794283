"""Where no copy is sound but together they are, the advice is to merge, and merging keeps all."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

LOG = "t-0/00000000000000000000.log"
BYTES = {0: 65, 1: 134, 2: 203}
"""One byte in a batch of its own for each broker."""


def damage(root: Path, brokers: dict[int, int]) -> Path:
    shutil.copytree(captures.path("s3_2/healed"), root)
    for broker, position in brokers.items():
        path = root / f"broker-{broker}" / LOG
        content = bytearray(path.read_bytes())
        content[position] ^= 5
        path.write_bytes(content)
    return root


def advice(root: Path) -> str:
    result = CliRunner().invoke(replica_diff, [str(root), "--topic", "t"], standalone_mode=False)
    assert result.return_value == 1
    return result.output


def test_three_damaged_copies_are_merged_into_all_records(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = damage(tmp_path / "brokers", BYTES)
    text = advice(root)
    (command,) = (line.strip() for line in text.splitlines() if "kafkalog salvage" in line)
    assert "--merge --as-segments" in command
    assert "choose between branches" not in text
    assert "move the partition directory aside" not in text
    monkeypatch.chdir(tmp_path)
    merged = run(*shlex.split(command)[1:])
    assert (merged.status, merged.out.splitlines()[0]) == (0, "t-0: 4 records, offsets 0 to 3")
    shown = run("records", tmp_path / "SAVED" / "t-0-merged", "--columns", "value")
    assert shown.out.split() == ["value", "a", "b", "f", "g"]
    planned = run("plan", root, "--topic", "t").out
    assert "--merge" in planned


@pytest.mark.parametrize("broker", [0, 1, 2])
def test_one_damaged_copy_is_copied_again(broker: int, tmp_path: Path) -> None:
    text = " ".join(advice(damage(tmp_path / "brokers", {broker: BYTES[broker]})).split())
    assert f"A6 while broker {broker} is stopped, move the partition directory aside" in text
    assert "--export" not in text  # the others hold every record
    assert "--merge" not in text


def test_an_export_of_nothing_says_why(tmp_path: Path) -> None:
    root = damage(tmp_path / "brokers", {1: BYTES[1]})
    options = ["--topic", "t", "--export", str(tmp_path / "saved")]
    result = CliRunner().invoke(replica_diff, [str(root), *options], standalone_mode=False)
    assert "nothing to export: no copy has records that another lacks" in result.output
    assert not (tmp_path / "saved" / "records.parquet").exists()
