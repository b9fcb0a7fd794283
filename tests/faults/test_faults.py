"""Every fault of the catalogue, in copies of real brokers' files, gives exactly its findings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fixtures.faults.catalogue import BASES, FAULTS, bases_of
from fixtures.faults.run import outcome_of
from fixtures.faults.table import PATH, markdown
from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.traps import TRAPS

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.faults.sample import Base

MIN_BASES = 3


def some_bases(fault: Fault) -> list[Base]:
    """Three of the bases that fit, different ones for each fault; `make faults` takes all."""
    bases = [*bases_of(fault)]
    start = FAULTS.index(fault) % len(bases)
    return [*bases, *bases][start : start + min(MIN_BASES, len(bases))]


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_a_sound_replica_has_no_finding_but_information(base: Base, tmp_path: Path) -> None:
    sound = outcome_of(base, None, tmp_path).found
    formats = {"KL-117"} if base.release == "2.8.2" and "transactions" not in base.name else set()
    assert {each.code for each in sound if each.severity != "I"} == formats


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_has_exactly_its_findings(fault: Fault, tmp_path: Path) -> None:
    for number, base in enumerate(some_bases(fault)):
        outcome = outcome_of(base, fault, tmp_path / str(number))
        assert outcome.found == outcome.expected, base.name


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_has_three_bases_at_least(fault: Fault) -> None:
    assert len([*bases_of(fault)]) >= MIN_BASES


def test_ids_are_unique() -> None:
    assert Counter(fault.id for fault in FAULTS).most_common(1)[0][1] == 1


def test_no_fault_is_named_like_an_action_or_a_trap() -> None:
    letters = {code[0] for code in (*ACTIONS, *TRAPS)}
    assert [fault.id for fault in FAULTS if fault.id[0] in letters] == []


def test_the_page_is_what_the_catalogue_says() -> None:
    assert PATH.read_text() == markdown(), "run `make faults`"
