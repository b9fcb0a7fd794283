"""Every set of codes in the program is defined as a role of the catalogue's rules."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(kafkalog_reader.__file__).parent
CATALOGUE_FOLDER = PACKAGE / "audits" / "catalogue"
MODULES = sorted(
    str(path.relative_to(PACKAGE))
    for path in PACKAGE.rglob("*.py")
    if CATALOGUE_FOLDER not in path.parents
)


def constants() -> frozenset[str]:
    """Names of the constants that hold codes."""
    names = set()
    for path in CATALOGUE_FOLDER.glob("*_rules.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return frozenset(names)


def sets_of_codes(module: str) -> Iterator[str]:
    """Sets, lists and tuples of at least two constants, as source text."""
    known = constants()
    tree = ast.parse((PACKAGE / module).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            held = [e for e in node.elts if isinstance(e, ast.Name) and e.id in known]
            if len(held) > 1:
                yield ast.unparse(node)


def test_a_constant_is_found_for_each_rule() -> None:
    assert len(constants()) == len(CATALOGUE)


@pytest.mark.parametrize("module", MODULES)
def test_no_module_gathers_codes_of_its_own(module: str) -> None:
    assert list(sets_of_codes(module)) == []


@pytest.mark.parametrize("role", Role)
def test_a_role_is_played(role: Role) -> None:
    assert codes_with(role)


def test_what_stops_readers_may_stop_a_recovery_and_is_not_an_open_end() -> None:
    assert codes_with(Role.FAILS_READERS) < codes_with(Role.MAY_STOP_RECOVERY)
    assert not codes_with(Role.FAILS_READERS) & codes_with(Role.TAIL)


def test_comparisons_and_elections_take_several_replicas() -> None:
    compared = {code for code in CATALOGUE if code.startswith(("KL-5", "KL-9"))}
    assert compared <= codes_with(Role.SEVERAL_REPLICAS)
    one = {code for code in CATALOGUE if code < "KL-5"}
    assert not one & codes_with(Role.SEVERAL_REPLICAS)
