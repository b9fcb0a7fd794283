"""``kafkalog explain``: every code can be looked up by code and by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.catalogue.actions import ACTIONS, MOVE_COPY_ASIDE
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.traps import TRAPS

if TYPE_CHECKING:
    from tests.cli.conftest import Run

CODES = [*CATALOGUE, *ACTIONS, *TRAPS]


def test_without_a_code_all_are_listed(run: Run) -> None:
    answer = run("explain")
    listed = {line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")}
    assert listed >= set(CODES)
    assert answer.status == 0


def test_all_of_it_fits_into_80_columns(run: Run) -> None:
    out = run("explain").out + run("explain", *CODES).out
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert "{" not in out.replace("{index,timeindex,txnindex}", "")


@pytest.mark.parametrize("spelled", ["KL-418", "kl-418", "kl418", "418", "start-will-expire"])
def test_a_finding_is_found_however_it_is_spelled(run: Run, spelled: str) -> None:
    out = run("explain", spelled).out
    assert out.startswith("KL-418  CRITICAL  start-will-expire\n")
    for said in ("retention.ms", "Next start", "Election", "Consumers", "  A4 ", "  T10 "):
        assert said in out


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("KL-010", ("High", "medium")),
        ("KL-310", ("Critical if", "low if")),
        ("KL-502", ("Medium if", "High otherwise")),
        ("KL-520", ("High if", "medium if")),
    ],
)
def test_a_finding_says_what_changes_its_severity(
    run: Run, code: str, others: tuple[str, ...]
) -> None:
    """The command verify prints each of these with several severities."""
    out = " ".join(run("explain", code).out.split()).lower()
    assert all(each.lower() in out for each in others)


def test_an_action_says_why_what_to_beware_of_and_for_what(run: Run) -> None:
    out = run("explain", "a6").out
    assert out.startswith("A6  move-copy-aside\n")
    assert "Warning: First make sure that another replica holds all records" in out
    assert "KL-414" in out.split("Advised by")[1]


def test_no_text_moves_a_copy_aside_unless_another_has_its_records(run: Run) -> None:
    codes = [code for code, rule in CATALOGUE.items() if MOVE_COPY_ASIDE in rule.actions]
    assert len(codes) > 5
    for code in (MOVE_COPY_ASIDE, *codes):
        text = " ".join(run("explain", code).out.split()).lower()
        before, _, _ = text.partition("move the partition directory aside")
        assert "unless replica-diff says that this copy should lead or alone has records" in before


def test_a_command_that_destroys_stands_behind_its_warning(run: Run) -> None:
    out = " ".join(run("explain", "A5").out.replace("# ", "").split())
    assert "lost for ever" in out.split("--election-type unclean")[0].split("Warning")[-1]


def test_a_trap_says_how_to_tell(run: Run) -> None:
    out = run("explain", "T1").out
    assert out.startswith("T01  copied-while-running\n")
    assert "How to tell" in out


@pytest.mark.parametrize(
    ("typed", "meant"), [("batch-crc-mismach", "batch-crc-mismatch"), ("KL-42", "KL-420")]
)
def test_an_unknown_code_names_the_closest(run: Run, typed: str, meant: str) -> None:
    answer = run("explain", typed)
    assert answer.status == 2
    assert typed in answer.err
    assert meant in answer.err


def test_json_has_one_object_a_code(run: Run) -> None:
    objects = [json.loads(line) for line in run("explain", "--format", "json").out.splitlines()]
    assert {each["code"] for each in objects} == set(CODES)
    (one,) = map(json.loads, run("explain", "KL-101", "--format", "json").out.splitlines())
    assert (one["kind"], one["severity"], one["name"]) == ("finding", "C", "batch-crc-mismatch")
