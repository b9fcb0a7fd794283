"""The numbers that C and Python share are declared twice with equal values."""

from __future__ import annotations

import re
from pathlib import Path

from kafkalog_reader.kernel import codes


def test_codes_for_c_are_those_for_python() -> None:
    declared = Path(codes.__file__).with_suffix(".pxd").read_text()
    for_c = {name: int(value) for name, value in re.findall(r"    (\w+) = (\d+)", declared)}
    for_python = {name: value for name, value in vars(codes).items() if type(value) is int}
    assert for_c == for_python


def test_every_problem_has_words() -> None:
    numbers = {value for name, value in vars(codes).items() if name.startswith("BAD_")}
    assert numbers == set(codes.PROBLEMS)
