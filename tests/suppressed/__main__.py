"""`make suppressed`: suppress each finding code in turn; at least one fast test must fail.

Tests of docs/findings.md and README.md do not count, because these pages show our own output.
"""

from __future__ import annotations

import sys

import pytest

TESTS = (
    "tests/faults/test_faults.py", "tests/scenarios/test_across_replicas.py",
    "tests/scenarios/test_synthetic.py", "tests/hostile/test_moving_files.py", "tests/audits",
    "tests/cli/test_replica_diff.py", "tests/cli/test_replica_diff_answers.py",
    "tests/cli/test_verify.py",
)  # fmt: skip
"""Tests that expect exact findings come first: the run ends when every code was noticed.

None is inside another: pytest would move it to the place of the outer one.
"""


def main() -> int:
    """Run the tests that check findings; return 1 if a code can be missing."""
    return pytest.main(
        ["-q", "-p", "tests.suppressed.plugin", "-p", "no:cacheprovider", *sys.argv[1:]]
        + ([] if any(not each.startswith("-") for each in sys.argv[1:]) else [*TESTS])
    )


if __name__ == "__main__":
    sys.exit(main())
