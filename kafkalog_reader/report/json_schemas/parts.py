"""What the schemas are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.tables.table import Column

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

BOOLEAN: Final[Schema] = {"type": "boolean"}
INTEGER: Final[Schema] = {"type": "integer"}
TEXT: Final[Schema] = {"type": "string"}


def row_of(columns: Iterable[Column]) -> Schema:
    """A row of a table: each column may be null."""
    properties: dict[str, Schema] = {}
    for column in columns:
        about = f"{column.doc} [{column.unit}]" if column.unit else column.doc
        properties[column.name] = or_null(_of_type(column.type)) | {"description": about}
    return object_of(properties)


def _of_type(kind: pa.DataType) -> Schema:
    if pa.types.is_list(kind):
        return list_of(or_null(_of_type(kind.value_type)))
    if pa.types.is_struct(kind):
        return object_of({field.name: or_null(_of_type(field.type)) for field in kind})
    if pa.types.is_floating(kind):
        return {"type": "number"}
    if pa.types.is_integer(kind):
        return INTEGER
    if pa.types.is_boolean(kind):
        return BOOLEAN
    return TEXT  # binary values according to --render, timestamps as ISO 8601 in UTC


def object_of(properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """An object with these properties and no others."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def list_of(items: Schema) -> Schema:
    """An array."""
    return {"type": "array", "items": items}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def typed(schema: Schema, *names: str) -> dict[str, Schema]:
    """Properties that have the same schema."""
    return dict.fromkeys(names, schema)


LOST: Final = typed(
    INTEGER,
    "lostRecords",
    "lostCommittedRecords",
    "lostPossiblyCommittedRecords",
    "lostCommittedOnlyIfUnclean",
    "lostUncommittedRecords",
    "maxLostInDamagedBatches",
    "maxLostCommittedInDamagedBatches",
    "maxLostPossiblyCommittedInDamagedBatches",
)
"""Counts of what an election or a step loses."""
