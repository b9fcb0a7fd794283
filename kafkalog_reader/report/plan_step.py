"""One step of a plan: what to do, by which commands, and what must be seen before going on."""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.repair_text import write_command
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import listed, offsets_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.plan.choice import Choice, LostRecords
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.unanswered import PlacedCopy

BROKERS: Final = "HOST:9092"
SAVED: Final = "SAVED/plan"
"""Not the folder of the commands that ``replica-diff`` prints: both may be run."""
ON_ITS_HOST: Final = "Run this on its host, with the path of the log directory there."


class StepKind(Enum):
    """The kind of a step."""

    SAVE = "save"
    RESTORE_DIRECTORY = "restoreLogDirectory"
    QUORUM = "orderControllers"
    CONTROLLERS = "startControllers"
    ZOOKEEPER = "startZooKeeper"
    MOVE_ASIDE = "moveAside"
    RENAME = "renameSegments"
    PUT_RIGHT = "putFilesRight"
    REPLACE = "replaceCopy"
    WRITE_FILE = "writeFile"
    START = "startBrokers"
    PREFERRED = "electPreferred"
    REMOVE = "removeReplicas"
    ADD = "addReplicas"
    UNFREEZE = "restoreConfiguration"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionCall:
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
            write_command([self.document], self.file),
            f"kafka-leader-election.sh --bootstrap-server {BROKERS} "
            f"--election-type {self.kind} --path-to-json-file {self.file}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassignment:
    """One call of ``kafka-reassign-partitions.sh``.

    Attributes:
        file: the file that names the partitions.
        assignments: partitions, each with the brokers of its new assignment, the preferred leader
            first.
    """

    file: str
    assignments: tuple[tuple[Choice, tuple[int, ...]], ...]

    @property
    def partitions(self) -> list[dict[str, Any]]:
        """The partitions as the tool reads them."""
        return [
            {"topic": c.topic, "partition": c.partition, "replicas": list(replicas)}
            for c, replicas in self.assignments
        ]

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that write the file and start the reassignment."""
        document = json.dumps({"version": 1, "partitions": self.partitions})
        return (write_command([document], self.file), f"{self._command} --execute")

    @property
    def check(self) -> Check:
        """The command that shows whether it is done."""
        return Check(
            command=f"{self._command} --verify",
            expected=tuple(
                f"Reassignment of partition {shown(c.name)} is completed."
                for c, _ in self.assignments
            ),
        )

    @property
    def _command(self) -> str:
        return (
            f"kafka-reassign-partitions.sh --bootstrap-server {BROKERS} "
            f"--reassignment-json-file {self.file}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBody:
    """A small text file of a stopped broker, whole."""

    path: str
    lines: tuple[str, ...]

    @property
    def content(self) -> str:
        """Its text, each line ended."""
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A command, and what its output must be."""

    command: str
    expected: tuple[str, ...]


IN_SYNC: Final = Check(
    command=(
        f"kafka-topics.sh --bootstrap-server {BROKERS} --describe --under-replicated-partitions"
    ),
    expected=("nothing: every copy is in sync",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One step.

    Attributes:
        kind: what it is.
        title: one line.
        texts: further explanations.
        commands: to be pasted; words in capitals must be replaced.
        is_destructive: whether records, or a copy, are lost.
        brokers: those that start, or whose files change.
        checks: to do before the next step.
        election: to hold after the checks if they show no leader.
        reassignment: the one that ``commands`` start.
        files: those that ``commands`` write.
        lost: the ranges that the step loses.
    """

    kind: StepKind
    title: str
    texts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    is_destructive: bool = False
    brokers: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    election: ElectionCall | None = None
    reassignment: Reassignment | None = None
    files: tuple[FileBody, ...] = ()
    lost: tuple[tuple[Choice, LostRecords], ...] = ()


def brokers_text(brokers: Sequence[int], word: str = "broker") -> str:
    """``broker 1``, ``brokers 1, 2 and 3``."""
    return f"{word}{'s' if len(brokers) > 1 else ''} {listed([str(each) for each in brokers])}"


def counted(number: int, one: str, several: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{number:,} {one if number == 1 else several}"


def lost_text(choice: Choice, lost: LostRecords) -> str:
    """Which records, where, and whether they were committed."""
    where = offsets_text(lost.first_offset, lost.next_offset)
    return (
        f"{shown(choice.name)}: {where} on {brokers_text(lost.brokers)}: {lost_words(lost.records)}"
    )


def inputs_text(plan: Plan) -> str:
    """The paths that the user gave, as arguments of a command."""
    return " ".join(map(shell_word, plan.paths)) + (" --follow-links" if plan.follow_links else "")


def merged_folder(choice: Choice) -> str:
    """Where the merged log of a partition is written."""
    return f"{SAVED}/{choice.name}-merged"


def merge_command(plan: Plan, choice: Choice) -> str:
    """Makes one sound log of several damaged copies."""
    inputs = inputs_text(plan)
    if choice.merge is not None and choice.merge.left_out:
        merged = (path for path in choice.paths.values() if path not in choice.merge.left_out)
        roots = dict.fromkeys(posixpath.dirname(path.rstrip("/")) or "." for path in merged)
        inputs = " ".join(map(shell_word, roots)) + (" --follow-links" if plan.follow_links else "")
    return (
        f"kafkalog salvage {inputs} --topic {shell_word(choice.topic)} "
        f"--partition {choice.partition} --merge --as-segments "
        f"--no-instructions --output {shell_word(merged_folder(choice))}"
    )


def salvage_command(
    plan: Plan, choice: Choice | PlacedCopy, broker: int, first_offset: int | None = None
) -> str:
    """Saves what one copy has, from an offset on."""
    start = "" if first_offset is None else f"--from-offset {first_offset} "
    folder = f"{SAVED}/{choice.topic}-{choice.partition}-broker-{broker}"
    return (
        f"kafkalog salvage {inputs_text(plan)} --topic {shell_word(choice.topic)} "
        f"--partition {choice.partition} --replica broker:{broker} {start}"
        f"--output {shell_word(folder)}"
    )
