"""What the commands say of evidence, as statements that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects, says_sound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COMMANDS: Final = {"verify": verify_command, "replica-diff": replica_diff, "plan": plan_command}
Copy = tuple[str, int, int]
"""Topic, partition, broker."""


class Lost(NamedTuple):
    """Records that an election loses: how many, and of these the committed ones, at least and most.

    The greatest number includes records that were committed only if an election was unclean, and
    those in damaged batches.
    """

    records: int
    committed: int
    most_committed: int


class Found(NamedTuple):
    """A finding, as far as it does not depend on the wording."""

    code: str
    severity: str
    copy: tuple[str | None, int | None, int | None]
    log_directory: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Statements about the same evidence.

    Attributes:
        statuses: exit statuses by command.
        texts: what ``verify``, ``replica-diff`` and ``plan`` print.
        elections: by candidate, what its followers and it lack afterwards.
        leaders: the copies that the plan lets lead.
        waiting: the copies that must not lead, by the plan.
        promised: the sum of what the plan loses; None without a plan.
        found: findings of ``verify``.
        cut: by copy, how many records its next start takes.
    """

    statuses: Mapping[str, int]
    texts: Mapping[str, str]
    elections: Mapping[Copy, Lost]
    leaders: frozenset[Copy]
    waiting: frozenset[Copy]
    promised: Lost | None
    found: frozenset[Found]
    cut: Mapping[Copy, int]

    @property
    def sound(self) -> Iterator[str]:
        """The commands that call everything sound."""
        for name in ("verify", "replica-diff"):
            if says_sound(" ".join(self.texts[name].split("\n\n")[0].split())):
                yield name


def said_of(path: str) -> Said:
    """Ask all commands."""
    statuses, texts = {}, {}
    for name, command in COMMANDS.items():
        statuses[name], texts[name] = asked(command, path)
    rows, documents, plans = (
        objects(asked(command, path, "--format", "json")[1]) for command in COMMANDS.values()
    )
    plan = plans[0] if plans else None
    chosen = [] if plan is None else plan["partitions"]
    return Said(
        statuses=statuses,
        texts=texts,
        elections={
            (of["topic"], of["partition"], each["candidateBrokerId"]): _lost(each)
            for of in documents
            for each in of["elections"]
            if each["candidateBrokerId"] is not None
        },
        leaders=frozenset((each["topic"], each["partition"], each["leader"]) for each in chosen),
        waiting=frozenset(
            (each["topic"], each["partition"], broker)
            for each in chosen
            for broker in each["mustNotLead"]
        ),
        promised=None if plan is None else _lost(plan["lost"]),
        found=frozenset(
            Found(
                each["code"],
                each["severity"],
                (each["topic"], each["partition"], each["brokerId"]),
                each["logDirectory"],
            )
            for each in rows
        ),
        cut={
            (of["topic"], of["partition"], each["brokerId"]): each["start"]["recordsCut"]
            for of in documents
            for each in of["replicas"]
            if each["start"] and each["start"]["recordsCut"]
        },
    )


def _lost(each: Mapping[str, Any]) -> Lost:
    ranges = [*each.get("lostRanges", ()), *each.get("keptApartRanges", ())] or [each]
    total = [sum(part[name] for part in ranges) for name in _COUNTS]
    records, known, possible, only_if_unclean, damaged = total
    return Lost(records, known, known + possible + only_if_unclean + damaged)


_COUNTS: Final = (
    "lostRecords",
    "lostCommittedRecords",
    "lostPossiblyCommittedRecords",
    "lostCommittedOnlyIfUnclean",
    "maxLostInDamagedBatches",
)
