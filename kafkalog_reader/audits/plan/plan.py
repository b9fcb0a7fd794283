"""The plan of a cluster: one order of starts for all partitions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.replica_rules import (
    COMMITTED_RECORDS_MISSING,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.plan.act import together
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.plan_basis import PlanBasis
from kafkalog_reader.audits.plan.start_order import StartOrder, start_order
from kafkalog_reader.audits.recovery.node_releases import KAFKA_3_9

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.audits.plan.act import Act
    from kafkalog_reader.audits.plan.open_finding import OpenFinding
    from kafkalog_reader.audits.plan.start_loss import StartLoss
    from kafkalog_reader.audits.plan.unanswered import Unanswered
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit

_NEVER_SETTLED: Final = codes_with(Role.REPLICA_NOT_READ) | codes_with(Role.NEVER_SETTLED)
"""Findings that no order of starts settles."""
_SETTLED_BY_REPAIRS: Final = codes_with(Role.REPAIRED_BEFORE_START) | codes_with(Role.OF_NEXT_START)
"""Of a partition whose files are repaired first: the plan that is made then answers them."""


@dataclass(frozen=True, kw_only=True)
class Plan(PlanBasis):
    """One procedure for all supplied brokers.

    Attributes:
        brokers: node ids of the brokers with a copy.
        choices: of every partition that could be decided.
        unanswered: the others.
        order: the order of starts.
    """

    brokers: tuple[int, ...]
    choices: tuple[Choice, ...]
    unanswered: tuple[Unanswered, ...]
    order: StartOrder

    @property
    def partitions(self) -> int:
        decided = len(self.choices) + self.idle_partitions
        return decided + len(self.unanswered) + len(self.deleted)

    @property
    def has_no_answer(self) -> bool:
        """Whether something cannot be said; that a broker alone does not come up is said."""
        return any(each.failure is None or not self.is_one_broker for each in self.unanswered)

    @property
    def is_one_broker(self) -> bool:
        """Whether nothing is known but one broker's copies; else what others need is a step."""
        return len(self.brokers) == 1 and len(self.order.starts) == 1

    @property
    def is_ordered(self) -> bool:
        """Whether brokers must wait for others, or copies must be changed before a start."""
        return len(self.order.starts) > 1 or bool(self.order.replaced or self.set_aside)

    @property
    def set_aside(self) -> tuple[tuple[Choice, int], ...]:
        """Copies to move away while their broker is stopped, without those that are replaced."""
        replaced = {(each.choice.name, each.broker_id) for each in self.order.replaced}
        return tuple(
            (c, broker)
            for c in self.choices
            for broker in sorted(c.set_aside)
            if (c.name, broker) not in replaced
        )

    @cached_property
    def losing(self) -> tuple[Choice, ...]:
        """Partitions that lose records, the worst first."""
        found = [c for c in self.choices if c.lost]
        return tuple(sorted(found, key=lambda c: (-c.lost_records.known, -c.lost_records.possible)))

    @cached_property
    def start_losses(self) -> tuple[StartLoss, ...]:
        """What starts remove from copies; other copies may hold the same records."""
        found = (each for c in self.choices for each in c.start_losses)
        return tuple(each for each in found if not each.is_tail)

    @cached_property
    def tails(self) -> tuple[StartLoss, ...]:
        """Copies from whose end a start removes bytes that hold no whole record."""
        return tuple(each for c in self.choices for each in c.start_losses if each.is_tail)

    @property
    def lost(self) -> CommitCount:
        return sum((c.lost_records for c in self.choices), CommitCount())

    @property
    def forced(self) -> tuple[Choice, ...]:
        """Partitions where every leader loses committed records: a person must choose."""
        return tuple(c for c in self.choices if c.is_forced and not c.waits_for_files)

    @property
    def freezing(self) -> tuple[str, ...]:
        """Topics whose unclean election must be disabled before any start.

        There, a copy that must not lead runs before one that may, and only the ISR prevents its
        election; or what an unclean election would lose must not depend on a leader that stays up.
        Before 3.9, a KRaft controller holds no unclean election by itself, whatever the setting
        (KAFKA-12670).
        """
        settled = {each.choice.name for start in self.order.starts for each in start.settled}
        exposed = {c.topic for c in self.choices if c.others and c.name not in settled}
        if len(self.order.starts) == 1:
            exposed = set()
        exposed |= self.frozen
        if self.is_one_broker or self.releases.before(KAFKA_3_9):
            return ()
        return tuple(sorted(t for t in exposed if self.unclean_election(t) != "false"))

    @property
    def moved_back(self) -> tuple[Choice, ...]:
        """Partitions that are led by another broker than the preferred one afterwards."""
        return tuple(
            each.choice
            for start in self.order.starts
            for each in start.settled
            if each.choice.preferred_leader not in (None, *{*each.leaders} - {*each.choice.damaged})
            and each.choice.preferred_leader in self.brokers
        )

    @property
    def unsafe_quorums(self) -> tuple[QuorumAudit, ...]:
        """Those whose controllers must not start in any order."""
        return tuple(each for each in self.quorums if each.is_unsafe) if self.choices else ()

    @property
    def lacking_quorums(self) -> tuple[QuorumAudit, ...]:
        """Those of which these files have too few voters; not where one broker is the question."""
        short = (each for each in self.quorums if each.is_short_of_voters)
        return () if self.is_one_broker else tuple(short)

    @property
    def has_work(self) -> bool:
        """Whether anything has to be done, or is lost.

        What a start removes from one of several copies counts only if no other copy holds it.
        """
        starts = self.start_losses if self.is_one_broker else self.down
        never_equal = self.reassigned or any(c.refetching or c.epoch_rows for c in self.choices)
        of_nodes = self.missing_directories or self.unsafe_quorums or self.empty_directories
        first = self.merged or self.waits_for_files or of_nodes or self.freezing
        return bool(self.is_ordered or self.lost or starts or never_equal or first)

    @property
    def is_order_alone(self) -> bool:
        """Whether the order of starts is all there is to do, and nothing here is unknown."""
        of_nodes = self.missing_directories or self.unsafe_quorums or self.empty_directories
        of_cluster = self.deleted or self.went_back or self.exchanged
        files = self.merged or self.waits_for_files or self.down or self.freezing
        never_equal = self.reassigned or any(c.refetching or c.epoch_rows for c in self.choices)
        return not (of_nodes or of_cluster or files or never_equal or self.is_one_broker)

    @cached_property
    def open_findings(self) -> tuple[OpenFinding, ...]:
        """The findings that the plan does not resolve, the worst first.

        Of a partition that the plan has something to say about, these are only those about
        committed records that no copy holds, and replicas that were not read.
        """
        treated, waiting = self._treated, {each.name for each in self.waiting}
        repaired = {repair for each in self.waiting for repair in each.first_repairs}
        repaired |= {repair for each in self.files_first for repair in each.repairs}
        found = [
            each for each in self.severe if not (each.repairs and repaired.issuperset(each.repairs))
        ]
        found = [
            each
            for each in found
            if each.code in _NEVER_SETTLED
            or each.is_lost
            or each.log_directory is not None
            or (
                each.name not in treated
                and not (each.name in waiting and each.code in _SETTLED_BY_REPAIRS)
            )
        ]
        return tuple(
            sorted(
                dict.fromkeys(found),
                key=lambda each: (
                    each.severity,
                    each.code != COMMITTED_RECORDS_MISSING,
                    each.name,
                    each.code,
                ),
            )
        )

    @property
    def first_acts(self) -> tuple[Act, ...]:
        """What the open findings ask for before any step; of files that wait, the steps do it."""
        if self.waits_for_files:
            return ()
        names = dict.fromkeys(e.name for e in self.open_findings if e.log_directory is None)
        return together({name: self.acts[name] for name in names if name in self.acts})

    @property
    def _treated(self) -> frozenset[str]:
        """Partitions about which the plan says what is lost, or in what order to start."""
        if not self.has_work:
            return frozenset()
        if self.files_first or self.renamed:  # the plan is about these alone
            replaced = {c.name for c in self.waiting if c.merge is not None or c.renames}
            return frozenset(replaced | {each.name for each in self.files_first})
        named = {each.name for each in (*self.start_losses, *self.tails)}
        named |= {each.choice.name for start in self.order.starts for each in start.settled}
        named |= {choice.name for choice, _ in self.set_aside}
        named |= {each.choice.name for each in self.order.replaced}
        named |= {c.name for c in self.choices if c.lost or c.refetching or c.epoch_rows}
        named |= {c.name for c in self.reassigned}
        named -= {c.name for c in self.unreadable}
        return frozenset(named | {c.name for c in self.merged})

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong and the brokers may be started in any order."""
        is_open = self.unanswered or self.deleted or self.went_back or self.exchanged
        return not (self.has_work or self.open_findings or is_open or self.lacking_quorums)

    @property
    def combined(self) -> frozenset[int] | None:
        """Node ids of voters that are brokers, too; None where the voters are not known."""
        sets = [each.quorum.voters for each in self.quorums]
        known = [each for each in sets if each is not None]
        if not known or len(known) < len(sets):
            return None
        brokers = {*self.brokers, *(broker for c in self.choices for broker in c.assigned)}
        return frozenset(brokers & {node for each in known for node in each.node_ids})

    @property
    def reassigned(self) -> tuple[Choice, ...]:
        """Partitions of which copies stay different for ever, unless they are made again."""
        return tuple(c for c in self.choices if c.reassigned)

    @property
    def unreadable(self) -> tuple[Choice, ...]:
        """Partitions whose leader has damage that consumers and new copies do not get past."""
        return tuple(c for c in self.choices if c.stays_unreadable)

    @property
    def merged(self) -> tuple[Choice, ...]:
        """Partitions whose damaged copies become one sound log before any start."""
        return tuple(c for c in self.choices if c.merge is not None)

    @property
    def waiting(self) -> tuple[Choice, ...]:
        """Partitions whose files must be put right before there is a plan of everything."""
        return tuple(c for c in self.choices if c.waits_for_files)

    @property
    def waits_for_files(self) -> bool:
        """Whether the steps are about files alone, and another plan comes after them."""
        return bool(self.waiting or self.files_first)

    @property
    def renamed(self) -> tuple[Choice, ...]:
        """Those among them of which a start would delete segments that have a wrong name."""
        return tuple(c for c in self.waiting if c.renames)

    @property
    def down(self) -> tuple[StartLoss, ...]:
        """Copies whose broker or log directory does not start."""
        return tuple(each for each in self.start_losses if each.is_down)

    @property
    def lost_at(self) -> Mapping[int, tuple[tuple[Choice, int], ...]]:
        """By number of the start, the ranges that it loses: partition and index of the range.

        Copies are cut once they and a leader run: whichever of them starts last decides.
        """
        number = {b: n for n, start in enumerate(self.order.starts) for b in start.brokers}
        gone: dict[int, list[tuple[Choice, int]]] = {}
        for choice in self.losing:
            leads = min((number[b] for b in choice.equals if b in number), default=0)
            for index, lost in enumerate(choice.lost):
                if lost.by_reassignment:
                    continue
                started = [number[b] for b in lost.brokers if b in number]
                if started:
                    gone.setdefault(max(leads, *started), []).append((choice, index))
        return {when: tuple(ranges) for when, ranges in gone.items()}


def plan_of(decided: Iterable[Choice | Unanswered], basis: PlanBasis) -> Plan:
    """Make one procedure for all partitions.

    Args:
        decided: the choice of every partition, see ``choice_of``.
        basis: what else is known.
    """
    choices, unanswered = [], []
    for each in decided:
        if isinstance(each, Choice):
            choices.append(each)
        else:
            unanswered.append(each)
    brokers = {broker for c in choices for broker in c.paths}
    brokers |= {broker for c in choices for broker in c.lacking}
    brokers |= {broker for each in unanswered for broker in each.brokers if broker >= 0}
    brokers |= {broker for each in basis.files_first for broker in each.brokers}
    brokers |= {broker for each in basis.deleted for broker in each.brokers}
    brokers |= basis.idle_brokers
    absent = {broker for c in choices for broker in c.not_supplied}
    lost = {broker for c in choices for broker in c.unseen_in_sync}
    if len(brokers) == 1 and not (absent and absent <= lost):
        # nothing to compare, and other brokers may have copies: only its start can be predicted
        choices = [replace(c, others=c.set_aside, is_forced=False) for c in choices]
        absent = set()
    order = start_order(choices, brokers | absent)
    replaced = {each.choice.name for each in order.replaced}
    choices = [
        replace(c, lost=c.lost_with_copies, apart=(), damaged=()) if c.name in replaced else c
        for c in choices
    ]
    return Plan(
        **{each.name: getattr(basis, each.name) for each in fields(PlanBasis)},
        brokers=tuple(sorted(brokers)),
        choices=tuple(choices),
        unanswered=tuple(unanswered),
        order=order,
    )
