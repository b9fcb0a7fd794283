"""What to do first about incidents, and the commands for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.actions import (
    ACTIONS,
    DO_NOT_START,
    FORBID_UNCLEAN_ELECTION,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.partition.epoch_advice import EPOCH_FILES
from kafkalog_reader.audits.tables.findings import OF_ONE_COPY
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.report.advised_actions import without_folder
from kafkalog_reader.report.command_text import freeze_commands
from kafkalog_reader.report.repair_text import repair_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.cli.incident import Incident, IncidentKind

_NAMED: Final = 3
"""Maximum replicas that an action names."""
_UNTIL: Final = "`kafkalog plan` says what to do first"
"""Of several partitions: one by one, replica-diff says it."""


def first_actions(found: Iterable[Incident]) -> list[str]:
    """The first actions for the causes and the worst consequences, each once."""
    actions = (
        each.actions
        for one in found
        for each in one.members
        if (each is one.cause or each.severity == one.severity)
        # Which of several copies to move aside, only replica-diff shows.
        and (each.code in OF_ONE_COPY or each.actions[:1] != (MOVE_COPY_ASIDE,))
    )
    first = {each[0] for each in actions if each} - {NOTHING_TO_DO}
    return [action for action in ACTIONS if action in (first or {NOTHING_TO_DO})]


def commands_of(actions: Sequence[str], found: Sequence[Incident]) -> list[str]:
    """The commands that carry out these actions; those of others would seem to belong to them."""
    repairs = repair_commands(
        repair
        for one in found
        for each in one.members
        if each.actions and each.actions[0] in actions
        for repair in each.repairs
    )
    frozen: dict[str, bool] = {}
    for one in found if FORBID_UNCLEAN_ELECTION in actions else ():
        if one.topic is not None and any(_begins_with_freezing(each) for each in one.members):
            frozen.setdefault(one.topic, _has_zookeeper(one))
    freezing = (
        command
        for topic, has_zookeeper in frozen.items()
        for command in freeze_commands(topic, has_zookeeper=has_zookeeper)
    )
    return [*freezing, *repairs]


def _begins_with_freezing(each: Finding) -> bool:
    return each.actions[:1] == (FORBID_UNCLEAN_ELECTION,)


def _has_zookeeper(incident: Incident) -> bool:
    """Whether every log directory that the findings name is of a cluster with ZooKeeper."""
    versions = {
        each.directory.log_directory.meta_version
        for each in incident.members
        if each.directory is not None
    }
    return versions == {0}


def brokers_of(kind: IncidentKind, action: str) -> dict[str, Any]:
    """The brokers that an action is about, for its text; a log directory of one is that broker."""
    names = dict.fromkeys(
        name
        for incident in kind.incidents
        for each in incident.members
        if each.actions and each.actions[0] == action
        for name in _acted_on(each, action)
    )
    partitions = {(each.headline.topic, each.headline.partition) for each in kind.incidents}
    until = {"until": _UNTIL} if action == DO_NOT_START and len(partitions) > 1 else {}
    if not names:
        return {"where": "these brokers", "are_several": True} | until if until else {}
    whole = [each for each in names if each.rpartition(" (")[0] not in names]
    ordered = sorted(whole, key=lambda each: (len(each), each))
    where = joined(ordered) if len(ordered) <= _NAMED else "these brokers"
    return {"where": where, "are_several": len(ordered) > 1} | until


def _acted_on(each: Finding, action: str) -> list[str]:
    """The replicas that the action of a finding is about."""
    others = dict(each.evidence).get(EPOCH_FILES, "") if action == WRITE_EPOCHS else ""
    if others:
        return others.split(", ")
    return without_folder(each) if each.directory is None else [each.directory.replica_name]
