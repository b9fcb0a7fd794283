"""KL-525 of controllers whose log directories have no metadata log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kafkalog_reader.cli.verify import verify_command
from tests.audits.quorum.controllers import write_combined

if TYPE_CHECKING:
    from pathlib import Path


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
