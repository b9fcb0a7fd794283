"""The JSON of a report, which a page carries; ``docs/schemas/report.schema.json`` describes it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import __version__
from kafkalog_reader.cli.report_findings import first_steps
from kafkalog_reader.report.html import UNWRAPPED
from kafkalog_reader.report.plan_json import plan_object
from kafkalog_reader.report.plan_steps import plan_steps
from kafkalog_reader.report.report_data import REPORT_SCHEMA_VERSION, json_text
from kafkalog_reader.report.spans import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.cli.report_partitions import Partitions
    from kafkalog_reader.cli.report_sections import Part

JSON: Final = 1_200_000
"""Bytes, compressed, of partitions in the JSON."""


@dataclass(slots=True, kw_only=True)
class Provenance:
    """What was read, and how.

    Attributes:
        command: the words of the command.
        directories: rows of log directories.
        files: rows of files.
        left_out: number of files that are not listed.
        changed: paths that changed while they were read.
        made_at: when, in ISO 8601.
        interrupted: how far the command came before Ctrl-C; empty if it ended.
    """

    command: Sequence[str]
    directories: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    changed: Sequence[str] = ()
    made_at: str = ""
    interrupted: str = ""


MAX_PLAN: Final = 4_000_000
"""Characters of the JSON of a plan."""


def plan_with_work(partitions: Partitions) -> Plan | None:
    """The plan of all partitions, if there is something to do before the brokers run."""
    plan = partitions.fleet.plan
    if plan is None or not (plan.has_work or plan.open_findings or plan.unanswered):
        return None
    return plan


def first_texts(partitions: Partitions) -> list[str]:
    """What comes before the first start, and the steps; else the actions of the worst finding."""
    plan = plan_with_work(partitions)
    if plan is not None and (texts := [each.text for each in plan.first_acts]):
        return texts
    if plan is not None and plan.has_work:
        return [each.title for each in plan_steps(plan)]
    severity, texts = first_steps(partitions.kinds)
    worst = partitions.worst
    if worst is not None and worst.actions and worst.severity == severity:
        return list(worst.actions)
    return texts


def document(
    partitions: Partitions, parts: Mapping[str, Part], provenance: Provenance, verdict: str
) -> bytes:
    """The JSON, compressed: partitions by name, the least severe left out if there are too many."""
    kept: list[tuple[tuple[str, str, int], bytes]] = []
    trial = zlib.compressobj(9, zlib.DEFLATED, 31)
    used = 0
    for place, packed in partitions.objects:
        used += len(trial.compress(zlib.decompress(packed)))
        if used > JSON:
            break
        kept.append((place, packed))
    left_out = len(partitions.objects) - len(kept) + partitions.objects.left_out
    beginning: dict[str, Any] = {
        "schemaVersion": REPORT_SCHEMA_VERSION,
        "kafkalogVersion": __version__,
        "verdict": verdict,
        "exitStatus": partitions.report.status,
        "summary": [plain(line) for line in partitions.fleet.summary_lines(UNWRAPPED)],
        "firstSteps": first_texts(partitions),
        "notKnown": [
            {"text": text, "partitions": count, "first": names}
            for text, (count, names) in partitions.unknown.items()
        ],
        "directoryFindings": partitions.directory_rows,
        "groups": parts["groups"].rows if "groups" in parts else [],
        "openTransactions": parts["transactions"].rows if "transactions" in parts else [],
        "timeline": parts["leadership"].rows if "leadership" in parts else [],
        "leftOut": {
            "partitions": left_out,
            "groups": parts["groups"].left_out if "groups" in parts else 0,
            "openTransactions": parts["transactions"].left_out if "transactions" in parts else 0,
            "timeline": parts["leadership"].left_out if "leadership" in parts else 0,
            "files": provenance.left_out,
            "notKnown": partitions.unknown_left_out,
        },
        "provenance": {
            "command": " ".join(provenance.command),
            "createdAt": provenance.made_at,
            "interrupted": provenance.interrupted or None,
            "logDirectories": provenance.directories,
            "changedWhileRead": list(provenance.changed),
            "files": provenance.files,
        },
    }
    plan = partitions.fleet.plan
    text = "null" if plan is None else json_text(plan_object(plan))
    beginning["leftOut"]["plan"] = int(len(text) > MAX_PLAN)
    text = "null" if len(text) > MAX_PLAN else text
    before = partitions.redacted(f'{json_text(beginning)[:-1]},"plan":{text}')
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [packer.compress(f'{before},"partitions":['.encode("utf-8", "replace"))]
    for number, (_, packed) in enumerate(sorted(kept)):
        text = partitions.redacted(zlib.decompress(packed).decode())
        pieces.append(
            packer.compress(f"{',' if number else ''}\n{text}".encode("utf-8", "replace"))
        )
    pieces += [packer.compress(b"]}\n"), packer.flush()]
    return b"".join(pieces)
