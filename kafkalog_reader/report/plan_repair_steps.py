"""Steps that repair files because of which there is no plan of everything yet."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import Move, Rewrite, Write
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.io.names import CLEAN_SHUTDOWN, shown
from kafkalog_reader.report.open_finding_text import partitions_text
from kafkalog_reader.report.plan_step import (
    ON_ITS_HOST,
    FileBody,
    PlanStep,
    StepKind,
    brokers_text,
)
from kafkalog_reader.report.repair_text import repair_commands
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.files_first import FilesFirst
    from kafkalog_reader.audits.plan.plan import Plan

_SWAP: Final = ".swap"
"""Ends the names of new segments that replace old ones at the next start."""
_UNREPAIRED: Final = {StartOutcome.HIDDEN: "hides", StartOutcome.STRAY: "sets aside"}
_NAMED: Final = 10
"""Maximum copies that a text names."""


def repair_steps(plan: Plan) -> Iterator[PlanStep]:
    """Repair files before there is a plan of everything; a merged log takes the place of others."""
    yield from map(_put_right, plan.files_first)
    waiting = [choice for choice in plan.waiting if choice.merge is None]
    written: dict[tuple[int, str], list[Choice]] = defaultdict(list)
    for choice in waiting:
        for broker, repairs in choice.repairs.items():
            if isinstance(repairs[0], Write | Rewrite):
                written[broker, posixpath.basename(repairs[0].path)].append(choice)
    for (broker, name), choices in written.items():
        yield _write_unread(choices, broker, name)
    done: set[tuple[Repair, ...]] = set()  # a marker is that of all its broker's partitions
    for choice in waiting:
        for broker, repairs in choice.repairs.items():
            if repairs not in done and not isinstance(repairs[0], Write | Rewrite):
                done.add(repairs)
                yield _repair(choice, broker)
        for broker, renames in choice.renames.items():
            yield _rename(choice, broker, renames)


def _put_right(first: FilesFirst) -> PlanStep:
    """Do what a finding says about files; then there is another plan."""
    on = "While every broker is stopped"
    if first.brokers:
        on = f"On {brokers_text(first.brokers)}, while it is stopped"
    return PlanStep(
        kind=StepKind.PUT_RIGHT,
        title=f"{on}, {first.what}: {shown(first.name)}",
        texts=(
            f"{first.code}: {shown(first.message)}.",
            f"{ON_ITS_HOST} Then make this plan again.",
        ),
        commands=tuple(repair_commands(first.repairs)),
        brokers=first.brokers,
    )


def _write_unread(choices: Sequence[Choice], broker: int, name: str) -> PlanStep:
    """Write the small files of one broker that its start needs; then there is another plan."""
    names = [shown(choice.name) for choice in choices]
    which = partitions_text(names)
    why = [*_unrepaired_texts(choices, broker)]
    if not why:
        why = [f"The broker cannot read that file in its copy of {which}."]
    served = "With that file it serves the copy."
    if len(choices) > 1:
        served = "With these files it serves the copies."
    found = [choice.repairs[broker] for choice in choices]
    return PlanStep(
        kind=StepKind.WRITE_FILE,
        title=f"On broker {broker}, while it is stopped, write {name} of {which}",
        texts=(*why, f"{served} {ON_ITS_HOST} Then make this plan again."),
        commands=tuple(repair_commands(each for repairs in found for each in repairs)),
        brokers=(broker,),
        files=tuple(
            FileBody(path=repairs[0].path, lines=repairs[0].lines)
            for repairs in found
            if isinstance(repairs[0], Write | Rewrite)
        ),
    )


def _repair(choice: Choice, broker: int) -> PlanStep:
    """Repair files because of which a start hides or sets aside; then there is another plan."""
    repairs = choice.repairs[broker]
    why = [*_unrepaired_texts([choice], broker)]
    if isinstance(repairs[0], Move) and posixpath.basename(repairs[0].path) == CLEAN_SHUTDOWN:
        what = f"move {CLEAN_SHUTDOWN} aside"
        done = "Then it checks its logs and rebuilds their indexes, as after a crash."
        loses = any(each.broker_id == broker and each.records for each in choice.start_losses)
        then = "checks nothing"
        if loses:
            then = f"its start removes records of {shown(choice.name)} and maybe of others"
        why = [
            "The logs contradict this marker of a clean shutdown. Without this, the broker trusts "
            f"it, and {then}."
        ]
    elif any(isinstance(each, Move) and each.path.endswith(_SWAP) for each in repairs):
        what = f"keep the old segments of {shown(choice.name)}"
        done = "Then it loads them, and not the damaged .swap files, which are kept aside."
        why = [
            "Without this, the start puts damaged .swap files in the place of sound segments, and "
            "checks nothing before."
        ]
    else:
        what = f"move the index files of {shown(choice.name)}'s last segment aside"
        done = "Then it reads that segment and rebuilds them."
    return PlanStep(
        kind=StepKind.MOVE_ASIDE,
        title=f"On broker {broker}, while it is stopped, {what}",
        texts=(
            *map(shown, why),
            f"{done} {ON_ITS_HOST} Then make this plan again.",
        ),
        commands=tuple(repair_commands(repairs)),
        brokers=(broker,),
    )


def _rename(choice: Choice, broker: int, renames: Sequence[Repair]) -> PlanStep:
    """Give segments of a partition their names back; then there is another plan."""
    return PlanStep(
        kind=StepKind.RENAME,
        title=(
            f"On broker {broker}, while it is stopped, give segments of {shown(choice.name)} their "
            "names back"
        ),
        texts=(
            "Kafka reads a segment only under its own name. Without this, the start deletes files "
            "that end in .deleted and the indexes of segments with another name, and the log "
            "lacks the records.",
            f"{ON_ITS_HOST} Then make this plan again.",
        ),
        commands=tuple(repair_commands(renames)),
        brokers=(broker,),
    )


def _unrepaired_texts(choices: Sequence[Choice], broker: int) -> Iterator[str]:
    """What the start does with the copies of a broker as they are; the same reason once."""
    lost: dict[tuple[str, str], list[str]] = defaultdict(list)
    for choice in choices:
        for loss in choice.start_losses:
            if loss.broker_id == broker and loss.outcome in _UNREPAIRED:
                of = f" of {shown(choice.name)}" if len(choices) > 1 else ""
                lost[_UNREPAIRED[loss.outcome], loss.reason].append(f"{loss.text}{of}")
    for (verb, reason), texts in lost.items():
        what = listed([*texts[:_NAMED], *(["more"] if len(texts) > _NAMED else [])])
        yield f"Without this, the start {verb} {what}: {shown(reason)}."
