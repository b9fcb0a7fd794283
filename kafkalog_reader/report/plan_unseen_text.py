"""What brokers without a copy among the inputs may hold, as a plan says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.unseen import UnseenRole
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import several_text
from kafkalog_reader.report.plan_step import brokers_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.election.unseen import Unseen
    from kafkalog_reader.audits.plan.plan import Plan


def unseen_texts(plan: Plan) -> list[str]:
    """What brokers without a copy here may hold; partitions with the same brokers in one text."""
    names: dict[Unseen, list[str]] = {}
    for choice in plan.choices:
        if choice.unseen is not None:
            names.setdefault(choice.unseen, []).append(choice.name)
    texts = [
        shown(
            f"{of_same[0] if len(of_same) == 1 else several_text(of_same)}: "
            f"{_unseen_text(unseen, plan.brokers if plan.is_one_broker else ())}"
        )
        for unseen, of_same in names.items()
    ]
    if any(each.role is UnseenRole.ALL_IN_SYNC for each in names):
        of_these = {each for names_of in names.values() for each in names_of}
        is_known = any(each.name in of_these for each in plan.lost_already)
        texts.append(_if_lost_for_ever(is_one_broker=plan.is_one_broker, is_known=is_known))
    return texts


def _unseen_text(unseen: Unseen, alone: Sequence[int]) -> str:
    names = brokers_text(unseen.brokers)
    if unseen.role is UnseenRole.ALL_IN_SYNC:
        copy, it = "its copy is", "it"
        if len(unseen.brokers) > 1:
            copy, it = "their copies are", "one of them"
        return (
            f"only {names} surely had every committed record, and {copy} not here. Supply {it} "
            "first, unless a merged log that is here has replaced it."
        )
    if unseen.role is UnseenRole.LEADER:
        who = f"according to the metadata log {names} leads, and its copy was not supplied"
    else:
        verb = "is" if len(unseen.brokers) == 1 else "are"
        who = (
            f"according to the metadata log {names} {verb} in sync, and may hold what the copies "
            "here lack"
        )
    if alone:
        return (
            f"{who}. If {brokers_text(alone)} is elected before {names}, records that only {names} "
            f"{'has' if len(unseen.brokers) == 1 else 'have'} are lost."
        )
    return (
        f"{who}. What only it holds is unknown, and these steps would lose it: supply its copy and "
        "make the plan again. Follow these steps only where that copy is gone for good, or where a "
        "merged log that is here has taken its place."
    )


def _if_lost_for_ever(*, is_one_broker: bool, is_known: bool) -> str:
    if is_one_broker:
        return (
            "If such copies are lost for ever, make the plan with the log directories of all other "
            "brokers that are left."
        )
    how_much = ". Nothing shows how much that is"
    if is_known:
        how_much = ": at least what is called lost already above, and nothing shows how much more"
    return (
        "If such copies are lost for ever, follow the steps: an unclean election, and then an "
        f"empty log directory. What only they had is lost then{how_much}."
    )
