"""Where a read looks: ``load(a)`` is the option path, ``load([a, b])`` is JSON in paths."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.path_argument import absolute_argument

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED: Final = re.compile(r"([^=/]+=)(.+)", re.DOTALL)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")


def parse_paths(given: Mapping[str, str]) -> tuple[str, ...]:
    """The paths, absolute, globs and ``N=`` as given: executors have other working directories.

    Raises:
        UsageError: no path, or ``paths`` is not a JSON list.
        LogLayoutError: a URI holds credentials.
    """
    if "path" in given and "paths" in given:
        raise UsageError("options path and paths exclude each other: load([a, b]) takes several")
    if "path" in given:
        return (absolute_argument(given["path"]),)
    if "paths" not in given:
        raise UsageError('no path given: spark.read.format("kafkalog").load("/path/to/kafka-logs")')
    try:
        paths = json.loads(given["paths"])
    except (ValueError, RecursionError):
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise UsageError(f'option paths: {given["paths"]}: write JSON like ["/mnt/b1", "/mnt/b2"]')
    if not paths:
        raise UsageError("load([]): no path given")
    return tuple(map(absolute_argument, paths))


def parse_metrics_path(given: Mapping[str, str]) -> str | None:
    """The folder for metrics, absolute; the inputs are evidence, so it is outside of them.

    Raises:
        OptionError: it is empty, a URI, or inside a path that is read.
    """
    text = given.get("metricsPath")
    if text is None:
        return None
    if not text.strip() or "\0" in text or _SCHEME.match(text):
        raise OptionError("metricsPath", f"{text!r} is not a folder that executors can write to")
    folder = Path(text).resolve()
    for path in parse_paths(given):
        named = _NAMED.fullmatch(path)
        pattern = str(Path(named[2] if named else path).resolve())
        if any(each.match(pattern) for each in (folder, *folder.parents)):
            raise OptionError("metricsPath", f"{text!r} is inside {path}, which is only read")
    return str(folder)
