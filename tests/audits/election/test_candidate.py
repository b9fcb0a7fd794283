"""A replica of an election as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import replica
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audits.conftest import Audited


def test_of_the_same_files_candidates_are_equal(audited: Audited, tmp_path: Path) -> None:
    """Elections compare them; how records are counted is not a part of the value."""
    one = audited(replica("0-4/e0", high_watermark=5), replica("0-2/e0", high_watermark=3))
    other = audit_of(tmp_path)
    assert one.candidates == other.candidates
    assert one.candidates[0] != one.candidates[1]
