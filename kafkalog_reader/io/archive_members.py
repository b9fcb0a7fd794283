"""The members of ``.tar``, ``.tar.gz``, ``.tar.zst`` and ``.zip``, in the order of their bytes.

Sources: POSIX.1-2017 pax, GNU tar's manual, APPNOTE.TXT 6.3.10 (zip), Info-ZIP's extra field UT.
"""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from dataclasses import dataclass
from enum import Enum
from typing import IO, TYPE_CHECKING, Any, Final, cast

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK: Final = 64 << 10
_HEADER_LIMIT: Final = 1 << 20
"""Bytes of one member's headers: a name has at most 4,096, and tarfile holds them in memory."""
_UNIX_TIME: Final = 0x5455
_ENCRYPTED: Final = 0x1
DAMAGE: Final = (
    OSError, EOFError, ValueError, LookupError, ArithmeticError, RecursionError, struct.error,
    NotImplementedError, tarfile.TarError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What tarfile, zipfile, gzip and pyarrow raise for bytes that contradict their format."""


class MemberKind(Enum):
    """What a member is; only folders and files are unpacked."""

    FOLDER = "a folder"
    FILE = "a file"
    SYMBOLIC_LINK = "a symbolic link"
    HARD_LINK = "a hard link"
    SPECIAL = "a device or FIFO"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One entry of an archive.

    Attributes:
        name: as stored, so hostile.
        modified_at_ns: nanoseconds since 1970.
        target: name of the earlier member that a hard link repeats.
        read: takes a number of bytes, and returns at most that many; empty at the file's end.
    """

    name: str
    kind: MemberKind
    modified_at_ns: int
    target: str | None
    read: Callable[[int], bytes]


def archive_members(archive: str, content: io.RawIOBase) -> Iterator[Member]:
    """Yield the members; each must be read before the next one is asked for.

    Args:
        archive: its path; the ending says its format.
        content: its bytes.

    Raises:
        UnreadableFileError: it is damaged, cut short, encrypted or of an unknown kind.
    """
    try:
        if archive.endswith(".zip"):
            yield from _zip_members(archive, content)
        else:
            yield from _tar_members(archive, content)
    except DAMAGE as error:
        raise damaged(archive, error) from error


def damaged(archive: str, error: BaseException) -> UnreadableFileError:
    """The error about bytes that the libraries could not read."""
    what = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return _refused(archive, f"a damaged archive: {what[:300]}")


def _refused(archive: str, problem: str) -> UnreadableFileError:
    return UnreadableFileError(problem, LogPosition(shown(archive)))


class _Forward:
    """A stream for ``tarfile`` that only goes forward, and gives headers of a bounded size."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._position = 0
        self._left = _HEADER_LIMIT
        self.last = b""

    def start_header(self) -> None:
        self._left = _HEADER_LIMIT

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self._left:
            raise ValueError(f"the headers of one member have more than {_HEADER_LIMIT:,} bytes")
        self.last = self._source.read(size)
        self._left -= len(self.last)
        self._position += len(self.last)
        return self.last

    def read_content(self, size: int) -> bytes:
        self._left = size
        return self.read(size)

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < self._position:
            raise ValueError("a member that begins before the end of the one before it")
        while self._position < position:
            skipped = self._source.read(min(BLOCK, position - self._position))
            if not skipped:
                raise EOFError("it ends within a member")
            self._position += len(skipped)

    def has_content_left(self) -> bool:
        """Read to the end, where gzip has its checksum; whether anything but zeros was there."""
        found = False
        while block := self._source.read(BLOCK):
            found |= block.count(0) < len(block)
        return found


def _tar_members(archive: str, content: io.RawIOBase) -> Iterator[Member]:
    with _decompressed(archive, content) as source:
        forward = _Forward(source)
        # tarfile asks for nothing but these three methods
        with tarfile.TarFile(fileobj=cast("Any", forward), mode="r", encoding="utf-8") as tar:
            while True:
                forward.start_header()
                entry = tar.next()
                if entry is None:
                    break
                cast("Any", tar).members.clear()  # it keeps all of them
                yield Member(
                    name=entry.name,
                    kind=_kind_in_tar(entry),
                    modified_at_ns=int(entry.mtime * 10**9),
                    target=entry.linkname if entry.islnk() else None,
                    read=_reader(forward, tar, entry),
                )
        if len(forward.last) < tarfile.BLOCKSIZE or forward.last.count(0) < len(forward.last):
            raise EOFError("no end of archive after its last member: cut short, or overwritten")
        if forward.has_content_left():
            raise ValueError("bytes after its end: overwritten, or several archives in one file")


def _decompressed(archive: str, content: io.RawIOBase) -> IO[bytes]:
    if archive.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=io.BufferedReader(content, 4 * BLOCK)))
    if archive.endswith((".zst", ".tzst")):
        import pyarrow as pa

        compressed = pa.PythonFile(content, mode="r")
        return cast("IO[bytes]", pa.CompressedInputStream(compressed, "zstd"))
    return io.BufferedReader(content, 4 * BLOCK)


def _kind_in_tar(entry: tarfile.TarInfo) -> MemberKind:
    if entry.isdir():
        return MemberKind.FOLDER
    if entry.isreg():
        return MemberKind.FILE
    if entry.issym():
        return MemberKind.SYMBOLIC_LINK
    return MemberKind.HARD_LINK if entry.islnk() else MemberKind.SPECIAL


def _reader(
    forward: _Forward, tar: tarfile.TarFile, entry: tarfile.TarInfo
) -> Callable[[int], bytes]:
    """Reads a member; one with holes by tarfile, which knows where they are."""
    if entry.issparse():
        forward.start_header()
        opened = tar.extractfile(entry)
        assert opened is not None

        def read_sparse(size: int) -> bytes:
            forward.start_header()
            return opened.read(size)

        return read_sparse
    end = entry.offset_data + entry.size

    def read(size: int) -> bytes:
        wanted = min(size, end - forward.tell())
        block = forward.read_content(wanted)
        if len(block) < wanted:
            raise EOFError(f"it ends within {shown(entry.name)}")
        return block

    return read


def _zip_members(archive: str, content: io.RawIOBase) -> Iterator[Member]:
    with zipfile.ZipFile(io.BufferedReader(content, 4 * BLOCK)) as found:
        for entry in found.infolist():
            if entry.flag_bits & _ENCRYPTED:
                raise _refused(
                    archive, f"{shown(entry.filename)} is encrypted: unpack it with its password"
                )
            kind = _kind_in_zip(entry)
            opened = found.open(entry) if kind is MemberKind.FILE else io.BytesIO()
            with opened:
                yield Member(
                    name=entry.filename,
                    kind=kind,
                    modified_at_ns=_modified_at(entry) * 10**9,
                    target=None,
                    read=opened.read,
                )


def _kind_in_zip(entry: zipfile.ZipInfo) -> MemberKind:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return MemberKind.SYMBOLIC_LINK
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return MemberKind.SPECIAL
    return MemberKind.FOLDER if entry.is_dir() else MemberKind.FILE


def _modified_at(entry: zipfile.ZipInfo) -> int:
    """In seconds since 1970; without Info-ZIP's field, the zip has local time of two seconds."""
    extra = entry.extra
    while len(extra) >= 4:
        tag, size = struct.unpack_from("<HH", extra)
        if tag == _UNIX_TIME and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            (seconds,) = struct.unpack_from("<i", extra, 5)
            return int(seconds)
        extra = extra[4 + size :]
    return int(time.mktime((*entry.date_time, 0, 0, -1)))
