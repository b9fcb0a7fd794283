"""The law: less evidence makes answers weaker, never wrong, and never more reassuring.

What is said of less evidence must not be contradicted by what is said of all of it. Each kind of
statement has its relation here. Statements differ in what they are about:

- The past: which records were committed, and which are lost already. A file that is missing hides
  it, whatever file it is.
- The next start, and an election after it: a broker reads checkpoints, markers, epoch files and
  producer snapshots. Evidence without one is that of another disk, whose start may be another one.
- Copies that were supplied: which are equal, and what a leader among them loses. Without a copy the
  question is about the others, so that only what is said of the others is compared.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tests.less.parts import Kind
from tests.less.said import lost_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.less.parts import Part
    from tests.less.said import Said

NOTHING_LOST: Final = re.compile(r"(?<![a-z] )(Nothing|No whole record) is lost|no election loses")
NOTHING_CUT: Final = re.compile(r"removes nothing|no whole record|No start")
ANY_ORDER: Final = re.compile(r"in any order")
SUPPLIED: Final = "of what was supplied"
OTHERS_LAST: Final = "a broker that was not supplied starts last, once these lead"
NONE_COMMITTED: Final = re.compile(r"none committed(?! unless)")
SEVERE: Final = "CH"
METADATA_TOPIC: Final = "__cluster_metadata"
BETWEEN_COPIES: Final = "KL-5"
"""Codes from here on compare copies, or tell what follows from all of them together."""
COMPARES: Final = {
    Kind.EPOCHS: ("KL-515", "KL-526"),
    Kind.METADATA: ("KL-526",),
    Kind.METADATA_COPY: ("KL-526",),
}
"""Codes that name no file, because they say that two files contradict each other."""
IF_UNCLEAN: Final = "whether an election was unclean"
UNKNOWN: Final = ("undecidable", None)


def broken(full: Said, less: Said, taken: Sequence[Part]) -> Iterator[str]:
    """Yield how statements about less evidence contradict those about all of it.

    Args:
        full: said of all evidence.
        less: said without some parts of it.
        taken: these parts.
    """
    loses_copies = any(each.kind.is_replica for each in taken)
    full, less = _without_metadata(full, taken), _without_metadata(less, taken)
    is_other_disk = any(each.kind.is_read_by_starts for each in taken)
    yield from _of_records(full, less)
    yield from _of_high_watermarks(full, less, loses_copies=loses_copies)
    yield from _of_losses_so_far(full, less)
    yield from _of_findings(full, less)
    yield from _of_status(full, less, taken, loses_copies=loses_copies)
    if not loses_copies and not is_other_disk:
        yield from _of_verdicts(full, less)
    if not is_other_disk:
        yield from _of_starts(full, less)
        yield from _of_elections(full, less, loses_copies=loses_copies)
        yield from _of_plan(full, less, loses_copies=loses_copies)


def _without_metadata(said: Said, taken: Sequence[Part]) -> Said:
    """Without the partition that was taken away; it is a copy among others, as any partition."""
    if not any(each.kind.is_of_metadata for each in taken):
        return said
    return replace(
        said,
        found=[each for each in said.found if each["topic"] != METADATA_TOPIC],
        compared=[each for each in said.compared if each["topic"] != METADATA_TOPIC],
        ranges=[each for each in said.ranges if each["topic"] != METADATA_TOPIC],
    )


def _of_records(full: Said, less: Said) -> Iterator[str]:
    """Committed, or not, is never said of a record of which all evidence says the opposite."""
    for said in less.claims():
        for true in full.claims():
            if (
                (said.topic, said.partition) == (true.topic, true.partition)
                and said.brokers & true.brokers - {None}
                and true.first_offset <= said.first_offset
                and said.next_offset <= true.next_offset
            ):
                if said.records > true.records:
                    continue  # the cleaner has removed some from the other copy
                if said.known > true.known:
                    yield f"{_range(said)}: {said.known} committed, not {true.known}"
                if said.uncommitted > true.uncommitted:
                    yield f"{_range(said)}: {said.uncommitted} uncommitted, not {true.uncommitted}"


def _range(of: Any) -> str:
    return f"{of.topic}-{of.partition} on {sorted(of.brokers)} {of.first_offset}:{of.next_offset}"


def _of_high_watermarks(full: Said, less: Said, *, loses_copies: bool) -> Iterator[str]:
    """The interval of all evidence is inside that of less; without a copy, the two overlap.

    ``highWatermarkHigh`` is about the records of the supplied copies: without the longest one it
    may be below what was committed. And it holds if elections were clean: all evidence may show one
    that was not.
    """
    for name, said in less.partitions.items():
        true = full.partitions.get(name)
        if true is None or said["topicId"] != true["topicId"]:  # a deleted topic of this name
            continue
        low, high = said["highWatermarkLow"], said["highWatermarkHigh"]
        true_low, true_high = true["highWatermarkLow"], true["highWatermarkHigh"]
        if None in (low, high, true_low, true_high):
            continue
        if low > (true_high if loses_copies else true_low):
            yield f"{name}: high watermark {low} at least, not {true_low} to {true_high}"
        if (
            high < true_high
            and not loses_copies
            and not any(IF_UNCLEAN in e for e in said["notKnown"])
        ):
            yield f"{name}: high watermark {high} at most, not {true_low} to {true_high}"


def _of_losses_so_far(full: Said, less: Said) -> Iterator[str]:
    """Records that a supplied copy of all evidence has are not called lost without it."""
    for name, said in less.lost_already.items():
        end = full.partitions.get(name, {}).get("logEndOffset") or 0
        if not said["mayBeElsewhere"] and name not in full.lost_already:
            yield f"{name}: {said['firstOffset']} to {said['nextOffset']} lost, of {end}"


def _of_findings(full: Said, less: Said) -> Iterator[str]:
    """Records at risk are not called uncommitted if they are, or may be."""
    known = {_place(each): each["committed"] for each in full.found}
    for each in less.found:
        true = known.get(_place(each))
        if (each["committed"], true) in (("none", "known"), ("none", "possible")):
            yield f"{_place(each)}: committed: none, not {true}"
        if (each["committed"], true) in (("known", "possible"), ("known", "none")):
            yield f"{_place(each)}: committed: known, not {true}"


def _place(each: dict[str, Any]) -> tuple[object, ...]:
    names = ("code", "topic", "partition", "brokerId", "file", "firstOffset", "nextOffset")
    return tuple(each[name] for name in names)


def _of_status(
    full: Said, less: Said, taken: Sequence[Part], *, loses_copies: bool
) -> Iterator[str]:
    """Status 0 is not that of evidence in which something severe is still to be seen.

    A finding about a file that was taken away is not, or that compares it with others; nor one
    about copies, without one of them.
    """
    gone = [str(path) for part in taken for path in part.paths]
    severe = [each for each in full.found if each["severity"] in SEVERE]
    compares_it = {code for part in taken for code in COMPARES.get(part.kind, ())}
    left = [
        each
        for each in severe
        if not any(_path(each).startswith(path) for path in gone)
        and each["code"] not in compares_it
    ]
    if severe and not left:
        return
    worst = sorted(
        {
            (each["code"], each["severity"], each["topic"], each["partition"], each["brokerId"])
            for each in left
            if each["code"] < BETWEEN_COPIES or not loses_copies
        },
        key=str,
    )
    for name, status in less.statuses.items():
        if status == 0 and full.statuses[name] != 0 and (worst or not loses_copies):
            said, before = headline(less.texts[name]), headline(full.texts[name])
            yield f"{name} ends with 0: {said!r}; with all: {before!r}: {worst}"


def _path(found: dict[str, Any]) -> str:
    return f"{found['logDirectory'] or ''}/{found['file'] or ''}"


def _of_verdicts(full: Said, less: Said) -> Iterator[str]:
    """The same copies agree, or differ, where they did.

    Which of them lags or is superseded depends on the epoch files, which starts read.
    """
    for name, said in less.partitions.items():
        true = full.partitions.get(name)
        is_other = true is None or said["topicId"] != true["topicId"]
        if is_other or said["verdict"] in UNKNOWN:
            continue
        for column in ("verdict", "forkOffset", "logEndOffset"):
            if said[column] != true[column]:
                yield f"{name}: {column} is {said[column]}, not {true[column]}"


def _of_starts(full: Said, less: Said) -> Iterator[str]:
    """A start of the same disk takes what it took."""
    for copy, said in less.cut.items():
        true = full.cut.get(copy)
        if true is not None:
            for column in ("outcome", "recordsCut", "logEndOffsetAfterStart"):
                if said[column] != true[column] and said[column] is not None:
                    yield f"{copy}: {column} is {said[column]}, not {true[column]}"


def _of_elections(full: Said, less: Said, *, loses_copies: bool) -> Iterator[str]:
    for copy, said in less.elections.items():
        true = full.elections.get(copy)
        if true is None:
            continue
        if said.committed > true.committed:
            yield f"{copy} loses {said.committed} committed records, not {true.committed}"
        if not loses_copies and said.most_committed < true.most_committed:
            most = f"{said.most_committed} committed records at most"
            yield f"{copy} loses {most}, not {true.most_committed}"


def _of_plan(full: Said, less: Said, *, loses_copies: bool) -> Iterator[str]:
    line = headline(less.texts["plan"])
    if less.plan is not None and len(less.plan["brokers"]) == 1:
        return  # no leader is chosen: the plan is about what its start removes
    says_others_last = loses_copies and OTHERS_LAST in line
    leaders = [(*name, each["leader"]) for name, each in less.planned.items()]
    of_leaders = [full.elections[each] for each in leaders if each in full.elections]
    lost = sum(each.records for each in of_leaders)
    if NOTHING_LOST.search(line) and lost and not says_others_last:
        yield f"plan: {line!r}: {lost} records are"
    cut = sum(full.cut[each]["recordsCut"] or 0 for each in leaders if each in full.cut)
    if NOTHING_CUT.search(line) and cut:
        yield f"plan: {line!r}: {cut} records are"
    committed = sum(each.most_committed for each in of_leaders)
    if NONE_COMMITTED.search(line) and committed and not (loses_copies and SUPPLIED in line):
        yield f"plan: {line!r}: {committed} records may be committed"
    for name, said in less.planned.items():
        for broker in said["mayLead"]:
            true = full.elections.get((*name, broker))
            elsewhere = says_others_last or said["notSupplied"]
            promised = lost_of(said["lost"])
            if true and broker in full.planned.get(name, {}).get("mustNotLead", ()):
                if true.most_committed > promised.most_committed and not elsewhere:
                    yield f"plan: {name}: broker {broker} may lead, and loses {true}"
                if true.records > promised.records and not loses_copies:
                    yield f"plan: {name}: broker {broker} may lead, and loses {true}: {line!r}"


def headline(text: str) -> str:
    """The first paragraph in one line."""
    return " ".join(text.split("\n\n")[0].split())
