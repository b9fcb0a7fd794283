"""A plan as one JSON object, under stable names; ``docs/plan.md`` describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.report.partition_json import lost_object
from kafkalog_reader.report.plan_steps import plan_steps
from kafkalog_reader.report.way_out import way_out_commands

if TYPE_CHECKING:
    from kafkalog_reader.audits.plan.choice import Choice, LostRecords
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.start_loss import StartLoss
    from kafkalog_reader.report.plan_step import PlanStep

PLAN_SCHEMA_VERSION: Final = 1
"""Incremented when a name is removed or changes its meaning, but not for new names."""


def plan_object(plan: Plan) -> dict[str, Any]:
    """The object; offset ranges are half-open."""
    return {
        "schemaVersion": PLAN_SCHEMA_VERSION,
        "nothingToDo": plan.is_clean,
        "brokers": list(plan.brokers),
        "lost": lost_object(plan.lost),
        "lostAlready": [
            {
                "topic": each.topic,
                "partition": each.partition,
                "firstOffset": each.first_offset,
                "nextOffset": each.next_offset,
                "isCommitted": each.is_committed,
                "mayBeElsewhere": each.may_be_elsewhere,
            }
            for each in plan.lost_already
        ],
        "deleted": [
            {
                "topic": each.topic,
                "partition": each.partition,
                "markedOn": list(each.marked_on),
                "liveOn": list(each.live_on),
            }
            for each in plan.deleted
        ],
        "startOrder": [list(start.brokers) for start in plan.order.starts],
        "replacedCopies": [
            {
                "topic": each.choice.topic,
                "partition": each.choice.partition,
                "brokerId": each.broker_id,
                "byBrokerId": each.choice.leader,
            }
            for each in plan.order.replaced
        ],
        "partitions": [_choice(each) for each in plan.choices],
        "unanswered": [
            {
                "partition": each.name,
                "reason": each.reason,
                "outcome": None if each.failure is None else each.failure.value,
                "commands": list(way_out_commands(plan, each)),
            }
            for each in plan.unanswered
        ],
        "findings": [
            {
                "partition": each.name if each.log_directory is None else None,
                "logDirectory": each.log_directory,
                "code": each.code,
                "severity": each.severity,
                "message": each.placed_message,
            }
            for each in plan.open_findings
        ],
        "before": [
            {
                "text": each.text,
                "partitions": list(each.partitions),
                "commands": list(each.commands),
                "codes": list(each.codes),
            }
            for each in plan.first_acts
        ],
        "steps": [_step(number, step) for number, step in enumerate(plan_steps(plan), 1)],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "topic": choice.topic,
        "partition": choice.partition,
        "leader": choice.leader,
        "mayLead": sorted(choice.equals),
        "mustNotLead": sorted(choice.others),
        "electable": None if choice.electable is None else sorted(choice.electable),
        "personMustChoose": choice.is_forced,
        "silentDivergence": list(choice.apart),
        "notSupplied": list(choice.not_supplied),
        "withoutFolder": list(choice.lacking),
        "inSyncNotSupplied": list(choice.unseen.brokers if choice.unseen else ()),
        "lost": lost_object(choice.lost_records),
        "lostRanges": [_lost(each) for each in choice.lost],
        "alternatives": [
            {
                "leader": each.broker_id,
                "lost": lost_object(each.lost),
                "neverInSync": list(each.never_in_sync),
            }
            for each in choice.alternatives
        ],
        "starts": [_start_loss(each) for each in choice.start_losses],
        "retentionIfStartedLater": list(choice.expiring_later),
    }


def _lost(lost: LostRecords) -> dict[str, Any]:
    return {
        "brokers": list(lost.brokers),
        "firstOffset": lost.first_offset,
        "nextOffset": lost.next_offset,
        "records": lost_object(lost.records),
    }


def _start_loss(loss: StartLoss) -> dict[str, Any]:
    return {
        "brokerId": loss.broker_id,
        "outcome": loss.outcome.value,
        "firstOffset": loss.first_offset,
        "nextOffset": loss.next_offset,
        "records": loss.records,
        "maxInDamagedBatches": loss.max_in_damaged_batches,
        "maxInTornBatch": loss.max_in_torn_batch,
        "sizeInBytes": loss.size_in_bytes,
        "reason": loss.reason or None,
    }


def _step(number: int, step: PlanStep) -> dict[str, Any]:
    election = step.election
    return {
        "step": number,
        "kind": step.kind.value,
        "title": step.title,
        "texts": list(step.texts),
        "brokers": list(step.brokers),
        "commands": list(step.commands),
        "checks": [
            {"command": check.command, "expected": list(check.expected)} for check in step.checks
        ],
        "election": None
        if election is None
        else {
            "type": election.kind,
            "file": election.file,
            "partitions": [
                {"topic": each.topic, "partition": each.partition} for each in election.partitions
            ],
            "commands": list(election.commands),
        },
        "reassignment": None
        if step.reassignment is None
        else {
            "file": step.reassignment.file,
            "partitions": step.reassignment.partitions,
        },
        "files": [{"path": each.path, "content": each.content} for each in step.files],
        "lost": [
            {"topic": choice.topic, "partition": choice.partition, **_lost(lost)}
            for choice, lost in step.lost
        ],
    }
