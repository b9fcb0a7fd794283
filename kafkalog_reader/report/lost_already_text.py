"""What a plan says is lost before any start."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.without_copy import several_names
from kafkalog_reader.format.layout import utc_text
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import partitions_text, several_text
from kafkalog_reader.report.spans import offsets_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.lost_already import LostAlready
    from kafkalog_reader.audits.plan.plan import Plan


def lost_already_text(plan: Plan) -> str:
    """What is lost before any start; empty if nothing is known to be."""
    whole = [each for each in plan.lost_already if each.is_whole and not each.may_be_elsewhere]
    lost = [each for each in plan.lost_already if not each.is_whole]
    zeros = _lost_to_zeros([each for each in plan.choices if each.zeros_at_end])
    texts = _lost_whole(whole), _not_here(plan), _lost_ranges(lost), zeros
    return " ".join(filter(None, texts))


_UNKNOWN: Final = "Nothing shows how many, but groups may have committed more (kafkalog groups)."


def went_back_texts(plan: Plan) -> Iterator[str]:
    """Brokers that were restored from an older state, and what only they had."""
    old = {*plan.went_back}
    together = [
        c for c in plan.choices if len(c.paths) > 1 and {*c.paths} <= old and not c.not_supplied
    ]
    for broker, why in plan.went_back.items():
        text = f"Broker {broker} went back in time: {why}."
        alone = [
            c for c in plan.choices if [*c.paths] == [broker] or c.electable == frozenset({broker})
        ]
        alone = [each for each in alone if each not in together]
        led = [
            c for c in plan.choices if c.led_by == broker and c not in alone and c not in together
        ]
        if alone:
            text += (
                f" Only it surely had every committed record of {_named(alone)}: the newest may be "
                f"lost. {_UNKNOWN}"
            )
        if led:
            text += (
                f" It led {_named(led)}: records there that no follower had copied yet (acks=1) "
                "are lost, too."
            )
        yield text
    if together:
        yield (
            f"Every copy of {_named(together)} is of a broker that went back in time: the newest "
            f"records are lost, unless there are newer copies of these disks. {_UNKNOWN}"
        )


def older_disk_texts(plan: Plan) -> Iterator[str]:
    """Brokers that may have been restored, and what only they had; nothing shows whether."""
    for broker, disk in plan.older_disks.items():
        alone = [each for each in plan.choices if [*each.paths] == [broker]]
        if alone:
            yield (
                f"The newest record on broker {broker} is of {utc_text(disk.newest)}; the others "
                f"have records of {utc_text(disk.newest_of_others)}. Unless broker {broker} was "
                f"down in between, its disk is an old copy, and what {_named(alone)} got since "
                "then is lost, as is what no other broker had of other partitions."
            )


def _named(choices: Sequence[Choice]) -> str:
    return partitions_text([shown(each.name) for each in choices])


def _lost_whole(lost: Sequence[LostAlready]) -> str:
    if not lost:
        return ""
    first = lost[0]
    which = several_text([each.name for each in lost]) if len(lost) > 1 else first.name
    if len(lost) == 1 and first.next_offset is not None:
        which += f" ({offsets_text(first.first_offset, first.next_offset)} were committed)"
    return shown(f"Lost already, whatever starts: all of {which}, of which no copy was supplied.")


def _not_here(plan: Plan) -> str:
    names = not_here_names(plan)
    if not names:
        return ""
    return (
        f"No copy of {names} was supplied: unless a disk that was not supplied has one, all "
        "records there are lost."
    )


def not_here_names(plan: Plan) -> str:
    """Partitions of which only disks may have copies that were not supplied; empty if none."""
    found = [(e.topic, e.partition) for e in plan.lost_already if e.is_whole and e.may_be_elsewhere]
    return several_names(found) if found else ""


def _lost_ranges(lost: Sequence[LostAlready]) -> str:
    if not lost:
        return ""
    count = sum(each.max_records for each in lost)
    known = sum(each.max_records for each in lost if each.is_committed)
    committed = (
        "" if not known else ", all committed" if known == count else f", {known:,} committed"
    )
    names = [*dict.fromkeys(each.name for each in lost)]
    where = f"{names[0]} {_offsets(lost)}" if len(names) == 1 else several_text(names)
    already = "Lost already, whatever starts"
    if all(each.may_be_elsewhere for each in lost):
        already = "Lost already, unless a copy that was not supplied has them"
    if any(each.is_end for each in lost):
        return shown(
            f"{already}: {records_text(count)} known{committed} ({where}), "
            "and more may have come after them; no supplied copy holds any of it."
        )
    return shown(
        f"{already}: up to {records_text(count)}{committed} ({where}), which "
        "no supplied copy holds."
    )


def _lost_to_zeros(choices: Sequence[Choice]) -> str:
    """What a power loss leaves of data that was not flushed: zeros, in files of the old size.

    They prove no loss: a file can have been extended before any record was written there.
    """
    if not choices:
        return ""
    size = sum(each.zeros_at_end for each in choices)
    return (
        f"Records may have stood in the {size:,} zero bytes that end the log of "
        f"{_named(choices)}: whether any did, and whether they were committed, is unknown."
    )


def _offsets(lost: Sequence[LostAlready]) -> str:
    """The offsets of one partition in one range, if there is no other offset between them."""
    first, last = lost[0], lost[-1]
    assert last.next_offset is not None
    is_one = all(one.next_offset == other.first_offset for one, other in pairwise(lost))
    between = offsets_text(first.first_offset, last.next_offset)
    return between if is_one else f"{between}, not all of them"
