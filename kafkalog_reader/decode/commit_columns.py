"""Offset commits of many records of ``__consumer_offsets``, as columns.

Source: OffsetCommitKey and OffsetCommitValue of kafka-group-coordinator 4.4, GroupMetadataManager
of earlier releases. Records of an unusual shape go through the general decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.decode.arrow_arrays import fixed_width
from kafkalog_reader.decode.field_columns import FieldColumns
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_key, decode_value
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.format.uuid import UUID_SIZE, ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from numpy.typing import NDArray


COMMIT_TYPES: Final = (0, 1)
"""Record types of offset commits; 0 is from before Kafka 0.9."""
_FLEXIBLE: Final = 4
_WITH_EXPIRY: Final = 1
_WITH_LEADER_EPOCH: Final = 3
_TOPIC_ID_TAG: Final = 0

COMMITS: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("groupId", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("topicId", pa.string()),
        ("committedOffset", pa.int64()),
        ("committedLeaderEpoch", pa.int32()),
        ("metadata", pa.string()),
        ("commitTimestamp", pa.int64()),
        ("expireTimestamp", pa.int64()),
        ("valueVersion", pa.int16()),
        ("problem", pa.string()),
    ]
)
"""``row`` counts records of the input. Times are milliseconds. A tombstone has no version."""


def commit_columns(keys: pa.BinaryArray, values: pa.BinaryArray) -> pa.Table:
    """The offset commits among records, in their order, with the columns ``COMMITS``.

    Args:
        keys: of records that are not control records.
        values: of the same records.

    Returns:
        One row for each commit and tombstone of a commit; one with ``problem`` for each record
        whose key is too short to have a type, or whose key or value does not fit its definition.
    """
    encoded = keys.dictionary_encode()  # the same keys occur again and again
    key = FieldColumns(encoded.dictionary)
    types = key.number(2)
    has_type = key.fits.copy()
    columns: dict[str, Any] = {"groupId": key.text(), "topic": key.text()}
    columns["partition"] = key.number(4)
    which = encoded.indices.fill_null(0).to_numpy()
    has_key = keys.is_valid().to_numpy(zero_copy_only=False)
    is_commit = np.isin(types, COMMIT_TYPES) | ~has_type
    rows = np.flatnonzero(is_commit[which] | ~has_key) if len(is_commit) else np.arange(len(keys))
    if len(rows) < len(which):
        keys, values = keys.take(pa.array(rows)), values.take(pa.array(rows))
        which, has_key = which[rows], has_key[rows]
    sound = key.ends()[which] & has_key if len(is_commit) else has_key
    version = FieldColumns(values)
    versions = version.number(2)
    is_null = values.is_null().to_numpy(zero_copy_only=False)
    usual: NDArray[np.bool_] = np.zeros(len(keys), np.bool_)
    parts: list[pa.Table] = []
    for number in [-1, *range(_FLEXIBLE + 1)]:
        here = sound & (is_null if number < 0 else ~is_null & version.fits & (versions == number))
        if not here.any():
            continue
        found = np.flatnonzero(here)
        is_all = len(found) == len(here)
        part = _values(values if is_all else values.take(pa.array(found)), number)
        fitting = part.pop("fits")
        keys_of = which if is_all else which[found]
        named = {name: _taken(column, keys_of) for name, column in columns.items()}
        part_rows = {"row": rows if is_all else rows[found], **named, **part}
        made = _table(part_rows)
        if made is None:
            continue
        parts.append(made if fitting.all() else made.filter(pa.array(fitting)))
        usual[found[fitting]] = True
    unusual = np.flatnonzero(~usual)
    if len(unusual):
        parts.append(
            _decoded_singly(
                rows[unusual], keys.take(pa.array(unusual)), values.take(pa.array(unusual))
            )
        )
    table = pa.concat_tables(parts) if parts else COMMITS.empty_table()
    return table if len(parts) < 2 else table.take(pc.sort_indices(table["row"]))


def _values(values: pa.BinaryArray, version: int) -> dict[str, Any]:
    """Columns of values of one version; ``fits`` marks those of the usual shape."""
    count = len(values)
    if version < 0:
        return {"fits": np.ones(count, np.bool_)}
    value = FieldColumns(values)
    value.skip(2)
    found: dict[str, Any] = {"valueVersion": np.full(count, version)}
    found["committedOffset"] = value.number(8)
    if version >= _WITH_LEADER_EPOCH:
        found["committedLeaderEpoch"] = value.number(4)
    if version < _FLEXIBLE:
        found["metadata"] = value.text()
    else:
        found["metadata"] = value.text(value.number(1) - 1)  # more than 126 bytes: not usual
    found["commitTimestamp"] = value.number(8)
    if version == _WITH_EXPIRY:
        found["expireTimestamp"] = value.number(8)
    if version >= _FLEXIBLE:
        tags = value.number(1)
        value.fits &= (tags == 0) | (tags == 1)
        header = value.text(np.where(tags == 1, 2, 0))
        found["topicId"] = value.text(np.where(tags == 1, UUID_SIZE, 0))
        expected = pa.scalar(bytes((_TOPIC_ID_TAG, UUID_SIZE)), pa.binary())
        is_topic_id = pc.equal(header, expected).to_numpy(zero_copy_only=False)
        value.fits &= (tags == 0) | is_topic_id
        found["topicId"] = _uuids(found["topicId"])
    found["fits"] = value.ends() & found["metadata"].is_valid().to_numpy(zero_copy_only=False)
    return found


def _uuids(values: pa.BinaryArray) -> pa.StringArray:
    encoded = values.dictionary_encode()
    texts = [
        uuid_text(one) if len(one) == UUID_SIZE else None for one in encoded.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _taken(column: pa.Array | NDArray[np.int64], rows: NDArray[np.int64]) -> object:
    return column[rows] if isinstance(column, np.ndarray) else column.take(pa.array(rows))


def _table(columns: dict[str, Any]) -> pa.Table | None:
    """The rows; None if a text is not UTF-8."""
    count = len(columns["row"])
    arrays = []
    for field in COMMITS:
        column = columns.get(field.name)
        if column is None:
            arrays.append(pa.nulls(count, field.type))
        elif isinstance(column, np.ndarray):
            arrays.append(fixed_width(column.astype(field.type.to_pandas_dtype()), field.type))
        else:
            try:
                arrays.append(column.cast(field.type))
            except pa.ArrowInvalid:
                return None
    return pa.Table.from_arrays(arrays, schema=COMMITS)


def _decoded_singly(
    rows: NDArray[np.int64], keys: pa.BinaryArray, values: pa.BinaryArray
) -> pa.Table:
    found = [
        {"row": row, **_one(key, value)}
        for row, key, value in zip(rows.tolist(), keys.to_pylist(), values.to_pylist(), strict=True)
    ]
    return pa.Table.from_pylist(found, COMMITS)


def _one(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        decoded_key = decode_key(Family.GROUP, key or b"")
        fields = decoded_key.fields
        found = {
            "groupId": fields["group"], "topic": fields["topic"], "partition": fields["partition"],
        }  # fmt: skip
        if value is None:
            return found
        decoded = decode_value(Family.GROUP, decoded_key.type, value)
    except MessageError as error:
        return {**found, "problem": str(error)}
    fields = decoded.fields
    topic_id = fields.get("topicId", ZERO_UUID)
    return {
        **found,
        "topicId": None if topic_id == ZERO_UUID else topic_id,
        "committedOffset": fields["offset"],
        "committedLeaderEpoch": fields.get("leaderEpoch"),
        "metadata": fields["metadata"],
        "commitTimestamp": fields["commitTimestamp"],
        "expireTimestamp": fields.get("expireTimestamp"),
        "valueVersion": decoded.version,
    }
