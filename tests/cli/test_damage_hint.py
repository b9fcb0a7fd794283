"""If reading stops at damage, the error names a way to continue, and that way works."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fixtures import captures

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_the_way_past_damage_is_named(run: Run, tmp_path: Path) -> None:
    broker = tmp_path / "broker-1"
    shutil.copytree(captures.path("s3_2/healed") / "broker-1", broker)
    segment = broker / "t-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[130] ^= 4  # in the second batch
    segment.write_bytes(content)
    stopped = run("records", broker, "--topic", "t", "--columns", "offset", "--format", "csv")
    error, hint = stopped.err.splitlines()
    assert error.startswith("error: ")
    assert "--mode PERMISSIVE" in hint
    assert (stopped.status, stopped.out.split()) == (2, ['"offset"', "0"])
    options = ("--topic", "t", "--columns", "offset", "--format", "csv", "--mode", "PERMISSIVE")
    passed = run("records", broker, *options)
    assert (passed.status, passed.out.split()) == (0, ['"offset"', "0", "2", "3"])
    assert "PERMISSIVE" not in passed.err
