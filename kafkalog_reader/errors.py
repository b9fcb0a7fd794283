"""Every error that kafkalog raises on purpose.

KafkaLogError
├── UsageError               an invalid option, table or path; names the nearest valid one
│   └── OptionError          one option, which each interface spells in its own way
├── MissingPackageError      a package of an extra is not installed; names the extra
├── OutdatedKernelError      the compiled kernel is older than its sources
├── SalvageCountError        the records that a salvage kept and left out are not those read
├── DataLossError            records that a stream had not read yet are gone
├── LogLayoutError           a path or a name that Kafka would not have written
├── UnreadableFileError      the operating system refused or failed a read; says where
├── UnsupportedFormatError   Kafka's (or newer than we know), but not handled here; says where
├── MissingRecordsError      records that other files prove, and that are not there; says where
├── LimitReachedError        more bytes than a limit allows: not looked at; says where
└── CorruptLogError          bytes that contradict the format; always says where
    ├── CorruptRecordError
    ├── CorruptIndexError
    └── CorruptCheckpointError
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_shown_as: dict[str, tuple[str, str]] = {}
_URI: Final = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]+:/+[^\s'\"]*")
_PASSWORD: Final = re.compile(r"(?<=:/)(/*[^/?#:@]*):(?![0-9]+(?:/|$))[^?#@]*@")
_PARAMETER: Final = re.compile(r"(?<=[?&])([^=&#]*)=([^&#]*)")
_PUBLIC_PARAMETERS: Final = frozenset(
    {
        "allow_bucket_creation", "allow_bucket_deletion", "allow_delayed_open",
        "blob_storage_authority", "blob_storage_scheme", "background_writes", "client_id",
        "check_directory_existence_before_creation", "credential_kind", "dfs_storage_authority",
        "dfs_storage_scheme", "enable_tls", "endpoint_override", "force_virtual_addressing",
        "kerb_ticket", "region", "replication", "retry_limit_seconds", "scheme",
        "smart_defaults", "tenant_id", "tls_ca_file_path", "tls_verify_certificates",
        "user", "wait_time",
    }
)  # fmt: skip
"""Parameters of the URIs of ``pyarrow.fs`` that are no credentials."""


def show_as(folder: str, name: str, query: str = "") -> None:
    """From now on, show a folder under another name: an archive's, where it was unpacked.

    Args:
        folder: its path.
        name: shown instead.
        query: follows the whole path in an argument, as in the URI of an object.
    """
    _shown_as[folder] = (name, query)


def redacted(text: str) -> str:
    """The text without passwords and unknown parameters of the URIs in it, which may be keys."""
    return _URI.sub(lambda found: _redacted_uri(found[0]), text) if ":/" in text else text


def _redacted_uri(uri: str) -> str:
    uri = _PASSWORD.sub(r"\1:***@", uri)
    return _PARAMETER.sub(
        lambda found: found[0] if found[1] in _PUBLIC_PARAMETERS else f"{found[1]}=***", uri
    )


@contextmanager
def shown_names() -> Iterator[None]:
    """Names that are given to folders meanwhile are forgotten at the end."""
    before = dict(_shown_as)
    try:
        yield
    finally:
        _shown_as.clear()
        _shown_as.update(before)


def as_given(text: str) -> str:
    """The text with folders under the names that the user gave."""
    for folder, (name, _) in _shown_as.items():
        if folder in text:
            text = text.replace(folder, name)
    return text


def as_argument(text: str) -> str:
    """A path as a command can be given it: that of an object is its whole URI."""
    for folder, (name, query) in _shown_as.items():
        if "://" in name and (text == folder or text.startswith(f"{folder}/")):
            key = text[len(folder) :].replace("%", "%25").replace("?", "%3F").replace("#", "%23")
            text = f"{name}{key}{query}"
            break
    return as_given(text)


def shown(text: str) -> str:
    """A name or path on one line, as given, as valid UTF-8 that is safe for a terminal.

    Control and bidirectional characters, and bytes that are not UTF-8, become backslash escapes.
    """
    text = redacted(as_given(text))
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escaped(character) for character in text
    )


def shortened(text: str, limit: int) -> str:
    """The text, or its first ``limit`` characters and how many are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... ({len(text) - limit:,} characters left out)"


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode marks an undecodable byte so
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A place in a log: the file, the byte in it, and the Kafka offset if known."""

    file: str
    position: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        text = shown(self.file)  # a file name may hold control characters
        if self.position is not None:
            text += f" at position {self.position}"
        if self.offset is not None:
            text += f" (offset {self.offset})"
        return text


class KafkaLogError(Exception):
    """Base of every error that kafkalog raises on purpose."""


class MissingPackageError(KafkaLogError, ImportError):
    """A package that only some functions need is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)  # all arguments: without them no process can unpickle it
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"{self.package} is not installed: pip install 'kafkalog[{self.extra}]'"


class OutdatedKernelError(KafkaLogError, ImportError):
    """The compiled kernel is older than its sources: it must be rebuilt."""


class UsageError(KafkaLogError):
    """A request is invalid; the message names the nearest valid one."""


class OptionError(UsageError):
    """An option that does not apply, or an invalid value of it.

    Attributes:
        option: its name as a Python keyword; the terminal and Spark spell it differently.
    """

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(option, problem)  # all arguments, or no process can unpickle it
        self.option = option
        self.problem = problem

    def __str__(self) -> str:
        return self.spelled(f"option {self.option}")

    def spelled(self, option: str) -> str:
        """The message with the option's name as the user typed it."""
        return f"{option}: {self.problem}"


class LogLayoutError(KafkaLogError):
    """A path or a name that Kafka would not have written."""


class DataLossError(KafkaLogError):
    """Records between the offset that a reader had reached and the next ones are gone."""


class SalvageCountError(KafkaLogError):
    """A salvage kept and left out other records than reading found: do not use its output."""


class LocatedError(KafkaLogError):
    """An error about the bytes at ``where``.

    Attributes:
        problem: what is wrong.
        where: the bytes.
        advice: how to read on, as the last words of the message; often empty.
    """

    advice = ""

    def __init__(self, problem: str, where: LogPosition) -> None:
        super().__init__(problem, where)  # all arguments, or no process can unpickle it
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" + (f". {self.advice}" if self.advice else "")


class UnreadableFileError(LocatedError):
    """The operating system refused to open or failed to read the file at ``where``."""


class UnsupportedFormatError(LocatedError):
    """The bytes at ``where`` are a format that this version does not read."""


class MissingRecordsError(LocatedError):
    """Records are missing at ``where``: other files of the replica prove that they were there."""


class LimitReachedError(LocatedError):
    """The bytes at ``where`` decompress to more than a limit allows; they were not inspected."""


class CorruptLogError(LocatedError):
    """The bytes at ``where`` contradict the format."""


class CorruptRecordError(CorruptLogError):
    """A record batch or a record contradicts its own lengths, counts or checksum."""


class CorruptIndexError(CorruptLogError):
    """An entry of an offset, time or transaction index contradicts the format."""


class CorruptCheckpointError(CorruptLogError):
    """A checkpoint, snapshot or metadata file contradicts its grammar."""
