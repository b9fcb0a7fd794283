"""The options of all tables, declared once: name, type, default, meaning, which tables have them.

They are keywords in Python, ``--from-offset`` in ``kafkalog``, ``fromTime`` in Spark. An option is
a line here and a field of ``ReadRequest``; help texts, checks and refusals derive from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, SupportsIndex, TypedDict, get_type_hints

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables import option_values as values
from kafkalog_reader.tables.as_of import AsOf
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.option_values import Kind
from kafkalog_reader.tables.request import Until

_RECORDS: Final = frozenset({"records"})
_BATCHES: Final = frozenset({"records", "batches"})
_COPIES: Final = _BATCHES | {"gaps"}
_PAYLOADS: Final = frozenset({"records", "findings"})
_ELECTIONS: Final = frozenset({"partitions", "divergence", "elections", "group_elections"})
_STATES: Final = frozenset(
    {
        "group_offsets", "groups", "group_members", "group_generations", "share_groups",
        "transactions",
        "partition_states", "brokers", "topic_configs",
    }
)  # fmt: skip
_STARTS: Final = _ELECTIONS | {"recoveries", "findings"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of reading.

    Attributes:
        field: of ``ReadRequest``, which it becomes.
        kind: what a value is, from Python and as text.
        meaning: for people; the start of a sentence without its full stop.
        default: what applies if it is not given, in words; empty if nothing does.
        tables: the names of those that have it; None means all.
        spark: its name in Spark; None if Spark expresses it in another way.
        is_in_terminal: whether ``kafkalog table`` has it; flags of one command have other names.
    """

    field: str
    kind: Kind
    meaning: str
    default: str = ""
    tables: frozenset[str] | None = None
    spark: str | None = None
    is_in_terminal: bool = True

    def applies_to(self, table: str) -> bool:
        """Whether the table of that name has this option."""
        return self.tables is None or table in self.tables


class ReadOptions(TypedDict, total=False):
    """The keywords of ``log.records(...)`` and ``log.table(...)``; None means not given."""

    topic: Annotated[str | Iterable[str] | None, Option("topics", values.TEXTS, "Only this topic")]
    partition: Annotated[
        SupportsIndex | Iterable[SupportsIndex] | None,
        Option("partitions", values.NUMBERS, "Only this partition number"),
    ]
    broker: Annotated[
        SupportsIndex | Iterable[SupportsIndex] | None,
        Option("brokers", values.NUMBERS, "Only replicas of the broker with this node id"),
    ]
    from_offset: Annotated[
        SupportsIndex | None,
        Option("from_offset", values.OFFSET, "The first offset of the range", tables=_BATCHES),
    ]
    to_offset: Annotated[
        SupportsIndex | None,
        Option(
            "to_offset", values.OFFSET, "The end of the range: the first offset left out",
            tables=_BATCHES,
        ),
    ]  # fmt: skip
    from_time: Annotated[
        date | str | SupportsIndex | None,
        Option(
            "from_timestamp", values.TIME,
            "The start of the range: milliseconds, 2026-11-21T06:00:00Z, or 2026-11-21 (UTC unless "
            "it says +02:00)",
            tables=_PAYLOADS, spark="fromTime",
        ),
    ]  # fmt: skip
    to_time: Annotated[
        date | str | SupportsIndex | None,
        Option(
            "to_timestamp", values.TIME, "The end of the range: the first time left out",
            tables=_PAYLOADS, spark="toTime",
        ),
    ]  # fmt: skip
    last: Annotated[
        SupportsIndex | None,
        Option(
            "last", values.COUNT,
            "Only the newest N of the selected records in each partition; with 0, none",
            tables=_RECORDS, spark="last",
        ),
    ]  # fmt: skip
    isolation: Annotated[
        str | None,
        Option(
            "isolation", values.ISOLATION,
            "read_committed leaves out aborted transactions and what a consumer must not see yet, "
            "from the last stable offset on",
            "read_uncommitted", _RECORDS, spark="kafka.isolation.level",
        ),
    ]  # fmt: skip
    until: Annotated[
        str | Until | None,
        Option(
            "until", values.UNTIL,
            "Where logs end: logEnd, highWatermark or lastStableOffset, as the copy's own files "
            "prove it",
            "logEnd", _RECORDS, spark="until",
        ),
    ]  # fmt: skip
    limit: Annotated[
        SupportsIndex | None, Option("limit", values.COUNT, "Stop after N rows; with 0, show none")
    ]
    mode: Annotated[
        str | Mode | None,
        Option(
            "mode", values.MODE,
            "At damage: FAILFAST stops, PERMISSIVE leaves it out and warns, DROPMALFORMED leaves "
            "it out without a warning",
            "FAILFAST", spark="mode",
        ),
    ]  # fmt: skip
    max_batch_bytes: Annotated[
        SupportsIndex | str | None,
        Option(
            "max_batch_bytes", values.SIZE, "The most that one batch may decompress to",
            "512m, and above 16m at most 1000 times its compressed size",
            _PAYLOADS | {"gaps"}, spark="maxBatchBytes",
        ),
    ]  # fmt: skip
    deep: Annotated[
        bool | None,
        Option(
            "deep", values.FLAG, "Decompress and decode every record too", "false",
            frozenset({"findings"}), spark="deep",
        ),
    ]  # fmt: skip
    started_at: Annotated[
        date | str | SupportsIndex | None,
        Option(
            "started_at", values.TIME,
            "When brokers start, which decides what retention deletes: milliseconds or "
            "2026-11-21T06:00:00Z",
            "right after each log's newest record", _STARTS, spark="startedAt",
        ),
    ]  # fmt: skip
    rule: Annotated[
        str | None,
        Option(
            "rule", values.RULE,
            "How followers truncate: current, several-rounds, one-round or high-watermark "
            "(inter.broker.protocol.version 2.7 and later, 2.0 to 2.6, 0.11 to 1.1, and before)",
            "as the files show", _ELECTIONS, spark="rule",
        ),
    ]  # fmt: skip
    as_of: Annotated[
        date | str | SupportsIndex | AsOf | None,
        Option(
            "as_of", values.AS_OF,
            "The state at a time (milliseconds or 2026-11-21T06:00:00Z), or after the record with "
            "an offset (offset:1234) of the internal topic",
            "the end of the log", _STATES, spark="asOf",
        ),
    ]  # fmt: skip
    replica: Annotated[
        str | None,
        Option(
            "replica", values.REPLICA,
            "Which copies: best, all or broker:N. Best is the one with the greatest leader epoch, "
            "then the greatest end, then the lowest start",
            "all", _COPIES, spark="replica",
        ),
    ]  # fmt: skip
    include_control_records: Annotated[
        bool | None,
        Option(
            "include_control_records", values.FLAG,
            "Also show control records, such as transaction markers",
            "true", _RECORDS, "includeControlRecords", is_in_terminal=False,
        ),
    ]  # fmt: skip
    leftovers: Annotated[
        bool | None,
        Option(
            "leftovers", values.FLAG,
            "Also show records of segments and folders that a broker renamed before it deletes or "
            "replaces them (.deleted, .cleaned, .swap, -delete, -stray), of all copies, or of "
            "broker:N; the column leftover says which",
            "false", _RECORDS, spark="leftovers",
        ),
    ]  # fmt: skip
    log_range_only: Annotated[
        bool | None,
        Option(
            "log_range_only", values.FLAG, "Leave out what lies below the log start offset",
            "false", _BATCHES, is_in_terminal=False,
        ),
    ]  # fmt: skip
    max_partition_bytes: Annotated[
        SupportsIndex | str | None,
        Option(
            "max_partition_bytes", values.SIZE, "How much log one task reads", "128m",
            spark="maxPartitionBytes", is_in_terminal=False,
        ),
    ]  # fmt: skip


