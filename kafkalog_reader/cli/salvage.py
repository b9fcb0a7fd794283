"""``kafkalog salvage``: writes what can still be read, as Parquet or as logs for a broker."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    reading_options,
    supplied,
)
from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.run import CLEAN, FOUND, session, verbose_option
from kafkalog_reader.errors import UsageError
from kafkalog_reader.format.offset_words import offsets_are, offsets_words
from kafkalog_reader.io.names import METADATA_TOPIC, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.without_copy import WithoutCopy
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.salvage.offset_coverage import LostOffsets
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.tables.lacking import Lacking
    from kafkalog_reader.tables.request import ReadRequest


logger = logging.getLogger(__name__)
MAX_LOST_SHOWN: Final = 5
PLACE: Final = """
How to put a log that was written here in the place of its copies:
  1. Stop all brokers that have the partition, each with a clean shutdown; the one that gets the log
     last, so that it alone is in sync.
  2. On that broker move the partition directory out of the log directory, never delete it, and put
     the new one in its place, owned by the broker's user. On the other brokers move the copies of
     the partition out of the log directories, too: a follower never fetches again what it has.
  3. Start that broker first and alone. When kafka-topics.sh --describe shows it as the leader,
     start the others: they copy the log. Where Leader is none because another copy was in sync:
       kafka-leader-election.sh --bootstrap-server HOST:9092 --election-type unclean \\
         --topic TOPIC --partition N"""
HAND_OVER: Final = """
How to hand over a log that was written here for another cluster:
  1. The topic must exist with the id in the log's partition.metadata. Set retention.ms=-1 for
     it, or old records are deleted at once (kafka-configs.sh; with --bootstrap-controller while no
     broker runs).
  2. Stop all brokers that have the partition, each with a clean shutdown; the one that gets the log
     last, so that it alone is in sync.
  3. On that broker move the partition directory out of the log directory, never delete it, and put
     the new one in its place, owned by the broker's user. On the other brokers move the copies of
     the partition out of the log directories, too: with the leader epochs of the new log nobody
     would notice that they hold other records.
  4. Start that broker first and alone. When kafka-topics.sh --describe shows it as the leader,
     start the others: they copy the log. Where Leader is none because another copy was in sync:
       kafka-leader-election.sh --bootstrap-server HOST:9092 --election-type unclean \\
         --topic TOPIC --partition N
  5. Restore retention.ms."""


@click.command(
    "salvage",
    epilog=exit_text("salvage"),
    short_help="Write what can still be read, as Parquet or as a log to load.",
)
@paths_argument
@click.option(
    "--output",
    metavar="DIR",
    shell_complete=complete_files,
    required=True,
    help="A new or empty folder outside the inputs.",
)
@click.option(
    "--as-segments",
    is_flag=True,
    help="Write logs that a broker can load in the place of the copies, or in another cluster.",
)
@click.option(
    "--merge",
    is_flag=True,
    help="With --as-segments: one log from all copies, each batch from a copy where it is sound.",
)
@click.option(
    "--leftovers",
    is_flag=True,
    help="Also write the records of leftovers, as Parquet, to the folder leftovers: of files named "
    ".deleted, .cleaned or .swap, and of folders named -delete or -stray.",
)
@click.option(
    "--no-instructions",
    is_flag=True,
    help="Do not say how to give a log to a broker. For commands in a plan that says it.",
)
@click.option(
    "--topic-id",
    "topic_ids",
    metavar="[TOPIC=]ID",
    multiple=True,
    help="The topic's id in another cluster that gets the log; repeatable.",
)
@click.option(
    "--leader-epoch",
    metavar="N",
    type=click.IntRange(0, 2**31 - 1),
    help="The leader epoch of every batch of a log for another cluster, at most that of the "
    "partition there.  [default: 0]",
)
@reading_options("topic", "partition", "from_offset", "to_offset")
@reading_option(
    "replica",
    default="best",
    show_default=True,
    help="Which copies: best, broker:N, or all (Parquet only).",
)
@input_options
@verbose_option()
def salvage_command(
    paths: tuple[str, ...], output: str, as_segments: bool, merge: bool, leftovers: bool,
    no_instructions: bool,
    topic_ids: tuple[str, ...], leader_epoch: int | None, replica: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Write everything readable of damaged logs into a new folder. Inputs stay as they are.

    \b
    Example:
      kafkalog salvage /mnt/b1 --topic orders --output /restore/orders
      kafkalog salvage /mnt/b1 --topic orders --partition 17 --replica broker:1 \\
          --from-offset 81,240,000 --output /saved/orders-17
      kafkalog salvage /mnt/b1 --topic orders --output /restore/orders \\
          --as-segments --topic-id 5vLx2mWbQ7yT3hJ1cRk0pA

    Each topic partition gets a folder: Parquet with all columns of the table records, one file per
    segment; or with --as-segments the partition directory of a stopped broker. Such a log can take
    the place of its copies: each batch is the same byte for byte, and transactions stay open,
    committed or aborted. manifest.json lists what was left out, where and why.

    With a --topic-id other than that of the copies, or --leader-epoch, the log is for another
    cluster: producer ids are removed, committed transactions become plain records, and other
    transactions are left out. How to give a log to a broker is printed at the end.

    --from-offset and --to-offset select records, or with --as-segments whole batches that hold one
    of them.

    Damage is repaired if a checksum, or the batches around it, prove the repair: a flipped bit, a
    wrong length. Records at other offsets that contradict their neighbours go to the folder
    doubtful-offsets.

    Leftovers, which a broker renamed before it deletes or replaces them, are named here and in
    manifest.json; --leftovers writes their records. The output is not complete without those that
    it lacks.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.without_copy import without_copy_text
    from kafkalog_reader.salvage.given_folders import with_given_folders
    from kafkalog_reader.salvage.leftovers import leftover_lines
    from kafkalog_reader.salvage.leftovers import leftovers as find_leftovers
    from kafkalog_reader.salvage.receiver import mixed_topics, receiver_of
    from kafkalog_reader.tables.selection import check_selection

    request = registry.request(registry.table("records"), replica=replica, **options)
    evidence = with_given_folders(supplied(paths))
    check_selection(evidence, request)
    given = _topic_ids(topic_ids, evidence, request)
    mixed = mixed_topics(evidence, request, given, merge=merge)
    others = {each.topic for each in evidence.partition_directories(request)} - mixed.keys()
    if mixed and others - {METADATA_TOPIC}:
        for topic, why in mixed.items():
            logger.warning("left out: %s: %s", shown(topic), why)
        topics = frozenset(topic for topic in others if topic is not None)
        request = replace(request, topics=topics)
    receiver = receiver_of(
        evidence, request, as_segments=as_segments, merge=merge, topic_ids=given,
        leader_epoch=leader_epoch,
    )  # fmt: skip
    absent = _absent(evidence, request)
    left = find_leftovers(evidence, request)
    status = _salvage(
        evidence, request, output, inputs=paths, receiver=receiver, merge=merge,
        topics_left_out=frozenset(mixed), absent=absent, leftovers=left, with_leftovers=leftovers,
        instructs=not no_instructions,
    )  # fmt: skip
    for line in leftover_lines(left, is_written=leftovers):
        click.echo(line)
    if absent:
        click.echo(f"not here: {without_copy_text(absent)}")
    is_lacking = mixed or absent or any(each.is_left_out for each in left)
    return FOUND if is_lacking and status == CLEAN else status


def _absent(evidence: Evidence, request: ReadRequest) -> list[WithoutCopy]:
    """The partitions of which no copy was supplied, as far as they were requested.

    Those that only brokers have that were not supplied are requested if their topic was named.
    """
    from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
    from kafkalog_reader.audits.partition.without_copy import without_copy

    if request.replica.startswith("broker:"):
        return []
    found = without_copy(evidence, replace(request, brokers=None), cluster_metadata(evidence))
    return [each for each in found if each.is_lost or request.topics is not None]


def _salvage(
    evidence: Evidence,
    request: ReadRequest,
    output: str,
    receiver: Receiver | None,
    *,
    instructs: bool,
    **options: Any,  # noqa: ANN401  passed on
) -> int:
    from kafkalog_reader.cli.progress import ReadProgress
    from kafkalog_reader.salvage.run import salvage

    found = False
    hints: dict[str, None] = {}
    several_clusters = len({root.cluster_id for root in evidence.log_directories}) > 1
    has_range = request.from_offset is not None or request.to_offset is not None
    with ReadProgress() as progress:
        session().how_far = lambda: f"{progress}; manifest.json lists what was written"
        for salvaged in salvage(
            evidence, request, output, receiver=receiver, progress=progress, **options
        ):
            is_log = salvaged.is_in_place is not None and salvaged.folder is not None
            # A part replaces no copy, nor does a log without what can still be added to it.
            is_part = (salvaged.is_in_place and has_range) or salvaged.doubtful_folder is not None
            is_part |= any(each.is_renamed for each in salvaged.missing_segments)
            if is_log and not is_part:
                hints[PLACE if salvaged.is_in_place else HAND_OVER] = None
            found |= not salvaged.is_complete or (has_range and not salvaged.records)
            name = _of_cluster(salvaged) if several_clusters else salvaged.name
            if request.replica == "all":
                name += f" on {salvaged.directory.replica_name}"
            click.echo("\n  ".join(_lines(salvaged, name, request)))
    for hint in hints if instructs else ():
        click.echo(hint)
    return FOUND if found else CLEAN


def _of_cluster(salvaged: SalvagedPartition) -> str:
    """The partition with its cluster and folder: another cluster may have one of that name."""
    cluster_id = salvaged.directory.log_directory.cluster_id
    cluster = "of unknown cluster" if cluster_id is None else f"of cluster {shown(cluster_id)}"
    folder = "" if salvaged.folder is None else f" in {shown(salvaged.folder)}"
    return f"{salvaged.name} {cluster}{folder}"


def _lines(salvaged: SalvagedPartition, name: str, request: ReadRequest) -> Iterator[str]:
    offsets, places = salvaged.offsets, salvaged.left_out.count - salvaged.unread_copies
    found = f"{name}: {plural(salvaged.records, 'record')}"
    if not salvaged.records:
        what = f"{'readable ' if places else ''}record{_range(request)}"
        found = f"{name}: nothing written: {_holder(salvaged)} {what}"
    if offsets.first is not None and offsets.last is not None:
        found += f", {offsets_words(offsets.first, offsets.last + 1)}"
    if offsets.missing:
        found += f", {offsets.missing:,} of them without a record"
    yield f"{found}; {plural(places, 'damaged place')} left out" if places else found
    if salvaged.unread_copies:
        copies = "copy" if salvaged.unread_copies == 1 else "copies"
        yield f"{salvaged.unread_copies:,} other {copies} could not be read: see manifest.json"
    torn = [each for each in salvaged.repairs if each.kind == "tornBatch"]
    if len(torn) < len(salvaged.repairs):
        yield f"{plural(len(salvaged.repairs) - len(torn), 'batch')} corrected"
    for each in torn:
        yield f"{offsets_words(each.firstOffset, each.lastOffset + 1)} kept: {each.how}"
    if salvaged.doubtful_folder is not None:
        doubtful = salvaged.counts.doubtful.records
        text = f"{plural(doubtful, 'record')} at doubtful offsets in {salvaged.doubtful_folder}"
        is_log = salvaged.is_in_place is not None
        yield f"{text}, not in the log: look at them before it replaces a copy" if is_log else text
    if salvaged.deleted_records:
        yield _deleted(salvaged)
    yield from _transactions(salvaged)
    if salvaged.in_sync_not_supplied:
        yield _outside_isr(salvaged)
    for other in salvaged.lacking:
        yield _lacking(other)
    can_merge = not any(each.is_fork or each.is_contradiction for each in salvaged.lacking)
    for lost in salvaged.lost[:MAX_LOST_SHOWN]:
        yield _lost(lost, can_merge=can_merge)
    for missing in salvaged.missing_segments[:MAX_LOST_SHOWN]:
        yield missing.text
    if len(salvaged.missing_segments) > MAX_LOST_SHOWN:
        yield (
            f"and {len(salvaged.missing_segments) - MAX_LOST_SHOWN:,} more such segments: see "
            "manifest.json"
        )
    if len(salvaged.lost) > MAX_LOST_SHOWN:
        yield f"and {len(salvaged.lost) - MAX_LOST_SHOWN:,} more such ranges: see manifest.json"


def _outside_isr(salvaged: SalvagedPartition) -> str:
    """Why a sound copy may still lack committed records."""
    from kafkalog_reader.format.broker_words import joined_ids

    holders = joined_ids(salvaged.in_sync_not_supplied)
    return (
        "may lack committed records: according to the metadata log the in-sync replicas "
        f"are those of {holders}, and no copy of one was supplied"
    )


def _lacking(lacking: Lacking) -> str:
    first, held_by = lacking.first_offset, lacking.replica.replica_name
    fork = f"fork at offset {first:,}: " if lacking.is_fork else ""
    if lacking.is_contradiction:
        fork = f"other records under the same leader epoch from offset {first:,} on: "
    broker = lacking.replica.log_directory.broker_id
    how = (
        "run salvage on that copy alone"
        if broker is None
        else f"run this again with --replica broker:{broker} --from-offset {first}"
    )
    return (
        f"{fork}not in this output: {offsets_words(first, lacking.next_offset)} of {held_by}. To "
        f"save them, {how}, and another --output"
    )


def _transactions(salvaged: SalvagedPartition) -> Iterator[str]:
    """The open ones of a log, and what a log for another cluster never holds."""
    from kafkalog_reader.salvage.counts import Reason

    if still_open := salvaged.notes.get("openTransactions", {}).get("count", 0):
        stays = "stays" if still_open == 1 else "stay"
        markers = "; a marker may be among the lost offsets" if salvaged.lost else ""
        yield f"{plural(still_open, 'open transaction')} {stays} open{markers}"

    if unmarked := salvaged.notes.get("lostAbortMarkers", {}).get("count", 0):
        yield (
            f"{plural(unmarked, 'abort marker')} lost: read_committed consumers may get aborted "
            "records; see lostAbortMarkers in manifest.json"
        )
    words = {
        Reason.ABORTED: ("record of an aborted transaction", "records of aborted transactions"),
        Reason.UNDECIDED: ("record of an open transaction", "records of open transactions"),
        Reason.MARKER: ("transaction marker", "transaction markers"),
    }
    parts = []
    for reason, what in words.items():
        if count := salvaged.counts.left_out[reason].records:
            parts.append(f"{count:,} {what[count != 1]}")
    if parts:
        yield (
            f"left out: {', '.join(parts)}: the coordinator of these transactions is in the old "
            "cluster. Parquet (without --as-segments) has all of them"
        )


def _deleted(salvaged: SalvagedPartition) -> str:
    """Records that consumers no longer saw: a salvage may bring them back."""
    count, start = salvaged.deleted_records, salvaged.log_start
    text = (
        f"{count:,} of them below the log start {start:,}: deleted by retention or "
        "kafka-delete-records, but still in the file"
    )
    if salvaged.is_in_place is not None:
        text += (
            "; a batch is kept whole, so a broker serves them again unless its "
            f"log-start-offset-checkpoint has {start}"
        )
    return text


def _lost(lost: LostOffsets, *, can_merge: bool) -> str:
    offsets = offsets_are(lost.first_offset, lost.next_offset)
    if not lost.held_by:
        return f"{offsets} lost: {lost.why}"
    holders = f"{' and '.join(lost.held_by)} {'has' if len(lost.held_by) == 1 else 'have'}"
    merge = ", --merge --as-segments makes one log of all, unless their histories differ"
    return (
        f"{offsets} not on this copy ({lost.why}), but {holders} readable batches there: "
        f"--replica broker:N reads another copy{merge if can_merge else ''}"
    )


def _holder(salvaged: SalvagedPartition) -> str:
    if "mergedFrom" in salvaged.notes:
        return "no copy has a"
    return f"{salvaged.directory.replica_name} has no"


def _range(request: ReadRequest) -> str:
    first, stop = request.from_offset, request.to_offset
    if stop is not None:
        return f" from offset {first or 0:,} up to, but not including, {stop:,}"
    return "" if first is None else f" from offset {first:,} on"


def _topic_ids(given: Sequence[str], evidence: Evidence, request: ReadRequest) -> dict[str, str]:
    """``TOPIC=ID``, or only an ID if there is one topic."""
    topics = {d.topic for d in evidence.partition_directories(request) if d.topic is not None}
    found: dict[str, str] = {}
    for text in given:
        name, equals, topic_id = text.rpartition("=")
        if not equals and len(topics) != 1:
            raise UsageError(
                f"--topic-id {text}: use TOPIC=ID, because there are {len(topics)} topics"
            )
        found[name if equals else next(iter(topics))] = topic_id
    return found
