"""Run in a process of its own: work on a segment, print the modules loaded and the memory used.

``python -m benchmarks.resident SEGMENT records|verify|salvage [MODULES.json]``. Modules in the
list, which an earlier run printed, are imported first, so that ``read`` excludes imports.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
import tempfile
from pathlib import Path

COLUMNS = ("offset", "timestamp", "key", "value")


def peak_resident_bytes(process: int | str = "self") -> int:
    """The most memory a process, this one or one by id, ever had resident."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def run(work: str, segment: str) -> None:
    """Do the work as a user does."""
    if work == "records":
        import kafkalog_reader

        for _ in kafkalog_reader.open(segment).table("records", columns=COLUMNS):
            pass
        return
    from kafkalog_reader.cli.main import kafkalog
    from kafkalog_reader.cli.run import status

    with (
        tempfile.TemporaryDirectory() as scratch,
        Path(scratch, "said").open("w") as said,
        contextlib.redirect_stdout(said),
    ):
        output = ["--output", f"{scratch}/output"] if work == "salvage" else []
        if status(kafkalog, [work, segment, *output]) > 1:
            sys.exit(f"{work} failed")


def main(segment: str, work: str, modules: str | None = None) -> None:
    if modules is not None:
        for name in json.loads(Path(modules).read_text()):
            with contextlib.suppress(ImportError):  # what only its own package can import
                importlib.import_module(name)
    imported = peak_resident_bytes()
    run(work, segment)
    read = peak_resident_bytes() - imported
    # A second name of a module cannot be imported by that name.
    modules_loaded = sorted(
        name for name, module in sys.modules.items() if getattr(module, "__name__", None) == name
    )
    print(json.dumps({"read": read, "modules": modules_loaded}))


if __name__ == "__main__":
    main(*sys.argv[1:])
