"""What the commands and tables say of evidence, as statements that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.quorum import quorum_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.errors import LocatedError, LogLayoutError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from tests.agreement.commands import asked, objects, recoveries
from tests.less.parts import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMANDS: Final = {"verify": verify_command, "replica-diff": replica_diff, "plan": plan_command}
Copy = tuple[str, int, int]
"""Topic, partition, broker."""
Row = dict[str, Any]


class Claim(NamedTuple):
    """How many records of a range, on certain copies, were committed, and how certain that is.

    Attributes:
        brokers: with a copy of the range; None stands for one whose node id is unknown.
        uncommitted: were not, whatever happened.
    """

    topic: str
    partition: int
    brokers: frozenset[int | None]
    first_offset: int
    next_offset: int
    records: int
    known: int
    uncommitted: int


class Lost(NamedTuple):
    """Records that an election loses: how many, and of these the committed ones, at least and most.

    The greatest number includes records that were committed only if an election was unclean, and
    those in damaged batches.
    """

    records: int
    committed: int
    most_committed: int


@dataclass(frozen=True, kw_only=True)
class Said:
    """Statements about the same evidence.

    Attributes:
        statuses: exit statuses by command.
        texts: what ``verify``, ``replica-diff`` and ``plan`` print.
        found: rows of the table ``findings``.
        compared: documents of ``replica-diff``, with ``partitions`` and ``elections``.
        plan: the document; None without a plan.
        ranges: rows of the table ``divergence``.
        starts: rows of the table ``recoveries``; empty where a start cannot be predicted.
    """

    statuses: Mapping[str, int]
    texts: Mapping[str, str]
    found: Sequence[Row]
    compared: Sequence[Row]
    plan: Row | None
    ranges: Sequence[Row]
    starts: Sequence[Row]

    @cached_property
    def partitions(self) -> dict[tuple[str, int], Row]:
        """The documents of ``replica-diff`` by partition; of one that is there twice, neither."""
        names = [(each["topic"], each["partition"]) for each in self.compared]
        return {
            name: each
            for name, each in zip(names, self.compared, strict=True)
            if names.count(name) == 1
        }

    @cached_property
    def elections(self) -> dict[Copy, Lost]:
        """By candidate, what its followers and it lack afterwards."""
        return {
            (*name, each["candidateBrokerId"]): lost_of(each)
            for name, of in self.partitions.items()
            for each in of["elections"]
            if each["candidateBrokerId"] is not None
        }

    @cached_property
    def planned(self) -> dict[tuple[str, int], Row]:
        """What the plan says of each partition."""
        return {(e["topic"], e["partition"]): e for e in (self.plan or {}).get("partitions", ())}

    @cached_property
    def lost_already(self) -> dict[tuple[str, int], Row]:
        """Offsets that no supplied copy holds, by the plan."""
        return {(e["topic"], e["partition"]): e for e in (self.plan or {}).get("lostAlready", ())}

    @cached_property
    def cut(self) -> dict[Copy, Row]:
        """The next start of each copy."""
        copies = [(each["topic"], each["partition"], each["brokerId"]) for each in self.starts]
        return {
            copy: each
            for copy, each in zip(copies, self.starts, strict=True)
            if copies.count(copy) == 1
        }

    def claims(self) -> Iterator[Claim]:
        """What is said of the records of each range."""
        for each in self.ranges:
            if each["possiblyCommittedRecords"] is None or not each["records"]:
                continue
            known, possible, if_unclean = (each[name] or 0 for name in _OF_RANGE)
            yield Claim(
                each["topic"],
                each["partition"],
                frozenset(each["brokers"]),
                each["firstOffset"],
                each["nextOffset"],
                each["records"],
                known,
                each["records"] - known - possible - if_unclean,
            )


def said_of(path: str) -> Said:
    """Ask all commands."""
    statuses, texts = {}, {}
    for name, command in COMMANDS.items():
        statuses[name], texts[name] = asked(command, path)
    if any(Path(path).glob(f"**/{METADATA}")):
        statuses["quorum"], texts["quorum"] = asked(quorum_command, path)
    rows, documents, plans = (
        objects(asked(command, path, "--format", "json")[1]) for command in COMMANDS.values()
    )
    return Said(
        statuses=statuses,
        texts=texts,
        found=rows,
        compared=documents,
        plan=plans[0] if plans else None,
        ranges=_rows("divergence", path),
        starts=_starts(path),
    )


def _rows(name: str, path: str) -> list[Row]:
    shown = table(name)
    wanted = request(shown, mode="DROPMALFORMED")
    try:
        return [
            row
            for unit in shown.units(discover([path]), wanted)
            for batch in shown.read(unit, wanted)
            for row in batch.to_pylist()
        ]
    except LogLayoutError:  # nothing is left
        return []


def _starts(path: str) -> list[Row]:
    try:
        return recoveries(path)
    except (LocatedError, LogLayoutError):
        return []


def lost_of(each: Mapping[str, Any]) -> Lost:
    """The numbers of an election or a plan, with the records that stay apart."""
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
_OF_RANGE: Final = (
    "committedRecords",
    "possiblyCommittedRecords",
    "recordsCommittedOnlyIfUnclean",
)
