"""`make same` names what it has to name: one planted word, one planted loss, an exit status."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from fixtures.synthetic import SCENARIOS
from tests.same.answers import COMMANDS, answers
from tests.same.comparison import changes, read_answers

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.same.comparison import Answers

STATE = "s3_2_a"


def asked(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    output = io.StringIO()
    monkeypatch.chdir(corpus)
    answers(corpus, [STATE], output)
    return output.getvalue()


def planted(text: str, command: str, old: str, new: str) -> Answers:
    """The answers with one replacement in the output of one command."""
    found = read_answers(text)
    said = found[STATE, command]
    assert old in said["text"]
    found[STATE, command] = {**said, "text": said["text"].replace(old, new, 1)}
    return found


def test_a_planted_change_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SCENARIOS[STATE].write(tmp_path / STATE)
    text = asked(tmp_path, monkeypatch)
    before = read_answers(text)
    assert len(before) == len(COMMANDS)
    assert [*changes(before, read_answers(asked(tmp_path, monkeypatch)))] == []

    (word,) = changes(before, planted(text, "plan", "Lost then", "Gone then"))
    assert not word.is_meaning
    assert word.place == "line 1"
    assert "Lost then" in word.before
    assert "Gone then" in word.after

    lost = json.loads(before[STATE, "plan --format json"]["text"])["lost"]["lostRecords"]
    (loss,) = changes(
        before,
        planted(text, "plan --format json", f'"lostRecords": {lost}', f'"lostRecords": {lost + 1}'),
    )
    assert loss.is_meaning
    assert (loss.place, loss.before, loss.after) == (
        "[0].lost.lostRecords",
        f"{lost}",
        f"{lost + 1}",
    )

    (sentence,) = changes(
        before, planted(text, "plan --format json", '"title": "', '"title": "Now ')
    )
    assert not sentence.is_meaning

    ended = {**before, (STATE, "verify"): {**before[STATE, "verify"], "ended": 0}}
    (status,) = changes(before, ended)
    assert status.is_meaning
    assert (status.place, status.before, status.after) == ("exit status", "1", "0")
