"""The steps of a plan: what to do, the commands, and what to check before going on."""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.plan.plan import UNCLEAN_ELECTION
from kafkalog_reader.audits.recovery.outcome import Outcome
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import listed, offsets_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice, LostRecords
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.start_loss import StartLoss
    from kafkalog_reader.audits.plan.start_order import Replacement, Settled, Start

BROKERS: Final = "HOST:9092"
CONTROLLERS: Final = "CONTROLLER:9093"
SAVED: Final = "SAVED"
_START_WORDS: Final = {
    Outcome.HIDDEN: "the start hides {}; `kafkalog explain A33` says how to keep them",
    Outcome.CUT: "the start cuts {} off its end",
    Outcome.EMPTIED: "the start deletes every segment: {}",
    Outcome.STRAY: "the start sets the directory aside, with {}, and begins empty",
    Outcome.EXPIRED: "right after the start retention deletes {}",
    Outcome.DIRECTORY_OFFLINE: "its log directory does not come up",
    Outcome.BROKER_ABORTS: "with this copy the broker does not come up",
}


class StepKind(Enum):
    """The kind of a step."""

    SAVE = "save"
    CONTROLLERS = "startControllers"
    MOVE_ASIDE = "moveAside"
    REPLACE = "replaceCopy"
    START = "startBrokers"
    PREFERRED = "electPreferred"
    REPAIR = "repairSilentDivergence"
    UNFREEZE = "restoreConfiguration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """One call of ``kafka-leader-election.sh``.

    Attributes:
        kind: ``unclean`` or ``preferred``.
        file: the file that names the partitions.
        partitions: the partitions to elect.
    """

    kind: str
    file: str
    partitions: tuple[Choice, ...]

    @property
    def document(self) -> str:
        """The content of the file."""
        named = [{"topic": c.topic, "partition": c.partition} for c in self.partitions]
        return json.dumps({"partitions": named})

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that write the file and hold the election."""
        return (
            f"printf '%s\\n' {shell_word(self.document)} > {self.file}",
            f"kafka-leader-election.sh --bootstrap-server {BROKERS} "
            f"--election-type {self.kind} --path-to-json-file {self.file}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A command, and what its output must be."""

    command: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One step.

    Attributes:
        kind: what it is.
        title: one line.
        texts: further explanations.
        commands: to be pasted; words in capitals must be replaced.
        is_destructive: whether records, or a copy, are lost.
        brokers: those that start.
        checks: to do before the next step.
        election: to hold after the checks if they show no leader.
        lost: the ranges that the step loses.
    """

    kind: StepKind
    title: str
    texts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    is_destructive: bool = False
    brokers: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    election: Election | None = None
    lost: tuple[tuple[Choice, LostRecords], ...] = ()


def plan_steps(plan: Plan) -> tuple[PlanStep, ...]:
    """All steps, in order; none if nothing has to be done."""
    return tuple(_steps(plan)) if plan.has_work else ()


def brokers_text(brokers: Sequence[int], word: str = "broker") -> str:
    """``broker 1``, ``brokers 1, 2 and 3``."""
    return f"{word}{'s' if len(brokers) > 1 else ''} {listed([str(each) for each in brokers])}"


def lost_text(choice: Choice, lost: LostRecords) -> str:
    """Which records, where, and whether they were committed."""
    where = offsets_text(lost.first_offset, lost.next_offset)
    return (
        f"{shown(choice.name)}: {where} on {brokers_text(lost.brokers)}: {lost_words(lost.records)}"
    )


def _steps(plan: Plan) -> Iterator[PlanStep]:
    if plan.losing or plan.set_aside:
        yield from _save(plan)
    if plan.is_ordered and not plan.is_one_broker:
        yield _controllers(plan)
    for choice, broker in plan.set_aside:
        yield _move_aside(choice, broker)
    for replacement in plan.order.replaced:
        yield _replace(replacement)
    for number, start in enumerate(plan.order.starts):
        yield _start(plan, number, start)
    if plan.moved_back:
        yield _preferred(plan)
    for choice in plan.apart:
        for broker in choice.apart:
            yield _repair(plan, choice, broker)
    if plan.freezing:
        yield _unfreeze(plan)


def _save(plan: Plan) -> Iterator[PlanStep]:
    commands = []
    for choice in plan.losing:
        for broker, first_offset in _savers(choice):
            commands.append(_salvage(plan, choice, broker, first_offset))
    if commands:
        yield PlanStep(
            kind=StepKind.SAVE,
            title=f"Save what this plan destroys: {lost_words(plan.lost)}",
            commands=tuple(commands),
        )


def _savers(choice: Choice) -> list[tuple[int, int]]:
    """Brokers that together hold all records that are lost, each with its first such offset."""
    chosen: dict[int, int] = {}
    for lost in sorted(choice.lost, key=lambda each: len(each.brokers)):
        holder = next((each for each in lost.brokers if each in chosen), lost.brokers[0])
        chosen[holder] = min(lost.first_offset, chosen.get(holder, lost.first_offset))
    return sorted(chosen.items())


def _salvage(plan: Plan, choice: Choice, broker: int, first_offset: int) -> str:
    paths = " ".join(map(shell_word, plan.paths))
    links = " --follow-links" if plan.follow_links else ""
    return (
        f"kafkalog salvage {paths}{links} --topic {shell_word(choice.topic)} "
        f"--partition {choice.partition} --replica broker:{broker} --from-offset {first_offset} "
        f"--output {shell_word(f'{SAVED}/{choice.name}-broker-{broker}')}"
    )


def _controllers(plan: Plan) -> PlanStep:
    forbid = ", and forbid unclean elections" if plan.freezing else ""
    return PlanStep(
        kind=StepKind.CONTROLLERS,
        title=f"Start the controllers and no broker{forbid}; wait 30 seconds",
        texts=(
            "Then the controllers have fenced every broker (broker.session.timeout.ms, 9 seconds "
            "by default). A node that is broker and controller in one: start it with "
            "process.roles=controller until its turn as a broker comes below.",
        ),
        commands=tuple(
            f"kafka-configs.sh --bootstrap-controller {CONTROLLERS} --alter --entity-type topics "
            f"--entity-name {shell_word(topic)} --add-config {UNCLEAN_ELECTION}=false"
            for topic in plan.freezing
        ),
    )


def _aside(path: str) -> tuple[str, str]:
    """The folder for copies that are moved away, next to the log directory, and the copy in it."""
    root, name = posixpath.split(path.rstrip("/"))
    folder = posixpath.join(posixpath.dirname(root), "aside", posixpath.basename(root))
    return folder, posixpath.join(folder, name)


def _move_commands(path: str) -> tuple[str, ...]:
    folder, copy = _aside(path)
    return (f"mkdir -p {shell_word(folder)}", f"mv {shell_word(path)} {shell_word(copy)}")


def _move_aside(choice: Choice, broker: int) -> PlanStep:
    return PlanStep(
        kind=StepKind.MOVE_ASIDE,
        title=f"On broker {broker}, while it is stopped, move {shown(choice.name)} aside",
        texts=(
            f"With this copy broker {broker} does not come up, or never gets in sync. It copies "
            f"the partition again from broker {choice.leader}.",
            "Run this on its host, with the path of the log directory there.",
        ),
        commands=_move_commands(choice.paths[broker]),
        is_destructive=True,
        brokers=(broker,),
    )


def _replace(replacement: Replacement) -> PlanStep:
    choice, broker = replacement.choice, replacement.broker_id
    source, target = choice.paths[choice.leader], choice.paths[broker]
    return PlanStep(
        kind=StepKind.REPLACE,
        title=(
            f"While both are stopped, replace {shown(choice.name)} on broker {broker} by the copy "
            f"of broker {choice.leader}"
        ),
        texts=(
            f"No order of starts keeps everything: broker {broker} must start before broker "
            f"{choice.leader} for other partitions, and would lead this one.",
            f"Run this on the host of broker {broker}, with the paths there. The indexes stay "
            "behind, so that the start reads every batch again.",
            *_cautions(choice, broker),
        ),
        commands=(
            *_move_commands(target),
            f"rsync -a --exclude='*index' {shell_word(f'HOST_OF_BROKER_{choice.leader}:{source}/')}"
            f" {shell_word(f'{target}/')}",
        ),
        is_destructive=True,
        brokers=(broker,),
    )


def _cautions(choice: Choice, broker: int) -> Iterator[str]:
    """What may go wrong if a copy replaces another."""
    if not choice.is_sound:
        yield (
            f"The copy of broker {choice.leader} has damaged batches: on broker {broker} it is cut "
            "at the first of them. Save it whole first (kafkalog salvage)."
        )
    start = choice.log_starts.get(choice.leader, 0)
    if choice.log_starts.get(broker, 0) > start:
        yield (
            f"If log-start-offset-checkpoint of broker {broker} has a line for this partition, "
            f"write {start} into it: records below that line are deleted."
        )


def _start(plan: Plan, number: int, start: Start) -> PlanStep:
    gone = tuple((c, c.lost[index]) for c, index in plan.lost_at.get(number, ()))
    down = [each for each in start.brokers if each not in plan.brokers]
    texts = []
    if down:
        texts.append(
            f"Of {brokers_text(down)} nothing was supplied: what this start and these elections "
            "cut there is unknown. Supply the copies and make the plan again before this step."
        )
    texts += [start_text(each) for each in plan.start_losses if each.broker_id in start.brokers]
    texts += [
        f"{shown(c.name)}: {brokers_text(c.refetching)} will cut and fetch the same records for "
        f"ever, and never get in sync: leader-epoch-checkpoint of broker {c.leader} lacks an epoch "
        "of its batches. Write it as the batches have it while that broker is stopped (A8)."
        for c in plan.choices
        if c.refetching and {c.leader, *c.refetching} & set(start.brokers)
    ]
    is_last = number == len(plan.order.starts) - 1
    checks = tuple(_leader_checks(start))
    if is_last and not plan.is_one_broker:
        checks += _in_sync_check()
    unclean = tuple(each.choice for each in start.settled if each.may_lack_leader)
    election = None
    if unclean:
        election = Election(kind="unclean", file=f"unclean-{number + 1}.json", partitions=unclean)
    alone = "" if is_last else ", and no other broker yet"
    word = "Start" if number == 0 else "Then start"
    return PlanStep(
        kind=StepKind.START,
        title=f"{word} {brokers_text(start.brokers)}{alone}",
        texts=tuple(texts),
        is_destructive=bool(gone),
        brokers=start.brokers,
        checks=checks,
        election=election,
        lost=gone,
    )


def start_text(loss: StartLoss) -> str:
    """What a start does to one copy, and why."""
    what = _START_WORDS[loss.outcome].format(records_text(loss.records))
    why = f" ({loss.reason})" if loss.reason else ""
    return shown(f"{loss.name} on broker {loss.broker_id}: {what}{why}")


def _leader_checks(start: Start) -> Iterator[Check]:
    by_topic: dict[str, list[Settled]] = {}
    for each in start.settled:
        by_topic.setdefault(each.choice.topic, []).append(each)
    for topic, settled in by_topic.items():
        yield Check(
            command=(
                f"kafka-topics.sh --bootstrap-server {BROKERS} --describe "
                f"--topic {shell_word(topic)}"
            ),
            expected=tuple(
                f"Partition: {each.choice.partition} with Leader: "
                f"{' or '.join(map(str, each.leaders))}"
                for each in settled
            ),
        )


def _in_sync_check() -> tuple[Check, ...]:
    return (
        Check(
            command=(
                f"kafka-topics.sh --bootstrap-server {BROKERS} --describe "
                "--under-replicated-partitions"
            ),
            expected=("nothing: every copy is in sync",),
        ),
    )


def _preferred(plan: Plan) -> PlanStep:
    election = Election(kind="preferred", file="preferred.json", partitions=plan.moved_back)
    return PlanStep(
        kind=StepKind.PREFERRED,
        title="Give the preferred leaders their partitions back; nothing is lost by it",
        commands=election.commands,
        election=election,
    )


def _repair(plan: Plan, choice: Choice, broker: int) -> PlanStep:
    ranges = [each for each in choice.lost_with_copies if broker in each.brokers]
    first_offset = min((each.first_offset for each in ranges), default=0)
    return PlanStep(
        kind=StepKind.REPAIR,
        title=f"Later: stop broker {broker}, move {shown(choice.name)} aside, start it again",
        texts=(
            f"Broker {broker} keeps records that differ on the leader or are missing there, and "
            "Kafka never notices. When all copies are in sync, it copies the partition again from "
            "the leader. What only it has is saved by the first command.",
        ),
        commands=(
            _salvage(plan, choice, broker, first_offset),
            *_move_commands(choice.paths[broker]),
        ),
        is_destructive=True,
        brokers=(broker,),
    )


def _unfreeze(plan: Plan) -> PlanStep:
    commands = []
    for topic in plan.freezing:
        change = (
            f"--add-config {UNCLEAN_ELECTION}=true"
            if plan.unclean_election(topic) == "true"
            else f"--delete-config {UNCLEAN_ELECTION}"
        )
        commands.append(
            f"kafka-configs.sh --bootstrap-server {BROKERS} --alter --entity-type topics "
            f"--entity-name {shell_word(topic)} {change}"
        )
    return PlanStep(
        kind=StepKind.UNFREEZE,
        title="Restore the configuration of the topics, or leave unclean elections forbidden",
        commands=tuple(commands),
    )
