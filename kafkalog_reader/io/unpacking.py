"""Unpacks an archive into an empty folder: nothing outside of it, and not more than a limit."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.archive_members import (
    BLOCK,
    DAMAGE,
    Member,
    MemberKind,
    archive_members,
    damaged,
)
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    import io
    from collections.abc import Sequence

MAX_MEMBERS: Final = 3_000_000
"""600,000 partitions with five files each."""
MAX_DEPTH: Final = 40
MAX_SIZE: Final = 1 << 40
"""Bytes of all files with their zeros, which take time, but no space."""
_SHARE_OF_FREE: Final = 0.9


@dataclass(slots=True)
class Unpacking:
    """One archive on its way to a folder.

    Attributes:
        archive: its path, for messages.
        folder: where to; exists and is empty.
        space: bytes that may be written; zeros become holes and are not counted.
    """

    archive: str
    folder: str
    space: int
    size: int = 0
    written: int = 0
    members: int = 0
    _folders: dict[str, int | None] = field(default_factory=dict)

    def run(self, content: io.RawIOBase) -> None:
        """Unpack all members, with the times at which they were modified.

        Raises:
            UnreadableFileError: the archive is damaged or hostile, or exceeds a limit.
        """
        for member in archive_members(self.archive, content):
            self.members += 1
            if self.members > MAX_MEMBERS:
                raise self._refused(f"more than {MAX_MEMBERS:,} members")
            try:
                self._add(member)
            except FileExistsError as error:
                raise self._about(member, "is in the archive twice") from error
            except NotADirectoryError as error:
                raise self._about(member, "lies below a member that is a file") from error
            except (ValueError, OverflowError) as error:
                raise damaged(self.archive, error) from error
            except OSError as error:
                raise self._about(
                    member, f"cannot be unpacked: {error.strerror or error}"
                ) from error
        for path, modified_at_ns in reversed(self._folders.items()):  # each after what is in it
            if modified_at_ns is not None:
                os.utime(path, ns=(modified_at_ns, modified_at_ns))

    def _add(self, member: Member) -> None:
        parts = self._parts(member, member.name)
        if member.kind in (MemberKind.SYMBOLIC_LINK, MemberKind.SPECIAL):
            raise self._about(
                member, f"is {member.kind.value}, which is not followed: pack what it leads to"
            )
        if member.kind is MemberKind.FOLDER:
            self._add_folder(parts, member.modified_at_ns)
            return
        if not parts:
            raise self._about(member, "has no name")
        self._add_folder(parts[:-1], None)
        path = os.path.join(self.folder, *parts)
        if member.kind is MemberKind.HARD_LINK:  # to a member before it: the same file again
            target = os.path.join(self.folder, *self._parts(member, member.target or ""))
            if not os.path.isfile(target):
                raise self._about(member, "is a hard link to nothing before it in the archive")
            os.link(target, path)
            return
        self._write(path, member)
        os.utime(path, ns=(member.modified_at_ns, member.modified_at_ns))

    def _parts(self, member: Member, name: str) -> Sequence[str]:
        """The parts of a relative name; nothing may lead out of the folder."""
        if name.startswith("/"):
            raise self._about(member, "is an absolute name: pack with relative ones (tar -C DIR .)")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise self._about(member, "leads out of the archive by ..")
        if len(parts) > MAX_DEPTH:
            raise self._about(member, f"is nested deeper than {MAX_DEPTH} folders")
        return parts

    def _add_folder(self, parts: Sequence[str], modified_at_ns: int | None) -> None:
        path = os.path.join(self.folder, *parts)
        if path not in self._folders:
            if parts:
                self._add_folder(parts[:-1], None)
                os.mkdir(path, 0o700)
            self._folders[path] = None
        if modified_at_ns is not None:
            self._folders[path] = modified_at_ns

    def _write(self, path: str, member: Member) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            position = 0
            while block := self._next_block(member):
                self.size += len(block)
                if self.size > MAX_SIZE:
                    raise self._refused(f"unpacks to more than {MAX_SIZE:,} bytes")
                if block.count(0) < len(block):
                    self._count(len(block))
                    done = 0
                    while done < len(block):
                        done += os.pwrite(descriptor, block[done:], position + done)
                position += len(block)
            os.ftruncate(descriptor, position)
        finally:
            os.close(descriptor)

    def _next_block(self, member: Member) -> bytes:
        try:
            return member.read(BLOCK)
        except DAMAGE as error:
            raise damaged(self.archive, error) from error

    def _count(self, size: int) -> None:
        self.written += size
        if self.written > self.space:
            raise self._refused(
                f"unpacks to more than {self.space:,} bytes, {_SHARE_OF_FREE:.0%} of what is free "
                f"in {shown(os.path.dirname(os.path.dirname(self.folder)))}: set TMPDIR to a "
                "folder of a larger disk, or unpack it yourself"
            )

    def _about(self, member: Member, problem: str) -> UnreadableFileError:
        return self._refused(f"{shown(member.name[:300])!r} {problem}")

    def _refused(self, problem: str) -> UnreadableFileError:
        return UnreadableFileError(problem, LogPosition(shown(self.archive)))


def free_space(folder: str) -> int:
    """Bytes that an archive may take in a folder."""
    found = os.statvfs(folder)
    return int(found.f_bavail * found.f_frsize * _SHARE_OF_FREE)
