"""A metadata log that ends in zeros after a power cut, as in mojaloop/project#4259.

Its start cuts the batch that was being written, and nothing that was committed: `quorum`, `verify`
and `plan` say the same. Kafka flushes this log before a record counts for the high watermark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.cli.verify import verify_command
from tests.audits.quorum.controllers import audited, write_controllers

if TYPE_CHECKING:
    from pathlib import Path

ZEROS = 3000
BATCHES = 4


def write(root: Path, keep: int, *, zeros: int = ZEROS, is_clean: bool = False) -> int:
    """A sole controller whose last batch turns to zeros after some bytes; returns its size."""
    write_controllers(root, {1: "1" * BATCHES}, voters=(1,))
    (log,) = root.glob("broker-1/__cluster_metadata-0/*.log")
    content = log.read_bytes()
    size = len(content) // BATCHES
    kept = content[: (BATCHES - 1) * size + keep]
    log.write_bytes(kept + bytes(size - keep + zeros))
    if is_clean:
        (root / "broker-1" / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":5}')
    return size


@pytest.mark.parametrize("is_clean", [False, True])
@pytest.mark.parametrize("keep", [0, 4, 8, 11, 12, 17, 30, 61, 70])
def test_what_a_start_cuts_is_not_destroyed_by_it(
    tmp_path: Path, keep: int, *, is_clean: bool
) -> None:
    write(tmp_path, keep, is_clean=is_clean)
    audit = audited(tmp_path)
    assert audit.verdict is Verdict.ELECTABLE
    assert audit.outcomes[0].copy.end.offset == BATCHES - 1
    result = CliRunner().invoke(verify_command, [str(tmp_path)], standalone_mode=False)
    assert "do not start" not in result.stdout
    assert result.return_value == 0


def test_a_wrong_byte_in_the_last_batch_is_damage(tmp_path: Path) -> None:
    """It may have been committed, and have become wrong since."""
    size = write(tmp_path, 0, zeros=0)
    (log,) = tmp_path.glob("broker-1/__cluster_metadata-0/*.log")
    write_controllers(tmp_path / "sound", {1: "1" * BATCHES}, voters=(1,))
    (sound,) = (tmp_path / "sound").glob("broker-1/__cluster_metadata-0/*.log")
    content = bytearray(sound.read_bytes())
    content[-size + 70 : -size + 74] = b"\xff\x00\xff\x00"
    log.write_bytes(content)
    sound.write_bytes(content)
    assert audited(tmp_path / "sound").quorum.copies[0].batches.damage
    result = CliRunner().invoke(verify_command, [str(tmp_path / "sound")], standalone_mode=False)
    assert "KL-101 CRITICAL" in " ".join(result.stdout.split())
