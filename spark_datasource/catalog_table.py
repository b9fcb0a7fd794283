"""Options of tables in Spark's catalog: ``CREATE TABLE t USING kafkalog OPTIONS (...)``.

Spark shows a Python source the options when a table is created, mixed with the properties of the
table, and forgets them. It keeps the schema with the metadata of its fields, so they are stored
there. Source: Spark 4.3, V2SessionCatalog#createTable and #loadTable.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPTIONS_KEY: Final = "kafkalog.options"
"""Of the metadata of the first column: the options of the table."""

_OPTION_PREFIX: Final = "option."
_PROPERTIES: Final = frozenset({
    "collation", "comment", "external", "is_managed_location", "location", "owner", "provider",
})  # fmt: skip
"""Names that Spark reserves: TableCatalog."""
_LOCAL: Final = "file:"


def is_being_created(options: Mapping[str, str]) -> bool:
    """Whether these are the properties of a table, which always has an owner and a provider."""
    return {"owner", "provider"} <= {name.lower() for name in options}


def created_options(properties: Mapping[str, str]) -> dict[str, str]:
    """The options among the properties of a table."""
    found = {
        name: value
        for name, value in properties.items()
        if name.lower() not in _PROPERTIES and not name.lower().startswith(_OPTION_PREFIX)
    }
    return {
        name: _local_path(value) if name.lower() == "path" else value
        for name, value in found.items()
    }


def with_options(
    schema: StructType, options: Mapping[str, str], paths: Iterable[str]
) -> StructType:
    """The schema with these options in its metadata; ``paths`` are absolute and replace theirs."""
    first, *rest = schema.fields
    kept = _without_path(options) | {"paths": json.dumps(list(paths))}
    described: dict[str, Any] = first.jsonValue() | {"metadata": {OPTIONS_KEY: json.dumps(kept)}}
    return StructType([type(first).fromJson(described), *rest])


def stored_options(schema: StructType, given: Mapping[str, str]) -> dict[str, str]:
    """The options of a read: those of its table, where ``given`` does not replace them."""
    text = schema.fields[0].metadata.get(OPTIONS_KEY) if schema.fields else None
    if text is None:
        return dict(given)
    names = {name.lower() for name in given}
    stored: dict[str, str] = json.loads(text)
    if "path" in names:
        stored = _without_path(stored)
    return {name: value for name, value in stored.items() if name.lower() not in names} | dict(
        given
    )


def _without_path(options: Mapping[str, str]) -> dict[str, str]:
    return {name: each for name, each in options.items() if name.lower() not in ("path", "paths")}


def _local_path(text: str) -> str:
    """Spark writes a local path as ``file:/mnt/b1``."""
    return "/" + text[len(_LOCAL) :].lstrip("/") if text.startswith(_LOCAL) else text
