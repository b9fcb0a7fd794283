"""The rows that read one segment on one core."""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.aiokafka_reader import AiokafkaReader
from benchmarks.answer import require_same
from benchmarks.java_reader import Work, java_reader
from benchmarks.our_reader import OurHeaders, OurReader
from benchmarks.rounds import alternate, one_core
from benchmarks.row import Bench, Figure, Row, Target, speed_figure
from benchmarks.segments import RECORDS_PER_BATCH, Segments

JAVA: Final = "Kafka's Java reader"
AIOKAFKA: Final = "aiokafka compiled"


def codec_segment(codec: str, bench: Bench) -> Segments:
    """Batches as a producer fills them; 236 MB of values, or 44 MB."""
    batches = 3_000 if bench.quick else 16_000
    return Segments(codec=codec, records_per_segment=batches * RECORDS_PER_BATCH)


def keyed_segment(bench: Bench) -> Segments:
    """Keys of 8 bytes leave room for 138 records in a batch of 16 KiB."""
    batches = 3_000 if bench.quick else 16_000
    return Segments(records_per_batch=138, records_per_segment=batches * 138, key_bytes=8)


def one_record_batches(bench: Bench) -> Segments:
    """Batches of a producer that does not linger; 170 bytes each."""
    return Segments(records_per_batch=1, records_per_segment=200_000 if bench.quick else 1_480_000)


def records_against_java(segments: Segments, bench: Bench) -> Figure:
    segment = segments.file()
    ours = None if bench.peers_only else OurReader(segment)
    with one_core(), java_reader("records", segment, bench.warm_seconds) as peer:
        rounds = alternate(ours.record_seconds if ours else None, peer.seconds, bench.rounds)
        if ours:
            require_same(segment, ours.answer(), peer.answer)
    return speed_figure(rounds, segments.records, "records")


def records_against_aiokafka(segments: Segments, bench: Bench) -> Figure:
    segment = segments.file()
    ours = None if bench.peers_only else OurReader(segment)
    peer = AiokafkaReader(segment)
    with one_core():
        rounds = alternate(ours.record_seconds if ours else None, peer.seconds, bench.rounds)
        if ours:
            require_same(segment, ours.answer(), peer.answer())
    return speed_figure(rounds, segments.records, "records")


def headers_against_java(work: Work, bench: Bench) -> Figure:
    segment = one_record_batches(bench).file()
    ours = None if bench.peers_only else OurHeaders(segment)
    with one_core(), java_reader(work, segment, bench.warm_seconds) as peer:
        rounds = alternate(ours.seconds if ours else None, peer.seconds, bench.rounds)
        if ours:
            require_same(segment, ours.batches, peer.batches)
        return speed_figure(rounds, peer.batches, "batches")


def batches_table_against_java(bench: Bench) -> Figure:
    segment = one_record_batches(bench).file()
    ours = None if bench.peers_only else OurReader(segment)
    with one_core(), java_reader("batches", segment, bench.warm_seconds) as peer:
        rounds = alternate(ours.batch_seconds if ours else None, peer.seconds, bench.rounds)
        if ours:
            require_same(segment, ours.batches(), peer.batches)
        return speed_figure(rounds, peer.batches, "batches")


def _codec_row(codec: str, target: float) -> Row:
    def measure(bench: Bench) -> Figure:
        return records_against_java(codec_segment(codec, bench), bench)

    text = "uncompressed" if codec == "none" else codec
    return Row(
        name=f"{codec}-java",
        work=f"records → Arrow, {text}, CRC checked",
        against=JAVA,
        target=Target(target),
        measure=measure,
    )


FILE_ROWS: Final = (
    Row(
        name="none-aiokafka",
        work="records → Arrow, uncompressed, CRC checked",
        against=AIOKAFKA,
        target=Target(5),
        measure=lambda bench: records_against_aiokafka(codec_segment("none", bench), bench),
    ),
    _codec_row("none", 1.2),
    Row(
        name="keys-java",
        work="the same with keys of 8 bytes",
        against=f"{JAVA} (for information)",
        target=None,
        measure=lambda bench: records_against_java(keyed_segment(bench), bench),
    ),
    _codec_row("zstd", 1.25),
    _codec_row("lz4", 1.35),
    _codec_row("gzip", 2),
    _codec_row("snappy", 1.6),
    Row(
        name="one-record-java",
        work="one-record batches → Arrow, CRC checked",
        against=JAVA,
        target=Target(10),
        measure=lambda bench: records_against_java(one_record_batches(bench), bench),
    ),
    Row(
        name="one-record-aiokafka",
        work="one-record batches → Arrow, CRC checked",
        against=AIOKAFKA,
        target=Target(6),
        measure=lambda bench: records_against_aiokafka(one_record_batches(bench), bench),
    ),
    Row(
        name="headers-java",
        work="batch headers with every CRC, one-record batches, as `verify` reads them",
        against="Kafka's Java batch iteration with ensureValid, from a file",
        target=Target(20),
        measure=partial(headers_against_java, "batches"),
    ),
    Row(
        name="headers-java-memory",
        work="the same",
        against="the same over bytes in memory (for information)",
        target=None,
        measure=partial(headers_against_java, "batches-in-memory"),
    ),
    Row(
        name="batches-table-java",
        work="the `batches` table of the same file, every column",
        against="Kafka's Java batch iteration with ensureValid, from a file",
        target=Target(8),
        measure=batches_table_against_java,
    ),
)