def _declared() -> dict[str, Option]:
    hints = get_type_hints(ReadOptions, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


OPTIONS: Final = _declared()
"""Every option by its Python name."""

_SPARK_NAMES: Final[Mapping[str, str]] = {
    **{option.spark: name for name, option in OPTIONS.items() if option.spark is not None},
    "assign": "partition", "subscribe": "topic", "startingOffsets": "from_offset",
    "endingOffsets": "to_offset", "startingTimestamp": "from_time", "endingTimestamp": "to_time",
}  # fmt: skip
"""The Python names of options that Spark and its Kafka source name otherwise."""

CONSUMER_VIEW: Final[Mapping[str, Any]] = {
    "replica": "best", "log_range_only": True, "include_control_records": False,
}  # fmt: skip
"""Defaults of records as a consumer sees them: each once, from the log start."""


def fields(table: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a ``ReadRequest`` for options by their Python names; None means not given.

    Raises:
        UsageError: an unknown option, one that the table does not have, or a wrong value.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name not in OPTIONS:
            meant = _SPARK_NAMES.get(name)
            hint = f": here it is {meant!r}" if meant else nearest(name, OPTIONS)
            raise UsageError(f"no option named {name!r}{hint}")
        option = OPTIONS[name]
        if not option.applies_to(table):
            raise OptionError(name, f"does not apply to table {table}")
        found[option.field] = option.kind.check(name, value)
    check_ranges(found)
    return found


def check_ranges(found: Mapping[str, Any], names: Mapping[str, str] | None = None) -> None:
    """Refuse a range that ends before it begins: no rows would look like an answer.

    ``names`` are those of options that the user spells otherwise, by their Python names.
    """
    for first, end in (("from_offset", "to_offset"), ("from_time", "to_time")):
        low, high = found.get(OPTIONS[first].field), found.get(OPTIONS[end].field)
        if low is not None and high is not None and low > high:
            raise OptionError((names or {}).get(first, first), "the range ends before it begins")
