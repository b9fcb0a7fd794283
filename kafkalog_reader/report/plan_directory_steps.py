"""Steps for log directories that are lost, missing or empty: restore, format, or start last."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.file_repair import Format
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import several_text
from kafkalog_reader.report.plan_step import IN_SYNC, PlanStep, StepKind, brokers_text
from kafkalog_reader.report.repair_text import repair_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan


def directory_steps(plan: Plan) -> Iterator[PlanStep]:
    """What a node needs before it can start without a log directory that it had."""
    for repairs, missing in groupby(plan.missing_directories, key=lambda each: each.repairs):
        found = [*missing]
        nodes = [each.node for each in repairs if isinstance(each, Format)]
        which = "log directory" if len(found) == 1 else "log directories"
        is_one = len(found) == 1
        it, they, was = ("it", "it", "was") if is_one else ("them", "they", "were")
        yield PlanStep(
            kind=StepKind.RESTORE_DIRECTORY,
            title=f"Put the missing {which} of {brokers_text(nodes)} back, or format the new disk",
            texts=(
                *(shown(f"{each.message[0].upper()}{each.message[1:]}.") for each in found),
                f"As long as log.dirs names {it}, {brokers_text(nodes)} does not start without "
                f"{it}, not even as a controller. If {they} can be read or {was} only not "
                f"supplied, mount and supply {it}, and make this plan again. If the disk is lost, "
                "run this on the broker's host once the new one is mounted, or take "
                f"{it} out of log.dirs. The other log "
                "directories stay as they are. A controller without controller.quorum.voters also "
                "takes --no-initial-controllers.",
            ),
            commands=tuple(repair_commands(repairs)),
            brokers=tuple(nodes),
        )


def lost_disk_steps(plan: Plan) -> Iterator[PlanStep]:
    """An empty log directory for each broker that nothing is left of: KRaft starts none without."""
    if plan.has_zookeeper:
        return
    asked: dict[tuple[str, int], list[str]] = defaultdict(list)
    absent = {broker for start in plan.order.starts for broker in start.brokers}
    absent -= {*plan.brokers}
    for choice in plan.choices:
        for broker in choice.unseen_in_sync:
            if broker not in plan.brokers and choice.cluster_id is not None:
                asked[choice.cluster_id, broker].append(shown(choice.name))
        for broker in absent & {*choice.assigned}:
            if choice.cluster_id is not None:
                asked.setdefault((choice.cluster_id, broker), [])
    for (cluster_id, broker), names in sorted(asked.items()):
        alone = ""
        if names:
            which = names[0] if len(names) == 1 else several_text(names)
            alone = (
                f"The metadata log names broker {broker} in the ISR of {which}. If it started "
                "with an empty log directory before another broker leads, it could be elected, "
                "and the others would delete all their records. "
            )
        yield PlanStep(
            kind=StepKind.RESTORE_DIRECTORY,
            title=f"If the log directories of broker {broker} are lost for ever, format empty ones",
            texts=(
                f"{alone}A broker starts with a new disk only when it is formatted. Then it copies "
                "the records of the leaders.",
                "If one of its log directories is left, supply that one and make the plan again "
                "instead.",
            ),
            commands=tuple(repair_commands([Format(cluster_id=cluster_id, node=broker)])),
            brokers=(broker,),
        )


def empty_directory_step(plan: Plan) -> PlanStep:
    """The broker of an empty log directory, which ZooKeeper may still have in the ISR."""
    return PlanStep(
        kind=StepKind.START,
        title="Then start the broker whose log directory is empty",
        texts=(
            *(shown(f"{each.message[0].upper()}{each.message[1:]}.")
              for each in plan.empty_directories),
            "If its old disk can be read, mount it or copy it, and make this plan again. "
            "Otherwise every partition must have a leader before this start: the broker then "
            "copies the leader's records. A partition that has none has only this broker in sync: "
            "let another one lead it by an unclean election "
            "(kafka-leader-election.sh --election-type unclean).",
        ),
        checks=(IN_SYNC,),
    )  # fmt: skip
