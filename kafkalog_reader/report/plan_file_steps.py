"""Steps on files of stopped brokers: copies moved aside or replaced, small files written."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.log.release_signs import LOG_STARTS
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.io.names import ASIDE, LEADER_EPOCHS, shown
from kafkalog_reader.report.open_finding_text import partitions_text
from kafkalog_reader.report.plan_step import ON_ITS_HOST, FileBody, PlanStep, StepKind
from kafkalog_reader.report.repair_text import (
    fetch_commands,
    keep_commands,
    move_commands,
    write_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.start_order import Replacement

_VERSION: Final = "0"
"""First line of a checkpoint, before the number of rows."""
_OTHER_RULE: Final = (
    "If the brokers follow another rule, name it with --rule, and make this plan again."
)


def file_steps(plan: Plan) -> Iterator[PlanStep]:
    """All of them, in order."""
    for choice, broker in plan.set_aside:
        yield _move_aside(choice, broker)
    for replacement in plan.order.replaced:
        yield _replace(replacement)
    of_brokers: dict[tuple[int, bool], list[Choice]] = defaultdict(list)
    for choice in plan.choices:
        for broker, rows in choice.epoch_rows.items():
            of_brokers[broker, rows.is_new].append(choice)
    for (broker, is_new), choices in sorted(of_brokers.items(), key=lambda each: each[0]):
        yield _write_epochs(choices, broker, is_new=is_new)
    yield from _write_log_starts(plan)


def _move_commands(path: str) -> tuple[str, ...]:
    return move_commands(move_aside(*posixpath.split(path.rstrip("/"))))


def _move_aside(choice: Choice, broker: int) -> PlanStep:
    loss = next((each for each in choice.start_losses if each.broker_id == broker), None)
    rules = choice.spoiled.get(broker, ())
    if loss is not None and loss.is_down:
        whose = "the log directory of " if loss.outcome is StartOutcome.DIRECTORY_OFFLINE else ""
        why = f"With this copy {whose}broker {broker} does not come up: {loss.reason}."
    elif broker in choice.outdated:
        why = (
            "This copy is of a topic that was deleted: the one of this name that exists now has "
            "another topic id. If somebody needs its records, save them first (kafkalog salvage)."
        )
    elif broker in choice.not_compared:
        why = (
            "This copy cannot be compared with the others, and a follower fetches nothing again "
            "that it already has."
        )
    elif broker in choice.outvoted:
        why = (
            "More copies, or more in-sync replicas, hold other records under the same leader "
            "epoch. As a follower, this copy would keep its own, and Kafka never notices."
        )
    elif rules:
        why = (
            "The files do not show by which rule followers truncate: "
            f"inter.broker.protocol.version decides. By {' or '.join(rules)}, this copy would stay "
            "different, or never get in sync."
        )
    else:
        why = (
            f"Broker {broker} comes up with this copy, but it never gets in sync with broker "
            f"{choice.leader}."
        )
    return PlanStep(
        kind=StepKind.MOVE_ASIDE,
        title=f"On broker {broker}, while it is stopped, move {shown(choice.name)} aside",
        texts=(
            f"{shown(why)} Without it, it copies the partition again from broker {choice.leader}.",
            *((_OTHER_RULE,) if rules else ()),
            ON_ITS_HOST,
        ),
        commands=_move_commands(choice.paths[broker]),
        is_destructive=True,
        brokers=(broker,),
    )


def _replace(replacement: Replacement) -> PlanStep:
    choice, broker = replacement.choice, replacement.broker_id
    source, target = choice.paths[choice.leader], choice.path_on(broker)
    name, has_copy = shown(choice.name), broker in choice.paths
    damaged = (
        f"The copy of broker {choice.leader} has damaged batches: on broker {broker} it is cut at "
        "the first of them. Save it whole first (kafkalog salvage)."
    )
    return PlanStep(
        kind=StepKind.REPLACE,
        title=(
            f"While both are stopped, replace {name} on broker {broker} with the copy of broker "
            f"{choice.leader}"
            if has_copy
            else f"While both are stopped, give broker {broker}, which has no folder of {name}, "
            f"the copy of broker {choice.leader}"
        ),
        texts=(
            f"No order of starts keeps everything: broker {broker} must start before broker "
            f"{choice.leader} for other partitions, and would lead this one.",
            f"Run this on the host of broker {broker}, with the paths there. The indexes stay "
            "behind, so that the start reads every batch again. Where the copy fails, its folder "
            "ends in .incoming, and the broker does not start with it: repeat the last command.",
            *(() if choice.is_sound else (damaged,)),
        ),
        commands=(
            *(_move_commands(target) if has_copy else ()),
            *fetch_commands(f"HOST_OF_BROKER_{choice.leader}", source, target, leave_out="*index"),
        ),
        is_destructive=True,
        brokers=(broker,),
    )


def _write_epochs(choices: Sequence[Choice], broker: int, *, is_new: bool) -> PlanStep:
    """Write the files of one broker that are missing, or those that are wrong."""
    names = [shown(choice.name) for choice in choices]
    which = partitions_text(names)
    files = "the file" if len(choices) == 1 else "these files"
    why = (
        f"Without {files} followers do not find where their log diverges from the leader's."
        if is_new
        else f"The leader epochs in {files} are not those of the batches: followers would cut in "
        "the wrong place, or cut and fetch the same records for ever."
    )
    bodies = []
    for choice in choices:
        path = posixpath.join(choice.paths[broker].rstrip("/"), LEADER_EPOCHS)
        bodies.append(FileBody(path=path, lines=choice.epoch_rows[broker].lines))
    return _write(
        broker,
        bodies,
        f"{LEADER_EPOCHS} of {which}",
        f"{why} These commands write the leader epochs of the batches.",
        is_new=is_new,
    )


def _write_log_starts(plan: Plan) -> Iterator[PlanStep]:
    """Where a broker's log starts are not those of the copies that it will have."""
    new = [
        *((each.choice, each.broker_id, True) for each in plan.order.replaced),
        *((choice, broker, False) for choice, broker in plan.set_aside),
    ]
    changed: dict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    owners = {}
    for choice, broker, is_filled in new:
        place = choice.topic, choice.partition
        start = choice.log_starts.get(choice.leader, 0)
        rows = choice.log_start_rows.get(broker, {})
        if (rows or {}).get(place, start if not is_filled else 0) != start:
            root = posixpath.dirname(choice.path_on(broker).rstrip("/"))
            changed[root] |= {place: start}
            owners[root] = broker, rows
    for root, starts in changed.items():
        broker, rows = owners[root]
        written = {**(rows or {}), **starts}
        lines = (
            _VERSION,
            str(len(written)),
            *(f"{topic} {partition} {start}" for (topic, partition), start in written.items()),
        )
        names = ", ".join(shown(f"{topic}-{partition}") for topic, partition in starts)
        yield _write(
            broker,
            [FileBody(path=posixpath.join(root, LOG_STARTS), lines=lines)],
            f"{LOG_STARTS}, for {names}",
            "The file has the log start of the copy that was moved away: records below it would be "
            "deleted, or deleted ones would come back. This is the whole file, with the log start "
            "of the new copy.",
            is_new=rows is not None and not rows,  # there may be no such file
        )


def _write(
    broker: int, bodies: Sequence[FileBody], what: str, why: str, *, is_new: bool = False
) -> PlanStep:
    commands: list[str] = []
    for body in bodies:
        if not is_new:
            commands += keep_commands(*_place(body.path))
        commands.append(write_command(body.lines, body.path))
    keeps = "" if is_new else f" What is there now is copied to the folder {ASIDE} first."
    return PlanStep(
        kind=StepKind.WRITE_FILE,
        title=f"On broker {broker}, while it is stopped, write {what}",
        texts=(why, f"{ON_ITS_HOST}{keeps}"),
        commands=tuple(dict.fromkeys(commands)),
        brokers=(broker,),
        files=tuple(bodies),
    )


def _place(path: str) -> tuple[str, str]:
    """The log directory of a small file, and its name there."""
    folder, name = posixpath.split(path)
    if name != LEADER_EPOCHS:
        return folder, name
    root, partition = posixpath.split(folder)
    return root, f"{partition}/{name}"
