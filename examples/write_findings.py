"""The page docs/findings.md, every code with a real example: ``make findings``."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

from examples.finding_examples import examples
from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.audits.catalogue.traps import TRAPS
from kafkalog_reader.report.catalogue_text import EFFECTS, FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from examples.finding_examples import Example
    from kafkalog_reader.audits.catalogue.action import Action
    from kafkalog_reader.audits.catalogue.rule import Rule
    from kafkalog_reader.audits.catalogue.trap import Trap

PATH: Final = Path(__file__).parents[1] / "docs" / "findings.md"
_HEAD: Final = """# Findings

Every code that `kafkalog verify`, `replica-diff` and the table `findings` print: what it means for
the next start of the broker, for an election and for consumers, what to do, and what can look the
same. `kafkalog explain CODE` prints the same texts. Written by `make findings`.

A severity is that of the rule; a finding may have another one, for instance where a peer holds the
records intact. Examples are real output: a fault of [faults.md](faults.md) in what a broker wrote,
or a state of [replica-divergence.md](reference/replica-divergence.md) that was built byte by byte.

Severities: **critical** (C), data is lost, will be lost, or wrong data is served; **high** (H), a
copy or a guarantee is broken and something else still protects the data; **medium** (M), degraded;
**low** (L), cosmetic; **information** (I), an explanation or a plan.
"""
_WIDTH: Final = 100
_ACTIONS: Final = sorted(ACTIONS, key=lambda code: int(code[1:]))


def markdown() -> str:
    """The page from the catalogue and the program's output."""
    return "\n".join(_lines(examples()))


def _lines(shown: Mapping[str, Example]) -> Iterator[str]:
    yield _HEAD
    for beginning, title in FAMILIES.items():
        yield _links(title, [code for code in CATALOGUE if code.startswith(beginning)])
    yield _links("Actions", _ACTIONS)
    yield _links("Traps", TRAPS)
    yield ""
    for beginning, title in FAMILIES.items():
        yield f"## {title}\n"
        for code, rule in CATALOGUE.items():
            if code.startswith(beginning):
                yield from _rule(rule, shown.get(code))
    yield "## What to do\n"
    for code in _ACTIONS:
        yield from _action(ACTIONS[code])
    yield "## Innocent situations that look like faults\n"
    for trap in TRAPS.values():
        yield from _trap(trap)


def _rule(rule: Rule, example: Example | None) -> Iterator[str]:
    yield from _heading(rule.code, rule.name)
    yield _filled(f"**{_capitalised(rule.title)}.** {rule.explanation}\n")
    yield f"- Severity: {SEVERITY_WORDS[rule.severity].lower()}"
    for key, word in EFFECTS:
        yield _filled(f"- {word}: {getattr(rule, key)}", "  ")
    for code in rule.actions:
        yield _filled(f"- What to do: [{code}]({_anchor(code)}), {ACTIONS[code].text()}", "  ")
    for code in rule.lookalikes:
        yield _filled(f"- Looks the same: [{code}]({_anchor(code)}), {TRAPS[code].situation}", "  ")
    yield ""
    if example is not None:
        yield f"Example: {example.made}\n"
        yield f"```\n{_filled(example.line, '  ')}\n```\n"


def _action(action: Action) -> Iterator[str]:
    yield from _heading(action.code, action.name)
    yield _filled(f"**{_capitalised(action.text())}.** {action.explanation}\n")
    if action.warnings:
        yield from (_filled(f"- Warning: {each}", "  ") for each in action.warnings)
        yield ""
    if action.command:
        yield f"```\n{action.command}\n```\n"


def _trap(trap: Trap) -> Iterator[str]:
    yield from _heading(trap.code, trap.name)
    yield _filled(f"**{trap.situation}**\n")
    yield _filled(f"- Looks like: {trap.looks}", "  ")
    yield _filled(f"- How to tell: {trap.how_to_tell}\n", "  ")


def _heading(code: str, name: str) -> Iterator[str]:
    yield f'<a id="{code.lower()}"></a>\n\n### {code} {name}\n'


def _links(title: str, codes: Iterable[str]) -> str:
    return _filled(f"- {title}: {', '.join(f'[{code}]({_anchor(code)})' for code in codes)}", "  ")


def _anchor(code: str) -> str:
    return f"#{code.lower()}"


def _capitalised(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _filled(text: str, hanging: str = "") -> str:
    end = "\n" if text.endswith("\n") else ""
    return (
        textwrap.fill(
            text, _WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
        )
        + end
    )


def main() -> None:
    """Write the page."""
    PATH.write_text(markdown())


if __name__ == "__main__":
    main()
