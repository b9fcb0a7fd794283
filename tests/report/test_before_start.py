"""What comes before a start refers only to what the same output lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


@pytest.mark.parametrize(
    ("logs", "high_watermark", "saves"),
    [
        pytest.param((f"{AB} x@2/e1", f"{AB} y@2/e2"), 4, True, id="fork"),
        pytest.param((AB, "a@0/e0"), 4, False, id="high watermark above all ends, one lags"),
        pytest.param((AB, AB), 4, False, id="high watermark above all ends"),
    ],
)
def test_what_is_listed_above_is_there(
    tmp_path: Path, logs: tuple[str, ...], high_watermark: int, saves: bool
) -> None:
    copies = {n: replica(log, high_watermark=high_watermark) for n, log in enumerate(logs)}
    cluster(tmp_path, copies)
    text = CliRunner().invoke(replica_diff, [str(tmp_path)]).output
    before, action, after = text.partition("A4 ")
    assert action
    assert ("kafkalog salvage" in before) is saves
    assert ("save what is listed above" in " ".join(after.split())) is saves
