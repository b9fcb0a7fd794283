from __future__ import annotations

import pytest

from kafkalog_reader.cli.fail_on import reached


@pytest.mark.parametrize(
    ("found", "fail_on", "answer"),
    [
        ("", "information", False), ("I", "information", True), ("ML", "high", False),
        ("LH", "high", True), ("C", "high", True), ("H", "critical", False), ("C", "never", False),
    ],
)  # fmt: skip
def test_a_severity_reaches_its_own_limit_and_lower_ones(
    found: str, fail_on: str, answer: bool
) -> None:
    assert reached(found, fail_on) is answer
