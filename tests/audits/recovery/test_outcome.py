"""No failure of a simulated start leaves the simulator."""

from __future__ import annotations

import ast
from pathlib import Path

import kafkalog_reader
from kafkalog_reader.audits.recovery import outcome
from kafkalog_reader.audits.recovery.outcome import (
    DirectoryFailure,
    FailedStep,
    StartFailure,
    attempted,
)

PACKAGE = Path(kafkalog_reader.__file__).parent
FAILURES = {StartFailure.__name__, DirectoryFailure.__name__}


def test_a_failed_step_is_a_value() -> None:
    def fails(failure: Exception) -> None:
        raise failure

    assert attempted(lambda: 7) == 7
    ends = attempted(lambda: fails(StartFailure("a: zeros")))
    assert ends == FailedStep("a: zeros", ends_broker=True)
    offline = attempted(lambda: fails(DirectoryFailure("b: a folder")))
    assert offline == FailedStep("b: a folder", ends_broker=False)


def test_only_attempted_catches_failures() -> None:
    """A handler elsewhere could repeat what failed."""
    catching = {
        path
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and node.type is not None
        and FAILURES & {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
    }
    assert catching == {Path(outcome.__file__)}
