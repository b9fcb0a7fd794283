"""URIs of object stores, as ``pyarrow.fs.FileSystem.from_uri`` takes them, without credentials.

Credentials in a path would end in plans, logs, shell histories and reports, so they are refused;
``pyarrow`` finds them in the environment, in configuration files and in the machine's role.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from kafkalog_reader.errors import LogLayoutError, redacted, shown

_URI: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/+([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?")
_CHOICES: Final = re.compile(r"[/{},]")
_SAME_AS: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "wasb": "abfs", "wasbs": "abfss"}
"""Hadoop's names of stores that pyarrow has under another one."""
_CREDENTIALS: Final = {
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
    "abfss": "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectUri:
    """A URI in its parts.

    Attributes:
        root: scheme and authority, such as ``s3://bucket``.
        key: the rest of the path, decoded, without slashes at its ends; may be a pattern.
        query: with its question mark, or empty.
    """

    root: str
    key: str
    query: str


def parse_object_uri(text: str) -> ObjectUri | None:
    """The parts of a URI; None for a path, or a ``file:`` URL.

    Raises:
        LogLayoutError: it holds credentials, a fragment, or a key that cannot be a path.
    """
    match = _URI.fullmatch(text)
    if match is None or match[1].lower() == "file":
        return None
    scheme, authority, path, query, fragment = match.groups()
    scheme = _SAME_AS.get(scheme.lower(), scheme.lower())
    if redacted(text) != text:
        advice = _CREDENTIALS.get(scheme, "give them by its configuration")
        raise LogLayoutError(
            f"{shown(text)}: credentials are not read from a path, which is printed and logged: "
            f"{advice}, or what else pyarrow reads for this store (docs/object-stores.md)"
        )
    if fragment is not None:
        raise LogLayoutError(f"{shown(text)}: write %23 for a # in a key")
    key = unquote(path).strip("/")
    parts = {*key.split("/"), *_CHOICES.split(key)}
    if key and (not all(key.split("/")) or "\0" in key or not parts.isdisjoint((".", ".."))):
        raise LogLayoutError(f"{shown(text)}: a key with .., //, . or NUL cannot be a path")
    return ObjectUri(
        root=f"{scheme}://{authority}",
        key=key,
        query=f"?{query}" if query else "",
    )
