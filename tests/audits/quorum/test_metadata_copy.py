"""One controller's metadata log as its start leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.audits.quorum.controllers import audited, copy_of, winners, write_controllers

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_cuts_the_log_at_the_first_bad_batch(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "1111", 2: "1111", 3: "1111"})
    log = next(tmp_path.glob("broker-1/*/*.log"))
    content = bytearray(log.read_bytes())
    content[-1] ^= 1
    log.write_bytes(content)
    copy = copy_of(audited(tmp_path), 1)
    assert copy.end == (1, 3)
    assert "wrong CRC" in copy.batches.damage


def test_a_log_directory_without_a_metadata_log_is_that_of_an_empty_voter(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"})
    for each in (tmp_path / "broker-3/__cluster_metadata-0").iterdir():
        each.unlink()
    (tmp_path / "broker-3/__cluster_metadata-0").rmdir()
    audit = audited(tmp_path)
    assert copy_of(audit, 3).is_missing
    assert copy_of(audit, 3).end == (0, 0)
    assert winners(audit) == {1, 2}
