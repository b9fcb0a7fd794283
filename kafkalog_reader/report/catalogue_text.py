"""Writes the text of ``kafkalog explain`` about a finding, an action or a trap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.audits.catalogue.traps import TRAPS
from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.catalogue.action import Action
    from kafkalog_reader.audits.catalogue.rule import Rule
    from kafkalog_reader.audits.catalogue.trap import Trap

FAMILIES: Final = {
    "KL-0": "The input as a whole",
    "KL-1": "Record batches",
    "KL-2": "Indexes",
    "KL-3": "Checkpoints, snapshots and metadata files",
    "KL-4": "One log, and its next start",
    "KL-5": "Replicas compared",
    "KL-6": "Producers",
    "KL-7": "Transactions",
    "KL-8": "Consumer groups and internal topics",
    "KL-9": "Elections and what can be saved",
}
"""Titles by the beginning of the code."""
EFFECTS: Final = (("start", "Next start"), ("election", "Election"), ("reader", "Consumers"))
"""Attributes of a rule, and their names."""
_STYLES: Final = {"C": Style.LOST, "H": Style.LOST, "M": Style.ATTENTION}
_CODE: Final = re.compile(r"(KL|A|T)?-?(\d+)")


def codes_by_name() -> dict[str, str]:
    """Every code by itself and by its name: findings, actions and traps."""
    everything: tuple[Rule | Action | Trap, ...] = (
        *CATALOGUE.values(),
        *ACTIONS.values(),
        *TRAPS.values(),
    )
    return {key: each.code for each in everything for key in (each.code, each.name)}


def code_named(text: str) -> str | None:
    """The code for a name, or for any spelling of a code: ``KL-418``, ``kl418``, ``418``."""
    names = codes_by_name()
    parts = _CODE.fullmatch(text.upper())
    if parts is None:
        return names.get(text.lower())
    kind, digits = parts[1] or "KL", int(parts[2])
    return names.get({"KL": f"KL-{digits:03}", "A": f"A{digits}", "T": f"T{digits:02}"}[kind])


def explained_lines(code: str, columns: int) -> Iterator[Line]:
    """Everything about one code."""
    if code in CATALOGUE:
        yield from _rule_lines(CATALOGUE[code], columns)
    elif code in ACTIONS:
        yield from _action_lines(ACTIONS[code], columns)
    else:
        yield from _trap_lines(TRAPS[code], columns)


def explained_json(code: str) -> dict[str, Any]:
    """The same as a JSON object."""
    if code in CATALOGUE:
        rule = CATALOGUE[code]
        return {
            "code": code,
            "name": rule.name,
            "kind": "finding",
            "severity": rule.severity,
            "title": rule.title,
            "explanation": rule.explanation,
            **{key: getattr(rule, key) for key, _ in EFFECTS},
            "actions": list(rule.actions),
            "traps": list(rule.lookalikes),
        }
    if code in ACTIONS:
        action = ACTIONS[code]
        return {
            "code": code,
            "name": action.name,
            "kind": "action",
            "text": action.text(),
            "explanation": action.explanation,
            "warnings": list(action.warnings),
            "command": action.command or None,
        }
    trap = TRAPS[code]
    return {
        "code": code,
        "name": trap.name,
        "kind": "trap",
        "situation": trap.situation,
        "looks": trap.looks,
        "howToTell": trap.how_to_tell,
    }


def list_lines(columns: int) -> Iterator[Line]:
    """All codes by family, one line each if it fits."""
    for beginning, title in FAMILIES.items():
        yield (Span(title, Style.STRONG),)
        for code, rule in CATALOGUE.items():
            if code.startswith(beginning):
                yield from _row(code, rule.title, columns)
        yield ()
    yield (Span("What to do", Style.STRONG),)
    for code, action in ACTIONS.items():
        yield from _row(code, action.text(), columns)
    yield ()
    yield (Span("Innocent situations that look like faults", Style.STRONG),)
    for code, trap in TRAPS.items():
        yield from _row(code, trap.situation, columns)


def _row(code: str, text: str, columns: int) -> Iterator[Line]:
    beginning = (Span(code.ljust(8)),)
    yield from wrapped(text, columns, indent=2, hanging=8, beginning=beginning)


def _rule_lines(rule: Rule, columns: int) -> Iterator[Line]:
    severity = Span(SEVERITY_WORDS[rule.severity], _STYLES.get(rule.severity, Style.PLAIN))
    beginning = (Span(rule.code, Style.STRONG), Span("  "), severity)
    yield from wrapped(f"  {rule.name}", columns, beginning=beginning)
    yield from wrapped(_sentence(rule.title), columns, hanging=0)
    yield ()
    yield from wrapped(rule.explanation, columns, indent=2, hanging=0)
    yield ()
    for key, word in EFFECTS:
        yield from _field(word, getattr(rule, key), columns)
    yield ()
    yield (Span("What to do:", Style.STRONG),)
    for code in rule.actions:
        yield from _row(code, ACTIONS[code].text(), columns)
    if rule.lookalikes:
        yield ()
        yield (Span("What can look the same and is not a fault:", Style.STRONG),)
        text = "A finding is (possible) or (likely) where the files do not rule these out."
        yield from wrapped(text, columns, indent=2, hanging=0)
        for code in rule.lookalikes:
            trap = TRAPS[code]
            yield from _row(code, f"{trap.situation} {trap.how_to_tell}", columns)


def _action_lines(action: Action, columns: int) -> Iterator[Line]:
    yield from wrapped(f"  {action.name}", columns, beginning=(Span(action.code, Style.STRONG),))
    yield from wrapped(_sentence(action.text()), columns, hanging=0)
    yield ()
    yield from wrapped(action.explanation, columns, indent=2, hanging=0)
    for warning in action.warnings:
        yield ()
        beginning = (Span("Warning: ", Style.ATTENTION),)
        yield from wrapped(warning, columns, indent=2, hanging=0, beginning=beginning)
    if action.command:
        yield ()
        for command in action.command.splitlines():
            yield from command_lines(command, columns, indent=6)
    asked = [code for code, rule in CATALOGUE.items() if action.code in rule.actions]
    if asked:
        yield ()
        yield from wrapped(f"Advised by {', '.join(asked)}.", columns, indent=2, hanging=0)


def _trap_lines(trap: Trap, columns: int) -> Iterator[Line]:
    yield from wrapped(f"  {trap.name}", columns, beginning=(Span(trap.code, Style.STRONG),))
    yield from wrapped(trap.situation, columns, hanging=0)
    yield ()
    yield from _field("Looks like", trap.looks, columns)
    yield from _field("How to tell", trap.how_to_tell, columns)
    doubted = [code for code, rule in CATALOGUE.items() if trap.code in rule.lookalikes]
    if doubted:
        yield ()
        yield from wrapped(f"Can explain {', '.join(doubted)}.", columns, indent=2, hanging=0)


def _field(word: str, text: str, columns: int) -> Iterator[Line]:
    beginning = (Span(word.ljust(13), Style.STRONG),)
    yield from wrapped(text, columns, indent=2, hanging=13, beginning=beginning)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
