"""The table ``checkpoints``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import CorruptCheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]


def test_checkpoints_are_the_rows_of_the_four_files(tmp_path: Path, rows_of: Rows) -> None:
    described = [
        replica("a@5/e0 b@6/e0", high_watermark=6, recovery_point=5, log_start=6, cleaner_offset=5),
        replica("", topic="u", high_watermark=0),
    ]
    root = cluster(tmp_path, {7: described})[7]
    rows = rows_of("checkpoints", root)
    assert [(r["checkpoint"], r["topic"], r["partition"], r["offset"]) for r in rows] == [
        ("cleaner-offset-checkpoint", "t", 0, 5),
        ("log-start-offset-checkpoint", "t", 0, 6),
        ("recovery-point-offset-checkpoint", "t", 0, 5),
        ("recovery-point-offset-checkpoint", "u", 0, 0),
        ("replication-offset-checkpoint", "t", 0, 6),
        ("replication-offset-checkpoint", "u", 0, 0),
    ]
    assert {(row["brokerId"], row["logDirectory"]) for row in rows} == {(7, str(root))}
    assert {row["topic"] for row in rows_of("checkpoints", root, topic="u")} == {"u"}
    assert {row["topic"] for row in rows_of("checkpoints", root / "u-0")} == {"u"}


def test_damaged_checkpoint_is_an_error_or_left_out(tmp_path: Path, rows_of: Rows) -> None:
    root = cluster(tmp_path, {1: replica("a@0/e0", high_watermark=1)})[1]
    path = root / "replication-offset-checkpoint"
    path.write_text("0\n1\nt 0 x\n")
    with pytest.raises(CorruptCheckpointError) as caught:
        rows_of("checkpoints", root)
    assert (caught.value.where.file, caught.value.where.position) == (str(path), 4)
    rows = rows_of("checkpoints", root, mode="PERMISSIVE")
    assert [row["checkpoint"] for row in rows] == ["recovery-point-offset-checkpoint"]
