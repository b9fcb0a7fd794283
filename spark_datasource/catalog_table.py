"""Options of tables in Spark's catalog: ``CREATE TABLE t USING kafkalog OPTIONS (...)``.

Spark shows a Python source the options when a table is created, mixed with the properties of the
table, and forgets them. It keeps the schema with the metadata of its fields, so they are stored
there. Source: Spark 4.3, V2SessionCatalog#createTable and #loadTable.

Whatever is written from such a table, such as Parquet files, keeps that metadata: of options about
talking to brokers, which may be passwords, only the names are in it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import StructType

from kafkalog_reader.errors import OptionError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPTIONS_KEY: Final = "kafkalog.options"
"""Of the metadata of the first column: the options of the table."""

_OPTION_PREFIX: Final = "option."
_LOCAL: Final = "file:"
_FIXED: Final = ("table", "columns", "includeHeaders")
_GROUPS: Final = (
    ("path", "paths"),
    ("subscribe", "subscribePattern", "assign"),
    ("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp"),
    ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp", "until"),
)
"""Options that answer one question: one of them in a query replaces all of the table."""


def is_being_created(options: Mapping[str, str]) -> bool:
    """Whether these are the properties of a table, which always has an owner and a provider."""
    return {"owner", "provider"} <= {name.lower() for name in options}


def created_options(properties: Mapping[str, str]) -> dict[str, str]:
    """The options among the properties of a table.

    Spark adds a copy of each option with the prefix ``option.``, which other properties have not;
    ``OPTIONS (path ...)`` and ``LOCATION`` are the property ``path``.
    Source: Spark 4.3, CatalogV2Util#convertTableProperties.
    """
    found = {
        name[len(_OPTION_PREFIX) :]: value
        for name, value in properties.items()
        if name.lower().startswith(_OPTION_PREFIX)
    }
    found |= {name: value for name, value in properties.items() if name.lower() == "path"}
    return {
        name: _local_path(value) if name.lower() == "path" else value
        for name, value in found.items()
    }


def with_options(
    schema: StructType, options: Mapping[str, str], paths: Iterable[str]
) -> StructType:
    """The schema with these options in its metadata; ``paths`` are absolute and replace theirs."""
    first, *rest = schema.fields
    kept = _without(options, ("path", "paths")) | {"paths": json.dumps(list(paths))}
    described: dict[str, Any] = first.jsonValue() | {"metadata": {OPTIONS_KEY: json.dumps(kept)}}
    return StructType([type(first).fromJson(described), *rest])


def stored_options(schema: StructType, given: Mapping[str, str]) -> dict[str, str]:
    """The options of a read: those of its table, where ``given`` does not replace them.

    Raises:
        UsageError: no path, or an option that a query cannot change.
    """
    text = schema.fields[0].metadata.get(OPTIONS_KEY) if schema.fields else None
    names = {name.lower() for name in given}
    if text is None:
        if not names & {"path", "paths"}:
            raise UsageError(
                "no path given: load(path) takes it. A table that was created with a list of "
                "columns has no options, because Spark drops them: create it without the list"
            )
        return dict(given)
    stored: dict[str, str] = json.loads(text)
    _check_fixed(stored, given)
    for group in _GROUPS:
        if names & {name.lower() for name in group}:
            stored = _without(stored, group)
    return _without(stored, names) | dict(given)


def _check_fixed(stored: Mapping[str, str], given: Mapping[str, str]) -> None:
    before = {name.lower(): value for name, value in stored.items()}
    values = {name.lower(): value for name, value in given.items()}
    for name in _FIXED:
        if values.get(name.lower(), before.get(name.lower())) != before.get(name.lower()):
            raise OptionError(
                name, "it decides which columns a table has: give it when the table is created"
            )


def _without(options: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    left_out = {name.lower() for name in names}
    return {name: value for name, value in options.items() if name.lower() not in left_out}


def _local_path(text: str) -> str:
    """Spark writes a local path as ``file:/mnt/b1``."""
    return "/" + text[len(_LOCAL) :].lstrip("/") if text.startswith(_LOCAL) else text
