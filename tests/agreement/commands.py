"""Runs all commands on the same evidence and finds contradictions between their answers."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from click.testing import CliRunner

from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, status
from kafkalog_reader.cli.salvage import salvage_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from tests.agreement.moved_copies import wrongly_moved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import click

SEVERE: Final = "CH"
HIGH_WATERMARK_ABOVE_END: Final = "KL-304"
SET_ASIDE: Final = "KL-417"

_FREEZE: Final = "unclean.leader.election.enable=false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of five commands about the same evidence.

    Attributes:
        verify, replica_diff, salvage, plan: exit statuses.
        first_lines: of the output of `verify` and of `replica-diff`.
        found, compared: (code, severity) of the findings of `verify` and of `replica-diff`.
        records_cut: sum over all replicas in the table `recoveries`; None: not predicted.
        is_complete, has_lost_offsets: by the manifest of `salvage`.
        planned: (code, severity) of the open findings of `plan`.
        has_steps: whether `plan` has steps.
        is_node_unknown: whether `plan` cannot name a broker, because its node id is unknown.
        is_committed_gone: whether `verify` finds a high watermark above the end of every copy.
        is_lost_already: whether `plan` names records that no supplied copy holds.
        moved: copies that advice moves aside and needs.
    """

    verify: int
    replica_diff: int
    salvage: int
    plan: int
    first_lines: tuple[str, str]
    found: frozenset[tuple[str, str]]
    compared: frozenset[tuple[str, str]]
    records_cut: int | None
    is_complete: bool
    has_lost_offsets: bool
    is_committed_gone: bool
    planned: frozenset[tuple[str, str]]
    has_steps: bool
    lacks_voters: bool
    is_freeze_left_out: bool
    is_node_unknown: bool
    is_lost_already: bool
    moved: tuple[str, ...]


def answers(paths: Sequence[str], output: Path) -> Answers:
    """Run all commands; ``output`` must not exist yet."""
    verify_status, verify_text = asked(verify_command, *paths)
    _, verify_rows = asked(verify_command, *paths, "--format", "json")
    diff_status, diff_text = asked(replica_diff, *paths)
    _, diff_rows = asked(replica_diff, *paths, "--format", "json")
    salvage_status, _ = asked(salvage_command, *paths, "--output", str(output))
    plan_status, plan_text = asked(plan_command, *paths)
    _, plan_document = asked(plan_command, *paths, "--format", "json")
    asked(plan_command, *paths, "--format", "script")
    written = manifest(output)
    rows, documents = objects(verify_rows), objects(diff_rows)
    (plan,) = objects(plan_document) or [
        {"findings": [], "steps": [], "unanswered": [], "partitions": [], "lostAlready": []}
    ]
    ends = {(each["topic"], each["partition"]): each["logEndOffset"] for each in documents}
    return Answers(
        verify=verify_status,
        replica_diff=diff_status,
        salvage=salvage_status,
        plan=plan_status,
        first_lines=(_headline(verify_text), _headline(diff_text)),
        found=frozenset((row["code"], row["severity"]) for row in rows),
        compared=frozenset(
            (each["code"], each["severity"]) for row in documents for each in row["findings"]
        ),
        records_cut=_records_cut(paths, rows),
        planned=frozenset((each["code"], each["severity"]) for each in plan["findings"]),
        has_steps=bool(plan["steps"]),
        lacks_voters="NO QUORUM" in plan_text,
        is_freeze_left_out=(
            _FREEZE in f"{verify_text}{diff_text}"
            and len(plan.get("startOrder", ())) > 1
            and _FREEZE not in plan_text
        ),
        is_node_unknown=any("node id of" in each["reason"] for each in plan["unanswered"]),
        is_lost_already=bool(plan["lostAlready"]),
        moved=tuple(wrongly_moved(rows, documents, plan, (verify_text, diff_text, plan_text))),
        is_complete=written.get("isComplete", False),
        has_lost_offsets=any(each["lostOffsets"] for each in written.get("partitions", ())),
        is_committed_gone=any(
            row["code"] == HIGH_WATERMARK_ABOVE_END
            and row["severity"] == "C"
            and row["nextOffset"] > ends[row["topic"], row["partition"]]
            for row in rows
        ),
    )


def replica_diff_text(*paths: str) -> str:
    """The output of `replica-diff` for the topic of a capture."""
    return asked(replica_diff, *paths, "--topic", "t")[1]


def replica_diff_documents(*paths: str) -> list[dict[str, Any]]:
    """The JSON output of `replica-diff`, one document per partition."""
    return objects(asked(replica_diff, *paths, "--format", "json")[1])


def replica_diff_json(*paths: str) -> list[dict[str, Any]]:
    """The JSON output of `replica-diff` for the topic of a capture, one document per partition."""
    return objects(asked(replica_diff, *paths, "--topic", "t", "--format", "json")[1])


def plan_text(*paths: str) -> str:
    """The output of `plan`."""
    return asked(plan_command, *paths)[1]


