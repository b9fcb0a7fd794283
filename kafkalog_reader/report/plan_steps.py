"""The steps of a plan, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import FORCE_RECOVERY
from kafkalog_reader.audits.catalogue.log_rules import START_WILL_EXPIRE, START_WILL_SET_ASIDE
from kafkalog_reader.audits.plan.plan_basis import UNCLEAN_ELECTION
from kafkalog_reader.audits.recovery.node_releases import KAFKA_3_9
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.command_text import (
    CONTROLLERS,
    ZOOKEEPER,
    archive_commands,
    forbid_command,
)
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.lost_already_text import not_here_names
from kafkalog_reader.report.merge_text import merge_reason, placing_commands
from kafkalog_reader.report.missing_folder_text import missing_folder_texts
from kafkalog_reader.report.plan_directory_steps import (
    directory_steps,
    empty_directory_step,
    lost_disk_steps,
)
from kafkalog_reader.report.plan_file_steps import file_steps
from kafkalog_reader.report.plan_quorum_steps import lacking_voters, quorum_steps
from kafkalog_reader.report.plan_reassign_steps import reassignment_steps
from kafkalog_reader.report.plan_repair_steps import repair_steps
from kafkalog_reader.report.plan_step import (
    BROKERS,
    IN_SYNC,
    SAVED,
    Check,
    ElectionCall,
    PlanStep,
    StepKind,
    brokers_text,
    merge_command,
    merged_folder,
    salvage_command,
)
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice, LostRecords
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.start_loss import StartLoss
    from kafkalog_reader.audits.plan.start_order import Settled, Start

_START_WORDS: Final = {
    StartOutcome.HIDDEN: "the start hides {}",
    StartOutcome.CUT: "the start cuts {} off its end",
    StartOutcome.EMPTIED: "the start deletes every segment: {}",
    StartOutcome.STRAY: "the start sets the directory aside, with {}",
    StartOutcome.EXPIRED: "retention deletes {} right after the start",
    StartOutcome.DIRECTORY_OFFLINE: "its log directory does not come up",
    StartOutcome.BROKER_ABORTS: "with this copy the broker does not come up",
}

_METADATA_FIRST: Final = (
    "First supply the metadata log, or check that metadata.log.dir of a controller still has "
    "__cluster_metadata-0. If it is lost, start nothing: every broker would set its partitions "
    "aside (-stray), and before release 3.7 delete them."
)
_UNCLEAN_SINCE: Final = (
    "Before release 3.9, leave the commands out: controllers hold no unclean election by "
    "themselves, whatever the setting, and before 3.7 the tools have no --bootstrap-controller."
)
_LED: Final = Check(
    command=f"kafka-topics.sh --bootstrap-server {BROKERS} --describe --unavailable-partitions",
    expected=("nothing: every partition has a leader",),
)
_INTACT_ELSEWHERE: Final = (
    "If another broker may have an intact copy, do not do this yet: supply that copy as well, and "
    "make this plan again."
)
_EXPLAINED: Final = {
    StartOutcome.HIDDEN: FORCE_RECOVERY,
    StartOutcome.STRAY: START_WILL_SET_ASIDE,
    StartOutcome.EXPIRED: START_WILL_EXPIRE,
}
"""Where something else than salvage keeps the records in the log."""


def plan_steps(plan: Plan) -> tuple[PlanStep, ...]:
    """All steps, in order; none if nothing has to be done."""
    return tuple(_steps(plan)) if plan.has_work else ()


def _steps(plan: Plan) -> Iterator[PlanStep]:
    yield from _save(plan)
    if plan.waits_for_files:  # every later step would be about the files as they are
        yield from map(_place, plan.merged)
        yield from repair_steps(plan)
        return
    yield from directory_steps(plan)
    yield from quorum_steps(plan)
    if (plan.is_ordered and not plan.is_one_broker) or plan.unsafe_quorums or plan.freezing:
        yield _zookeeper(plan) if plan.has_zookeeper else _controllers(plan)
    yield from file_steps(plan)
    for number, start in enumerate(plan.order.starts):
        if number == len(plan.order.starts) - 1:
            yield from lost_disk_steps(plan)
        yield _start(plan, number, start)
    if plan.empty_directories:
        yield empty_directory_step(plan)
    yield from reassignment_steps(plan)
    if plan.moved_back:
        yield _preferred(plan.moved_back)
    if plan.freezing:
        yield _unfreeze(plan)


def _save(plan: Plan) -> Iterator[PlanStep]:
    commands = [merge_command(plan, choice) for choice in plan.merged]
    alone: list[Choice] = []
    if not plan.waits_for_files:  # else the next plan saves them
        commands += [
            command
            for choice in plan.losing
            if choice.merge is None
            for command in _saving(plan, choice)
        ]
        alone = [c for c in plan.choices if c.only_copy and not c.lost and c.merge is None]
    commands += [salvage_command(plan, choice, *choice.only_copy or (0, 0)) for choice in alone]
    title = "Save the only copies that have records"
    if plan.merged:
        title = "Make sound logs of damaged copies"
    elif plan.lost and not plan.waits_for_files:
        title = f"Save what this plan destroys: {lost_words(plan.lost)}"
    if commands:
        yield PlanStep(
            kind=StepKind.SAVE,
            title=title,
            texts=(*map(_merge_text, plan.merged), *map(_alone_text, alone)),
            commands=tuple(dict.fromkeys(commands)),
        )


def _alone_text(choice: Choice) -> str:
    assert choice.only_copy is not None
    return f"{shown(choice.name)}: only the copy of broker {choice.only_copy[0]} has records."


def _merge_text(choice: Choice) -> str:
    assert choice.merge is not None
    return f"{shown(choice.name)}: {merge_reason(choice.merge, len(choice.paths))}"


def _place(choice: Choice) -> PlanStep:
    """Put a merged log in the place of the copies; then there is another plan to make."""
    path = choice.paths[choice.leader]
    others = [each for each in choice.paths.values() if each != path]
    copies = "copies" if others else "copy"
    return PlanStep(
        kind=StepKind.REPLACE,
        title=(
            f"While {brokers_text([*choice.paths])} {'are' if others else 'is'} stopped, put the "
            f"sound log of {shown(choice.name)} in the place of the damaged {copies}"
        ),
        texts=(
            *((_INTACT_ELSEWHERE,) if choice.may_be_intact_elsewhere else ()),
            *(f"Without this, {start_text(each)}." for each in choice.start_losses),
            f"Run this on {'the hosts' if others else 'the host'}, with the paths there, as the "
            f"user of the broker. The damaged {copies} {'are' if others else 'is'} kept aside.",
            "Then make this plan again: it has the steps that follow.",
        ),
        commands=placing_commands(path, others, merged_folder(choice)),
        is_destructive=True,
        brokers=tuple(choice.paths),
    )


def _saving(plan: Plan, choice: Choice) -> Iterator[str]:
    """What keeps all that one partition loses: an archive where no record of it can be read."""
    for broker, lost in _savers(choice):
        if any(each.records.total for each in lost):
            first_offset = min(each.first_offset for each in lost)
            yield salvage_command(plan, choice, broker, first_offset)
        else:
            archive = f"{SAVED}/{choice.name}-broker-{broker}.tar"
            yield from archive_commands(choice.paths[broker], archive)


def _savers(choice: Choice) -> list[tuple[int, list[LostRecords]]]:
    """Brokers that together hold all records that are lost, each with those it is to save."""
    chosen: dict[int, list[LostRecords]] = {}
    for lost in sorted(choice.lost, key=lambda each: len(each.brokers)):
        holder = next((each for each in lost.brokers if each in chosen), lost.brokers[0])
        chosen.setdefault(holder, []).append(lost)
    return sorted(chosen.items())


def _controllers(plan: Plan) -> PlanStep:
    forbid = ", and forbid unclean elections" if plan.freezing else ""
    order = ", in that order," if plan.unsafe_quorums else ""
    return PlanStep(
        kind=StepKind.CONTROLLERS,
        title=f"Start the controllers{_named_voters(plan)}{order} and no broker{forbid}; wait 30 "
        "seconds",
        texts=(
            *lacking_voters(plan),
            *((_METADATA_FIRST,) if plan.is_without_metadata else ()),
            "Then the controllers have fenced every broker (broker.session.timeout.ms, 9 seconds "
            f"by default).{_combined_text(plan)}",
            *((_UNCLEAN_SINCE,) if plan.freezing and not plan.releases.since(KAFKA_3_9) else ()),
        ),
        commands=tuple(
            forbid_command(topic, f"--bootstrap-controller {CONTROLLERS}")
            for topic in plan.freezing
        ),
    )


def _named_voters(plan: Plan) -> str:
    """Which they are, where every quorum is known."""
    sets = [each.quorum.voters for each in plan.quorums]
    nodes = sorted({node for each in sets if each is not None for node in each.node_ids})
    return f" ({brokers_text(nodes, 'node')})" if nodes and None not in sets else ""


def _combined_text(plan: Plan) -> str:
    """How a node starts that is broker and controller; empty where no voter is a broker."""
    if plan.combined == frozenset():
        return ""
    which = "a node that is broker and controller in one"
    if plan.combined:
        nodes = sorted(plan.combined)
        are, each = ("is", "") if len(nodes) == 1 else ("are", " each")
        which = f"{brokers_text(nodes, 'node')}, which {are}{each} broker and controller in one,"
    return (
        f" Until its turn as a broker comes below, start {which} with process.roles=controller, "
        f"{_controller_listeners(plan)}."
    )


def _controller_listeners(plan: Plan) -> str:
    """What a controller alone may have configured. Source: Kafka 3.3 and 3.9, KafkaConfig."""
    if plan.releases.before(KAFKA_3_9):
        return "with only its controller listeners in listeners, and without advertised.listeners"
    both = "and with only its controller listeners in listeners and advertised.listeners"
    if plan.releases.since(KAFKA_3_9):
        return both
    return f"{both}; before release 3.9 without advertised.listeners"


def _zookeeper(plan: Plan) -> PlanStep:
    """The controller is the broker that starts first. Source: Kafka 2.8, KafkaController#elect."""
    forbid = "; forbid unclean elections" if plan.freezing else ""
    texts = [
        "The controller of this cluster is one of its brokers, the first that starts. Before that, "
        "ZooKeeper must have forgotten all brokers (zookeeper.session.timeout.ms, 18 seconds by "
        "default).",
        "Of Kafka's tools, kafka-topics.sh before release 2.2, kafka-configs.sh before 2.5 and "
        "kafka-reassign-partitions.sh before 2.6 take --zookeeper ZOOKEEPER:2181 in place of "
        "--bootstrap-server. Before 2.4 there is no kafka-leader-election.sh: where a leader is "
        "missing below, set unclean.leader.election.enable=true for the topic until it has one.",
    ]
    if plan.freezing:
        texts.append(
            "While no broker runs, put unclean.leader.election.enable=false into the "
            "server.properties of all brokers. A topic's own configuration must not say otherwise "
            "(zookeeper-shell.sh: get /config/topics/TOPIC): "
            f"{', '.join(map(shown, plan.freezing))}."
        )
    registered = Check(
        command=f"zookeeper-shell.sh {ZOOKEEPER} ls /brokers/ids",
        expected=("[]: no broker is registered",),
    )
    known = [each.topic for each in plan.deleted]
    deleted = Check(
        command=f"zookeeper-shell.sh {ZOOKEEPER} ls /admin/delete_topics",
        expected=(
            f"[{', '.join(map(shown, dict.fromkeys(known)))}], or you want to lose what else it "
            "names: topics that get no leader and are deleted once all their brokers run",
        ),
    )
    return PlanStep(
        kind=StepKind.ZOOKEEPER,
        title=f"Start ZooKeeper and no broker; wait 30 seconds{forbid}",
        texts=tuple(texts),
        checks=(registered, deleted),
    )


