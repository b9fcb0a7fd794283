"""Records of Kafka's internal topics that their readers cannot load (KL-808).

A type that no known release has is skipped by coordinators, and is not a problem; a version that
none has is. Source: Kafka 4.4, CoordinatorLoaderImpl, GroupCoordinatorRecordSerde, TransactionLog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.compute as pc

from kafkalog_reader.decode.commit_columns import COMMIT_TYPES, commit_columns
from kafkalog_reader.decode.field_columns import FieldColumns
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_framed, decode_key, decode_value
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    REMOTE_LOG_METADATA_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

FAMILIES: Final[Mapping[str, Family]] = {
    OFFSETS_TOPIC: Family.GROUP,
    TRANSACTION_STATE_TOPIC: Family.TRANSACTION,
    SHARE_GROUP_STATE_TOPIC: Family.SHARE,
    METADATA_TOPIC: Family.METADATA,
    REMOTE_LOG_METADATA_TOPIC: Family.REMOTE,
}
"""By topic: which messages its records are."""
_FRAMED: Final = frozenset({Family.METADATA, Family.REMOTE})
"""Families whose values name their own type; their keys are null, or of no meaning."""
_TYPE_SIZE: Final = 2


def message_problems(
    topic: str, keys: pa.BinaryArray, values: pa.BinaryArray
) -> list[tuple[int, str]]:
    """The data records of a topic of ``FAMILIES`` that cannot be decoded, with the reason.

    Args:
        topic: the internal topic.
        keys: of its records, without control records.
        values: of the same records.

    Returns:
        The row of each, and the problem, in their order.
    """
    family = FAMILIES[topic]
    if family is not Family.GROUP:
        return _singly(family, range(len(keys)), keys, values)
    commits = commit_columns(keys, values)
    wrong = commits.filter(pc.is_valid(commits["problem"]))
    found = list(zip(wrong["row"].to_pylist(), wrong["problem"].to_pylist(), strict=True))
    of_key = FieldColumns(keys)
    types = of_key.number(_TYPE_SIZE)
    others = np.flatnonzero(of_key.fits & ~np.isin(types, COMMIT_TYPES))
    return sorted([*found, *_singly(family, others.tolist(), keys, values)])


def _singly(
    family: Family, rows: Iterable[int], keys: pa.BinaryArray, values: pa.BinaryArray
) -> list[tuple[int, str]]:
    found = []
    for row in rows:
        try:
            _decode(family, keys[row].as_py(), values[row].as_py())
        except MessageError as error:
            found.append((row, str(error)))
    return found


def _decode(family: Family, key: bytes | None, value: bytes | None) -> None:
    if family in _FRAMED:
        decode_framed(family, value or b"")
        return
    decoded = decode_key(family, key or b"")
    if value is not None:
        decode_value(family, decoded.type, value)
