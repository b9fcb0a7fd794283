"""What ``make quick`` runs, and how it is chosen."""

from __future__ import annotations

import json

import numpy as np

from tests.chosen.measure import ROOT
from tests.chosen.quick import SELECTION, chosen_cases, halves
from tests.chosen.recorder import spread
from tests.chosen.selection import chosen

CASES = [f"tests/a/test_b.py::test_c[{number}]" for number in range(20)]


def test_cases_are_spread_from_the_first_to_the_last() -> None:
    assert spread(CASES, 3) == [CASES[0], CASES[9], CASES[19]]
    assert spread(CASES[:3], 3) == CASES[:3]


def test_a_function_that_is_not_listed_runs_with_some_cases() -> None:
    assert chosen_cases(CASES[:2], None) == CASES[:2]
    assert chosen_cases(CASES, None)[0] == CASES[0]
    assert len(chosen_cases(CASES, None)) < len(CASES)


def test_of_a_function_that_is_listed_the_listed_cases_run() -> None:
    assert chosen_cases(CASES, ["7", "gone"]) == [CASES[7]]
    assert chosen_cases(CASES, []) == []
    assert chosen_cases(["tests/a/test_b.py::test_c"], [""]) == ["tests/a/test_b.py::test_c"]


def test_every_listed_function_exists() -> None:
    gone = []
    for name in json.loads(SELECTION.read_text())["shortened"]:
        file, *_, function = name.split("::")
        if not (ROOT / file).exists() or f"def {function}(" not in (ROOT / file).read_text():
            gone.append(name)
    assert gone == [], "make quick-selection"


def test_two_processes_get_files_of_equal_time() -> None:
    seconds = {"a": 5.0, "b": 3.0, "c": 2.5}
    assert halves(["c", "b", "a"], seconds) == (["a"], ["b", "c"])
    first, second = halves(map(str, range(10)), {})
    assert len(first) == len(second) == 5


def test_the_case_that_adds_most_per_second_is_chosen_first() -> None:
    reached = np.zeros((4, 600), bool)
    reached[0, :300] = True
    reached[1, :300] = True  # the same again
    reached[2, 300:] = True
    functions = ["f", "f", "g", "h"]
    assert chosen(reached, functions, [1.0, 1.0, 1.0, 9.0], 2.0) == [0, 2]
    assert 3 in chosen(reached, functions, [1.0, 1.0, 1.0, 9.0], 12.0)
    assert chosen(reached, functions, [1.0, 1.0, 1.0, 9.0], 0.5) == []
