"""Lines of today are found in the measurement, which knows the lines of its own time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.chosen.measure import digest_of, folder_of
from tests.chosen.reach import Reach, compared

if TYPE_CHECKING:
    from pathlib import Path

OLD = "import os\n\ndef f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    """Case ``a`` reaches lines 4 and 5, ``b[0]`` and ``b[1]`` reach 4 and 6, an import 1 and 3."""
    rows = np.zeros((4, 16), bool)
    for row, lines in enumerate([(4, 5), (4, 6), (4, 6), (1, 3)]):
        rows[row, list(lines)] = True
    meta = {
        "time": 0.0, "cases": ["t.py::a", "t.py::b[0]", "t.py::b[1]"], "seconds": [1.0, 2.0, 4.0],
        "counts": {"t.py::a": 1, "t.py::b": 10}, "tests": {},
        "sources": {"m.py": digest_of(OLD.encode())},
    }  # fmt: skip
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / meta["sources"]["m.py"]).write_text(OLD)
    with (tmp_path / "part.npz").open("wb") as file:
        np.savez(file, **{
            "m.py": np.packbits(rows, axis=1, bitorder="little"),
            "unreached.py": np.zeros((4, 0), np.uint8),
            "": np.frombuffer(json.dumps(meta).encode(), np.uint8),
        })  # fmt: skip
    (tmp_path / "m.py").write_text(OLD)
    return Reach(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(5, {"t.py::a"}, id="one_test"),
        pytest.param(6, {"t.py::b"}, id="other_test"),
        pytest.param(4, {"t.py::a", "t.py::b"}, id="both"),
        pytest.param(3, {"t.py::a", "t.py::b"}, id="runs_at_the_import"),
    ],
)
def test_the_tests_that_reach_a_line(reach: Reach, line: int, expected: set[str]) -> None:
    assert reach.functions("m.py", OLD, [line]) == expected
    assert reach.functions("m.py", f"# new\n{OLD}", [line + 1]) == expected
    assert reach.functions("unreached.py", OLD, [line]) == set()
    assert reach.functions("other.py", OLD, [line]) == set()


def test_all_cases_of_a_function_take_what_the_measured_ones_take_each(reach: Reach) -> None:
    assert reach.function_seconds == {"t.py::a": 1.0, "t.py::b": 30.0}
    assert reach.tests("m.py", 4, "t", 15) == ["t.py::a"]
    assert reach.tests("m.py", 6, "t", 15) == ["t.py::b"]


@pytest.mark.parametrize(
    ("new", "changed"),
    [
        pytest.param(OLD, (), id="nothing"),
        pytest.param(OLD.replace("return 1", "return 3"), (5,), id="a_line"),
        pytest.param(OLD.replace("    return 2\n", ""), (6,), id="a_line_is_gone"),
        pytest.param(OLD.replace("    return 2\n", "    y = 3\n    return 2\n"), (5,), id="more"),
        pytest.param(
            OLD.replace("    return 2\n", "    # why\n\n    return 2\n"), (), id="comment"
        ),
    ],
)
def test_the_lines_that_a_change_touches(new: str, changed: tuple[int, ...]) -> None:
    assert compared(OLD, new)[0] == changed


def test_a_folder_of_audits_is_measured_alone() -> None:
    assert folder_of("tests/audits/log/test_a.py::test_b[1]") == "tests/audits/log"
    assert folder_of("tests/audits/test_a.py") == "tests/audits"
    assert folder_of("tests/cli/test_a.py") == "tests/cli"
    assert folder_of("tests/test_a.py") == "tests"
