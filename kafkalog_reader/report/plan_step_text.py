"""The steps of a plan as text: of what is many, the first few; ``--format script`` has all."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.plan_step import PlanStep, StepKind, brokers_text, lost_text
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EachT = TypeVar("EachT")

_OF_FILES: Final = frozenset(
    {
        StepKind.MOVE_ASIDE,
        StepKind.RENAME,
        StepKind.PUT_RIGHT,
        StepKind.REPLACE,
        StepKind.WRITE_FILE,
    }
)
"""Steps of which there may be one for each copy."""
_LISTED: Final = frozenset(
    {
        StepKind.SAVE,
        StepKind.CONTROLLERS,
        StepKind.PUT_RIGHT,
        StepKind.WRITE_FILE,
        StepKind.UNFREEZE,
    }
)
"""Steps that have commands for each of many partitions, topics or files."""
_SHOWN: Final = 10
"""Maximum lines of one list."""
_FEW: Final = 3
"""Lines of a list that has more, and steps of a kind that has more."""
_COMMAND: Final = 1_000
"""Maximum characters of a command: one that names many partitions fills the screen."""


def step_lines(steps: Sequence[PlanStep], columns: int) -> Iterator[Line]:
    """All steps, numbered; what an earlier one says word for word is said once."""
    said: dict[str, int] = {}
    numbered = enumerate(steps, 1)
    for kind, same in groupby(numbered, lambda each: each[1].kind):
        alike = [*same]
        listed = alike
        if kind in _OF_FILES and len(alike) > _FEW + 1:
            listed = alike[:_FEW]
        for number, step in listed:
            yield ()
            yield from _step_lines(number, step, said, columns)
        if rest := alike[len(listed) :]:
            yield ()
            head = (Span(f"{rest[0][0]} to {rest[-1][0]}. ", Style.STRONG),)
            text = (
                f"{len(rest):,} more steps of this kind, the next: {rest[0][1].title} "
                "(--format script has all)"
            )
            yield from wrapped(text, columns, hanging=3, beginning=head)


def _step_lines(number: int, step: PlanStep, said: dict[str, int], columns: int) -> Iterator[Line]:
    beginning = (Span(f"{number}. ", Style.STRONG),)
    yield from wrapped(step.title, columns, hanging=3, beginning=beginning)
    new = [text for text in step.texts if said.setdefault(text, number) == number]
    for text in _few(new):
        yield from wrapped(text, columns, indent=3, hanging=0)
    yield from _more(new, "   ... {:,} more (--format json)")
    if earlier := sorted({said[text] for text in step.texts} - {number}):
        say = "says" if len(earlier) == 1 else "say"
        yield (Span(f"   What {brokers_text(earlier, 'step')} {say} is true here, too."),)
    for choice, lost in _few(step.lost):
        beginning = (Span("lost here: ", Style.LOST),)
        yield from wrapped(lost_text(choice, lost), columns, indent=3, beginning=beginning)
    yield from _more(step.lost, "   ... {:,} more (--format json)")
    if step.kind is StepKind.PREFERRED or step.election is None:
        few = _few(step.commands) if step.kind in _LISTED else step.commands
        yield from _command_lines(few, columns)
        if left := len(step.commands) - len(few):
            yield (Span(f"     ... {left:,} more commands (--format script)"),)
    yield from _check_lines(step, columns)
    if step.kind is StepKind.START and step.election is not None:
        text = (
            "Where it still shows Leader: none after 30 seconds, elect; a partition that has a "
            "leader is left alone by this:"
        )
        yield from wrapped(text, columns, indent=3, hanging=0)
        yield from _command_lines(step.election.commands, columns)
        yield from wrapped("Then check again.", columns, indent=3)


def _command_lines(commands: Sequence[str], columns: int) -> Iterator[Line]:
    if any(len(command) > _COMMAND for command in commands):
        yield (Span("     ... commands that name too many partitions (--format script has them)"),)
        return
    for command in commands:
        yield from command_lines(command, columns, indent=5)


def _check_lines(step: PlanStep, columns: int) -> Iterator[Line]:
    if step.kind is StepKind.SAVE:
        text = "Go on when each has ended with exit status 0, or when you know what it left out."
        yield from wrapped(text, columns, indent=3, hanging=0)
    if step.kind is StepKind.QUORUM:
        text = "Run this, and do the steps that it prints, before any controller starts:"
        yield (Span(f"   {text}"),)
    elif step.checks:
        yield (Span("   Before going on, this must show:"),)
    *topics, last = step.checks or (None,)
    for check in (*_few(topics), last):
        if check is last:
            yield from _more(topics, "     ... {:,} more topics (--format script)")
        if check is None:
            continue
        yield from command_lines(check.command, columns, indent=5)
        for expected in () if step.kind is StepKind.QUORUM else _few(check.expected):
            yield from wrapped(f"→ {expected}", columns, indent=7)
        yield from _more(check.expected, "       ... {:,} more (--format json)")


def _few(every: Sequence[EachT]) -> Sequence[EachT]:
    """All; of too many the first."""
    return every if len(every) <= _SHOWN else every[:_FEW]


def _more(every: Sequence[object], text: str) -> Iterable[Line]:
    """How many of them are not shown."""
    left = len(every) - len(_few(every))
    return ((Span(text.format(left)),),) if left else ()