def _start(plan: Plan, number: int, start: Start) -> PlanStep:
    gone = tuple((c, c.lost[index]) for c, index in plan.lost_at.get(number, ()))
    down = [each for each in start.brokers if each not in plan.brokers]
    texts = []
    if down:
        texts.append(
            f"Nothing was supplied of {brokers_text(down)}: what this start and these elections "
            "cut there is unknown. Where copies still exist, supply them and make the plan again "
            "before this step."
        )
        if names := not_here_names(plan):
            texts.append(f"Without those copies, nothing is left of {names}.")
    texts += missing_folder_texts(plan, start.brokers)
    moved = {(choice.name, broker) for choice, broker in plan.set_aside}
    moved |= {(each.choice.name, each.broker_id) for each in plan.order.replaced}
    texts += [
        start_text(each)
        for each in (*plan.start_losses, *plan.tails)
        if each.broker_id in start.brokers and (each.name, each.broker_id) not in moved
    ]
    texts += [text for each in start.settled for text in _worse_leaders(each.choice)]
    is_last = number == len(plan.order.starts) - 1 and not plan.empty_directories
    checks = tuple(_leader_checks(start))
    is_unled = number == len(plan.order.starts) - 1 and _may_stay_without_leader(plan)
    if is_unled or (number == len(plan.order.starts) - 1 and plan.empty_directories):
        checks += (_LED,)
    if is_unled:
        texts.append(
            "If a partition has no leader after this, its in-sync replicas are on brokers that are "
            "not here. If they cannot come back, hold an unclean election of it "
            "(kafka-leader-election.sh): what only they had is lost."
        )
    if is_last and not plan.is_one_broker:
        checks += (IN_SYNC,)
    unclean = tuple(each.choice for each in start.settled if each.may_lack_leader)
    election = None
    if unclean:
        election = ElectionCall(
            kind="unclean", file=f"unclean-{number + 1}.json", partitions=unclean
        )
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


