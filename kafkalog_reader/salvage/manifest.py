"""``manifest.json``: what a salvage holds, what it left out, and why."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import __version__
from kafkalog_reader.io.names import shown
from kafkalog_reader.salvage.left_out import Places
from kafkalog_reader.salvage.offset_coverage import OffsetCoverage
from kafkalog_reader.tables.identity import identity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.evidence import PartitionDirectory

MANIFEST: Final = "manifest.json"


@dataclass(slots=True, kw_only=True)
class SalvagedPartition:
    """One replica that was salvaged.

    Attributes:
        folder: where its files are, below the output; None when nothing of it could be kept.
        records: kept ones; in segments those of transactions that were not committed are no part.
        left_out: damage.
        notes: further numbers, of segments: what became of transactions and producers.
        warnings: what the reader said besides.
    """

    directory: PartitionDirectory
    folder: str | None = None
    files: list[str] = field(default_factory=list)
    records: int = 0
    offsets: OffsetCoverage = field(default_factory=OffsetCoverage)
    left_out: Places = field(default_factory=Places)
    notes: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The partition for people."""
        directory = self.directory
        if directory.topic is None:
            return shown(directory.path)
        return f"{shown(directory.topic)}-{directory.partition}"

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            **identity_of(self.directory),
            "directory": shown(self.directory.path),
            "folder": self.folder,
            "files": self.files,
            "records": self.records,
            **self.offsets.as_json(),
            "leftOut": {
                "count": self.left_out.count,
                "places": [asdict(place) for place in self.left_out.first],
            },
            **self.notes,
            "warnings": [shown(warning) for warning in self.warnings],
        }


def manifest_text(
    form: str, inputs: Sequence[str], partitions: Sequence[SalvagedPartition], *, is_complete: bool
) -> str:
    """The whole manifest.

    Args:
        form: ``parquet`` or ``segments``.
        inputs: paths as given.
        partitions: in the order in which they were salvaged.
        is_complete: whether nothing ended the work early.
    """
    content = {
        "kafkalogVersion": __version__,
        "form": form,
        "inputs": [shown(path) for path in inputs],
        "isComplete": is_complete,
        "partitions": [partition.as_json() for partition in partitions],
    }
    return json.dumps(content, indent=1) + "\n"