def contradictions(said: Answers) -> Iterator[str]:
    """Yield the contradictions between the answers."""
    verify_line, diff_line = said.first_lines
    if said.verify != said.replica_diff:
        yield f"verify ends with {said.verify}, replica-diff with {said.replica_diff}"
    yield from _of_plan(said)
    yield from said.moved
    for name, line, ended, found in (
        ("verify", verify_line, said.verify, said.found),
        ("replica-diff", diff_line, said.replica_diff, said.compared),
    ):
        worst = sorted(code for code, severity in found if severity in SEVERE)
        if worst and ended == CLEAN:
            yield f"{name} names {', '.join(worst)} and ends with 0"
        if says_sound(line) and (ended != CLEAN or worst):
            yield f"{name} says sound and ends with {ended}: {', '.join(worst)}"
        if said.records_cut and (says_sound(line) or ended == CLEAN):
            yield f"{name} says sound, and the next start cuts {said.records_cut:,} records"
    if verify_line.startswith("damaged") != says_damaged(diff_line):
        yield f"one of verify and replica-diff says damaged: {verify_line}; {diff_line}"
    if says_sound(verify_line) and said.replica_diff == FOUND:
        yield f"verify says sound, replica-diff finds {sorted(said.compared)}"
    if said.records_cut and said.plan == CLEAN:
        yield f"plan finds nothing lost, and the next start cuts {said.records_cut:,} records"
    if said.has_lost_offsets and said.verify == CLEAN:
        yield "salvage says that offsets are lost, verify ends with 0"
    if said.is_committed_gone and said.salvage == CLEAN:
        yield "salvage ends with 0 where committed records are gone"
    if said.is_committed_gone and not said.is_lost_already:
        yield "plan does not say that committed records are lost already"
    if said.is_lost_already and said.verify == CLEAN:
        yield "plan says that records are lost already, verify ends with 0"
    if said.is_lost_already and said.is_complete:
        yield "plan says that records are lost already, and salvage is complete"
    if said.is_committed_gone and said.is_complete:
        yield "salvage is complete where committed records are gone"


def _of_plan(said: Answers) -> Iterator[str]:
    """Yield contradictions between `plan` and the other commands; voters may run elsewhere."""
    is_more = said.plan == FOUND and said.lacks_voters
    is_unable = said.plan == TROUBLE and said.is_node_unknown
    if said.is_freeze_left_out:
        yield "unclean elections are to be forbidden, and no step of the plan does it"
    if said.plan != said.verify and not (said.verify == CLEAN and (is_more or is_unable)):
        yield f"plan ends with {said.plan}, verify with {said.verify}"
    severe = {each for each in said.found if each[1] in SEVERE}
    if invented := said.planned - severe:
        yield f"only plan finds {sorted(invented)}"
    if not said.has_steps and (silent := severe - said.planned):
        yield f"plan has no steps, and does not say {sorted(silent)}"
    if compared := {each for each in said.compared if each[1] in SEVERE} - severe:
        yield f"only replica-diff finds {sorted(compared)}"


def says_sound(line: str) -> bool:
    """Whether a first line calls everything sound; it may say so of a part among others."""
    words = line.replace("1 sound (__cluster_metadata-0)", "").lower()
    others = re.sub(r"[\d,]+ sound with one copy supplied", "", words)
    if others.rpartition(":")[2].strip(" ,"):
        words = others
    if any(each in words for each in ("not sound", "not safe", "damaged")):
        return False
    return "sound" in words.replace(":", " ").replace(",", " ").split()


def says_damaged(line: str) -> bool:
    """Whether the first lines of `replica-diff` call a partition damaged, as `verify` would."""
    return re.search(r"(: |, |\d )damaged", line.partition(" KL-")[0], re.IGNORECASE) is not None


def asked(command: click.Command, *arguments: str) -> tuple[int, str]:
    """Run a command in this process; errors become its exit status, as in a process of its own."""
    ended: list[int] = []

    def run() -> None:
        ended.append(status(command, arguments))

    with CliRunner().isolation() as (output, _, _):
        run()
        text = output.getvalue().decode()
    assert ended[0] in (CLEAN, FOUND, TROUBLE), (arguments, text)
    assert "unexpected " not in text, text
    return ended[0], text


def manifest(output: Path) -> dict[str, Any]:
    """The manifest that `salvage` wrote; empty if it refused."""
    path = output / "manifest.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _headline(text: str) -> str:
    """The first paragraph in one line."""
    return " ".join(text.split("\n\n")[0].split())


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def recoveries(*paths: str) -> list[dict[str, Any]]:
    """The rows of the table.

    Raises:
        LocatedError: a start cannot be predicted.
    """
    of_starts = table("recoveries")
    asked = request(of_starts, mode="DROPMALFORMED")
    logging.getLogger("kafkalog_reader").disabled = True
    try:
        return [
            row
            for unit in of_starts.units(discover(paths), asked)
            for batch in of_starts.read(unit, asked)
            for row in batch.to_pylist()
        ]
    finally:
        logging.getLogger("kafkalog_reader").disabled = False


def _records_cut(paths: Sequence[str], found: Sequence[dict[str, Any]]) -> int | None:
    """Records that the next starts take, without copies of deleted topics and left-over ones."""
    harmless = {
        (each["brokerId"], each["topic"], each["partition"])
        for each in found
        if each["code"] == SET_ASIDE and each["severity"] == "I"
    }
    try:
        return sum(
            row["recordsCut"] or 0
            for row in recoveries(*paths)
            if row["outcome"] != "stray"
            or (row["brokerId"], row["topic"], row["partition"]) not in harmless
        )
    except LocatedError:
        return None
