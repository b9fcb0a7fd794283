"""Steps on files of stopped brokers: copies moved aside or replaced, small files written."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import Format, Move, Rewrite, Write, move_aside
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.io.names import ASIDE, CLEAN_SHUTDOWN, LEADER_EPOCHS, shown
from kafkalog_reader.report.open_finding_text import several_text
from kafkalog_reader.report.plan_step import (
    IN_SYNC,
    FileBody,
    PlanStep,
    StepKind,
    brokers_text,
)
from kafkalog_reader.report.repair_text import (
    fetch_commands,
    keep_commands,
    move_commands,
    repair_commands,
    write_command,
)
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.files_first import FilesFirst
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.start_order import Replacement

SWAP: Final = ".swap"
"""Ends the names of new segments that replace old ones at the next start."""
LOG_STARTS: Final = "log-start-offset-checkpoint"
_VERSION: Final = "0"
"""First line of a checkpoint, before the number of rows."""
_UNREPAIRED: Final = {StartOutcome.HIDDEN: "hides", StartOutcome.STRAY: "sets aside"}
_NAMED: Final = 10
"""Maximum partitions that a title names."""
_THERE: Final = "Run this on its host, with the path of the log directory there."


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


def lost_disk_steps(plan: Plan) -> Iterator[PlanStep]:
    """An empty log directory for each broker that nothing is left of: KRaft starts none without."""
    if plan.has_zookeeper:
        return
    asked: dict[tuple[str, int], list[str]] = defaultdict(list)
    absent = {broker for start in plan.order.starts for broker in start.brokers}
    absent -= {*plan.brokers}
    for choice in plan.choices:
        for broker in choice.unseen_in_sync:
            if broker not in plan.brokers and choice.cluster_id is not None:
                asked[choice.cluster_id, broker].append(shown(choice.name))
        for broker in absent & {*choice.assigned}:
            if choice.cluster_id is not None:
                asked.setdefault((choice.cluster_id, broker), [])
    for (cluster_id, broker), names in sorted(asked.items()):
        alone = ""
        if names:
            which = names[0] if len(names) == 1 else several_text(names)
            alone = (
                f"The metadata log names broker {broker} in the ISR of {which}. If it started "
                "with an empty log directory before another broker leads, it could be elected, "
                "and the others would delete all their records. "
            )
        yield PlanStep(
            kind=StepKind.RESTORE_DIRECTORY,
            title=f"If the log directories of broker {broker} are lost for ever, format empty ones",
            texts=(
                f"{alone}A broker starts with a new disk only when it is formatted. Then it copies "
                "the records of the leaders.",
                "If one of its log directories is left, supply that one and make the plan again "
                "instead.",
            ),
            commands=tuple(repair_commands([Format(cluster_id=cluster_id, node=broker)])),
            brokers=(broker,),
        )


def empty_directory_step(plan: Plan) -> PlanStep:
    """The broker of an empty log directory, which ZooKeeper may still have in the ISR."""
    return PlanStep(
        kind=StepKind.START,
        title="Then start the broker whose log directory is empty",
        texts=(
            *(shown(f"{each.message[0].upper()}{each.message[1:]}.")
              for each in plan.empty_directories),
            "If its old disk can be read, mount it or copy it, and make this plan again. "
            "Otherwise every partition must have a leader before this start: the broker then "
            "copies the leader's records. A partition that has none has only this broker in sync: "
            "let another one lead it by an unclean election "
            "(kafka-leader-election.sh --election-type unclean).",
        ),
        checks=(IN_SYNC,),
    )  # fmt: skip


def directory_steps(plan: Plan) -> Iterator[PlanStep]:
    """What a node needs before it can start without a log directory that it had."""
    for repairs, missing in groupby(plan.missing_directories, key=lambda each: each.repairs):
        found = [*missing]
        nodes = [each.node for each in repairs if isinstance(each, Format)]
        which = "log directory" if len(found) == 1 else "log directories"
        is_one = len(found) == 1
        it, they, was = ("it", "it", "was") if is_one else ("them", "they", "were")
        yield PlanStep(
            kind=StepKind.RESTORE_DIRECTORY,
            title=f"Put the missing {which} of {brokers_text(nodes)} back, or format the new disk",
            texts=(
                *(shown(f"{each.message[0].upper()}{each.message[1:]}.") for each in found),
                f"As long as log.dirs names {it}, {brokers_text(nodes)} does not start without "
                f"{it}, not even as a controller. If {they} can be read or {was} only not "
                f"supplied, mount and supply {it}, and make this plan again. If the disk is lost, "
                "run this on the broker's host once the new one is mounted, or take "
                f"{it} out of log.dirs. The other log "
                "directories stay as they are. A controller without controller.quorum.voters also "
                "takes --no-initial-controllers.",
            ),
            commands=tuple(repair_commands(repairs)),
            brokers=tuple(nodes),
        )


def _move_commands(path: str) -> tuple[str, ...]:
    return move_commands(move_aside(*posixpath.split(path.rstrip("/"))))


def _move_aside(choice: Choice, broker: int) -> PlanStep:
    loss = next((each for each in choice.start_losses if each.broker_id == broker), None)
    if loss is not None and loss.is_down:
        whose = "the log directory of " if loss.outcome is StartOutcome.DIRECTORY_OFFLINE else ""
        why = f"With this copy {whose}broker {broker} does not come up: {loss.reason}."
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
            _THERE,
        ),
        commands=_move_commands(choice.paths[broker]),
        is_destructive=True,
        brokers=(broker,),
    )


def repair_steps(plan: Plan) -> Iterator[PlanStep]:
    """Repair files before there is a plan of everything; a merged log takes the place of others."""
    yield from map(_put_right, plan.files_first)
    waiting = [choice for choice in plan.waiting if not choice.takes_merged_log]
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
        texts=(f"{first.code}: {shown(first.message)}.", f"{_THERE} Then make this plan again."),
        commands=tuple(repair_commands(first.repairs)),
        brokers=first.brokers,
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


def _write_unread(choices: Sequence[Choice], broker: int, name: str) -> PlanStep:
    """Write the small files of one broker that its start needs; then there is another plan."""
    names = [shown(choice.name) for choice in choices]
    which = listed(names) if len(names) <= _NAMED else several_text(names)
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
        texts=(*why, f"{served} {_THERE} Then make this plan again."),
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
    elif any(isinstance(each, Move) and each.path.endswith(SWAP) for each in repairs):
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
            f"{done} {_THERE} Then make this plan again.",
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
            f"{_THERE} Then make this plan again.",
        ),
        commands=tuple(repair_commands(renames)),
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
            "behind, so that the start reads every batch again.",
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
    which = listed(names) if len(names) <= _NAMED else several_text(names)
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
        f"leader-epoch-checkpoint of {which}",
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
            f"log-start-offset-checkpoint, for {names}",
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
        texts=(why, f"{_THERE}{keeps}"),
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
