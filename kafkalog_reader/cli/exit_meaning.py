"""What the exit status of each command means: for ``--help``, and for the pages in docs/."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ExitMeaning:
    """When a command ends with a status other than 0.

    Attributes:
        found: when with 1, as the end of a sentence; empty if never.
        trouble: when with 2, besides errors; empty if never.
    """

    found: str = ""
    trouble: str = ""

    def __str__(self) -> str:
        found = f"1 if {self.found}; " if self.found else ""
        trouble = f"if {self.trouble}, or " if self.trouble else ""
        return f"Exit status: {found}2 {trouble}after an error; otherwise 0."


_AUDIT: Final = ExitMeaning(
    found="a finding is as bad as --fail-on or worse, or, unless that is critical, if the brokers "
    "cannot be started in any order without losing records that may be committed",
    trouble="files could not be read, or, without such a finding, if copies could not be compared",
)
_DAMAGED: Final = "the answer lacks records because of damage or loss (standard error names them)"
INCOMPLETE: Final = (
    "the answer lacks records because of damage or loss, or may lack some because every copy is "
    "outside the ISR (standard error names them)"
)
"""docs/output.md defines an incomplete answer by these words, and then uses the term."""

EXIT_MEANINGS: Final = {
    "ls": ExitMeaning(trouble="a replica could not be read (the others are shown)"),
    "records": ExitMeaning(found=f"offsets are doubtful, or {INCOMPLETE}"),
    "changes": ExitMeaning(
        found="committed records, whole partitions or records in the middle are missing, or the "
        "log is damaged",
        trouble="something could not be compared",
    ),
    "verify": _AUDIT,
    "replica-diff": _AUDIT,
    "plan": ExitMeaning(
        found="verify and replica-diff end with 1 for the same paths, or if too few voters can "
        "start for a majority of the controllers",
        trouble="verify and replica-diff end with 2, or, if they end with 0, if a partition has no "
        "plan",
    ),
    "quorum": ExitMeaning(
        found="too few voters can start for a majority, an election can lose records that may be "
        "committed, a file keeps the controllers from electing a leader, copies contradict each "
        "other, or the voters are unknown",
        trouble="a copy of the metadata log could not be read",
    ),
    "report": _AUDIT,
    "find": ExitMeaning(
        found="nothing was found, as with grep",
        trouble="nothing was found, but something could not be read",
    ),
    "timeline": ExitMeaning(found=_DAMAGED),
    "groups": ExitMeaning(
        found="a committed offset is below the log start, above the log end, after records that an "
        "election cut off, or of a deleted topic, if a group of --group was removed, or if "
        f"{INCOMPLETE}"
    ),
    "transactions": ExitMeaning(
        found="a transaction hangs or is late because its coordinator will not or did not end it, "
        "the partition of its coordinator is on no broker, "
        f"or damage may hide one, or if {INCOMPLETE}"
    ),
    "census": ExitMeaning(),
    "duplicates": ExitMeaning(
        found=f"records were sent again, or with --equal-records are equal, or if {INCOMPLETE}"
    ),
    "keys": ExitMeaning(
        found="a key is not where the partitioner that explains the others puts it, or if "
        f"{INCOMPLETE}"
    ),
    "table": ExitMeaning(
        found="the table is findings, and one is as bad as --fail-on or worse, or if offsets of "
        f"records are doubtful, or {INCOMPLETE}"
    ),
    "tables": ExitMeaning(),
    "sql": ExitMeaning(found=INCOMPLETE),
    "dump": ExitMeaning(trouble="a FILE is of another kind and was skipped"),
    "inspect": ExitMeaning(),
    "salvage": ExitMeaning(
        found="something was left out, is doubtful or is missing, if another copy could not be "
        "read or has records that the chosen one lacks, or if no record is in the requested range",
    ),
    "explain": ExitMeaning(),
    "schema": ExitMeaning(),
}
"""By the name of the command."""


def exit_text(command: str) -> str:
    """The sentence about the exit status that ends the help text of a command."""
    return str(EXIT_MEANINGS[command])
