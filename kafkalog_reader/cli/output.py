"""Opens the output: standard output, or a new file that appears when it is complete."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.names import META_PROPERTIES, parse_segment_file_name, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from kafkalog_reader.cli.rows import RowWriter
    from kafkalog_reader.io.evidence import Evidence

FORMATS: Final = ("text", "json", "csv", "arrow", "parquet")
BINARY_FORMATS: Final = frozenset({"arrow", "parquet"})


def default_rendering(output_format: str) -> str:
    """How binary values are shown by default: readable as text, exact elsewhere."""
    return "utf8" if output_format == "text" else "base64"


def row_writer(
    output_format: str, sink: IO[bytes], schema: pa.Schema, rendering: str | None = None
) -> RowWriter:
    """The writer of one of ``FORMATS``."""
    from kafkalog_reader.cli import rows
    from kafkalog_reader.cli.text_table import TextTable

    if output_format in BINARY_FORMATS:
        binary = rows.ParquetFile if output_format == "parquet" else rows.ArrowStream
        if rendering is None:
            return binary(sink, schema)
        return rows.Rendered(lambda shape: binary(sink, shape), schema, rendering)
    writers: dict[str, Callable[[IO[bytes], pa.Schema, str], RowWriter]] = {
        "text": TextTable,
        "json": rows.JsonLines,
        "csv": rows.CsvRows,
    }
    return writers[output_format](sink, schema, rendering or default_rendering(output_format))


def check_destination(path: str | None, output_format: str) -> None:
    """Refuse an impossible output before anything is read.

    Raises:
        UsageError: binary output to a terminal, Parquet without a file.
    """
    if path is not None:
        return
    if output_format == "parquet":
        raise UsageError(
            "--format parquet needs --output FILE: the end of a Parquet file is written last"
        )
    if output_format in BINARY_FORMATS and sys.stdout.isatty():
        raise UsageError(f"--format {output_format} is binary: use --output FILE, or redirect")


@contextlib.contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Standard output for bytes; an error is raised unless everything was written."""
    stream: IO[bytes] = sys.stdout.buffer
    if not isinstance(stream, io.RawIOBase):
        yield stream
        stream.flush()
        return
    # PYTHONUNBUFFERED: a raw stream may write only a part.
    buffered = io.BufferedWriter(stream)
    try:
        yield buffered
        buffered.flush()
    finally:
        with contextlib.suppress(OSError):  # the reader has closed the pipe, which was reported
            buffered.detach()


@contextlib.contextmanager
def destination(
    path: str | None, evidence: Evidence, *, overwrite: bool, option: str = "--output"
) -> Iterator[IO[bytes]]:
    """Open the output; a file gets its name when it is complete, or after Ctrl-C.

    Args:
        path: the file; None for standard output.
        evidence: the inputs, which are never overwritten.
        overwrite: whether the file may exist.
        option: the option that names the file, for errors.

    Raises:
        UsageError: the file exists and ``overwrite`` is not set, it is an input or would be inside
            one, or it cannot be created.
    """
    if path is None:
        with standard_output() as sink:
            yield sink
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode) and not target.is_dir():
        with target.open("wb") as device:  # a FIFO, /dev/null
            yield device
        return
    _refuse(f"{option} {shown(path)}", target, evidence)
    if target.exists() and not overwrite:
        raise UsageError(f"{shown(path)} exists: --force overwrites it")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            try:
                yield file
            except KeyboardInterrupt:
                file.close()
                part.replace(target)
                raise
        part.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {shown(path)}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _refuse(named: str, target: Path, evidence: Evidence) -> None:
    if target.is_dir():
        raise UsageError(f"{named} is a directory")
    if target.exists() and parse_segment_file_name(target.name) is not None:
        raise UsageError(f"{named} is a segment file: that is never overwritten")
    for directory in _directories_of(evidence):
        if target.is_relative_to(os.path.realpath(directory)):
            raise UsageError(
                f"{named} is inside {shown(directory)}, an input: inputs are evidence and are "
                "never changed"
            )


def _directories_of(evidence: Evidence) -> set[str]:
    """Log and partition directories of the inputs, also if only a part of one was given."""
    directories = {root.path for root in evidence.roots}
    for given in evidence.given:
        directories.add(given.path)
        parent = Path(given.log_directory.path)
        if (parent / META_PROPERTIES).is_file():
            directories.add(str(parent))
    return directories
