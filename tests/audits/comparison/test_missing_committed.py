"""Records below a high watermark that no supplied copy holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("high_watermark", [None, 3, 6])
def test_a_high_watermark_up_to_the_longest_log_misses_nothing(
    tmp_path: Path, high_watermark: int | None
) -> None:
    logs = {0: replica("0-5/e0", high_watermark=high_watermark), 1: replica("0-3/e0")}
    cluster(tmp_path, logs, clean=(0, 1))
    assert audit_of(tmp_path).missing is None


@pytest.mark.parametrize(("clean", "is_proven"), [((0,), True), ((1,), False)])
def test_offsets_between_the_longest_log_and_the_highest_watermark_are_missing(
    tmp_path: Path, clean: tuple[int, ...], is_proven: bool
) -> None:
    logs = {0: replica("0-3/e0", high_watermark=9), 1: replica("0-5/e0", high_watermark=6)}
    cluster(tmp_path, logs, clean=clean)
    missing = audit_of(tmp_path).missing
    assert missing is not None
    assert [each.directory.log_directory.broker_id for each in missing.replicas] == [0]
    assert (missing.first_offset, missing.next_offset) == (6, 9)
    assert missing.is_proven is is_proven


def test_a_single_copy_is_left_to_the_check_of_its_own_files(tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica("0-3/e0", high_watermark=9)}, clean=(0,))
    assert audit_of(tmp_path).missing is None
