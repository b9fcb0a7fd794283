"""Compares what two versions of the program say: first what they mean, then how they say it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROSE: Final = frozenset(
    {"message", "reason", "texts", "title", "text", "expected", "warning", "refusal", "damage"}
)
"""Keys of JSON whose values are sentences for people; everything else is meaning."""
Said = dict[str, Any]
Answers = dict[tuple[str, str], Said]
"""By state and command: its exit status and its output."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place where two answers differ.

    Attributes:
        is_meaning: whether a code, a number, a kind of step or an exit status differs; otherwise
            it is a sentence.
        place: the line of the text, or the path into the JSON.
    """

    state: str
    command: str
    is_meaning: bool
    place: str
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"{self.state}: {self.command}: {self.place}\n"
            f"  - {self.before[:300]}\n  + {self.after[:300]}"
        )


def changes(before: Answers, after: Answers) -> Iterator[Change]:
    """Yield every difference, state by state."""
    for key in dict.fromkeys((*before, *after)):
        state, command = key
        one, two = before.get(key), after.get(key)
        if one == two:
            continue
        if one is None or two is None:
            words = ("not asked", "asked")
            yield Change(
                state, command, True, "answer", words[one is not None], words[two is not None]
            )
            continue
        if one["ended"] != two["ended"]:
            yield Change(state, command, True, "exit status", f"{one['ended']}", f"{two['ended']}")
        is_json = command.endswith("json")
        found = _values_differ if is_json else _lines_differ
        for is_meaning, place, old, new in found(one["text"], two["text"]):
            yield Change(state, command, is_meaning, place, old, new)


def _lines_differ(before: str, after: str) -> Iterator[tuple[bool, str, str, str]]:
    rows = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    for number, (old, new) in enumerate(rows, 1):
        if old != new:
            yield False, f"line {number}", old, new
            return  # later lines may only have moved


def _values_differ(before: str, after: str) -> Iterator[tuple[bool, str, str, str]]:
    one, two = dict(_flat(before)), dict(_flat(after))
    for place in dict.fromkeys((*one, *two)):
        old, new = one.get(place, "nothing"), two.get(place, "nothing")
        if old != new:
            words = {re.sub(r"\[\d+\]", "", each) for each in place.split(".")}
            yield not words & PROSE, place, old, new


def _flat(text: str) -> Iterator[tuple[str, str]]:
    """Each value of the JSON objects of an output, by its path."""
    for number, line in enumerate(text.splitlines()):
        value = json.loads(line) if line.startswith(("{", "[")) else line
        yield from _leaves(f"[{number}]", value)


def _leaves(place: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        inside: Mapping[str, object] = value
        for name, each in inside.items():
            yield from _leaves(f"{place}.{name}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _leaves(f"{place}[{number}]", each)
    else:
        yield place, json.dumps(value)


def read_answers(text: str) -> Answers:
    """What ``answers.py`` wrote."""
    rows = map(json.loads, text.splitlines())
    return {
        (row["state"], row["command"]): {"ended": row["ended"], "text": row["text"]} for row in rows
    }
