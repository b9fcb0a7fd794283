"""Without a part of the evidence no answer is stronger; ``make less`` takes more of them away."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fixtures.synthetic import SCENARIOS
from tests.agreement.commands import plan_text, replica_diff_text, says_sound
from tests.agreement.faulty_copy import SEED
from tests.less.inputs import inputs
from tests.less.law import NONE_COMMITTED, headline
from tests.less.parts import Kind, parts_of
from tests.less.said import said_of
from tests.less.trial import contradicted

if TYPE_CHECKING:
    from pathlib import Path

SAMPLED = ("capture s3_2/", "capture s5_", "scenario ", "across ", "cluster ", "fault ")


def _sample() -> list[str]:
    names = [each.name for each in inputs() if each.name.startswith(SAMPLED)]
    return random.Random(SEED).sample(names, 8)


@pytest.mark.parametrize("name", _sample())
def test_less_evidence_never_claims_more(name: str, tmp_path: Path) -> None:
    (evidence,) = (each for each in inputs() if each.name == name)
    tried = [*contradicted(evidence, tmp_path, random.Random(f"{SEED} {name}"), singles=2, pairs=1)]
    assert tried
    assert [(what, found) for what, found in tried if found] == []


def test_a_plan_without_metadata_log_names_what_an_unclean_election_left(tmp_path: Path) -> None:
    """S5.1, c written: the record of the old leader was committed only by an unclean election."""
    (evidence,) = (each for each in inputs() if each.name == "capture s5_1/c-written")
    root, aside = tmp_path / "evidence", tmp_path / "aside"
    evidence.write(root)
    aside.mkdir()
    (logs,) = (each for each in parts_of(root) if each.kind is Kind.METADATA)
    with logs.taken_away(aside):
        line = headline(plan_text(str(root)))
        compared = replica_diff_text(str(root))
    assert "1 record, none committed unless an election was unclean" in line
    assert "1 record, none known committed" in compared
    assert NONE_COMMITTED.search(line + compared) is None


def test_no_command_calls_a_lagging_copy_sound_without_high_watermarks(tmp_path: Path) -> None:
    """S5.2 on 0.10.2.2: offset 2 was committed, which only the high watermark of broker 0 shows."""
    (evidence,) = (each for each in inputs() if each.name == "capture s5_2_0.10.2.2/a-down")
    root = tmp_path / "evidence"
    evidence.write(root)
    for checkpoint in root.glob("*/replication-offset-checkpoint"):
        checkpoint.unlink()
    said = said_of(str(root))
    assert said.statuses == {"verify": 1, "replica-diff": 1, "plan": 1}
    assert not any(says_sound(headline(text)) for text in said.texts.values())


def test_a_plan_of_some_brokers_leaves_the_others_for_last(tmp_path: Path) -> None:
    """H2 without broker 0: nobody knows that it exists, and it holds a record of its own."""
    root, aside = tmp_path / "evidence", tmp_path / "aside"
    SCENARIOS["h2"].write(root)
    aside.mkdir()
    (disk,) = (each for each in parts_of(root) if each.paths == (root / "broker-0",))
    with disk.taken_away(aside):
        line = headline(plan_text(str(root)))
    assert "No supplied record is lost then" in line
    assert line.endswith("a broker that was not supplied starts last, once these lead.")