def _may_stay_without_leader(plan: Plan) -> bool:
    """Whether in-sync replicas of a partition that nobody waits for may be on absent brokers."""
    settled = {each.choice.name for start in plan.order.starts for each in start.settled}
    return not plan.is_one_broker and any(
        each.name not in settled
        and set(each.paths) < set(plan.brokers)
        and each.may_lack_leader(each.paths)
        for each in plan.choices
    )


def start_text(loss: StartLoss) -> str:
    """What a start does to one copy, and why."""
    words = "the start cuts {}" if loss.is_tail else _START_WORDS[loss.outcome]
    what = words.format(loss.text)
    why = f" ({loss.reason})" if loss.reason else ""
    more = _EXPLAINED.get(loss.outcome)
    keep = f". `kafkalog explain {more}` says how to keep them" if more else ""
    return shown(f"{loss.name} on broker {loss.broker_id}: {what}{why}{keep}")


def _worse_leaders(choice: Choice) -> Iterator[str]:
    """Brokers that wait because others could not follow them."""
    for each in choice.alternatives:
        if each.never_in_sync:
            yield (
                f"{shown(choice.name)}: with broker {each.broker_id} leading, "
                f"{brokers_text(each.never_in_sync)} would never get in sync."
            )


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


def _preferred(moved_back: Sequence[Choice]) -> PlanStep:
    election = ElectionCall(kind="preferred", file="preferred.json", partitions=tuple(moved_back))
    return PlanStep(
        kind=StepKind.PREFERRED,
        title="When all copies are in sync, let the preferred leaders lead again",
        texts=("This loses nothing: only a copy in sync can be elected.",),
        commands=election.commands,
        election=election,
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
