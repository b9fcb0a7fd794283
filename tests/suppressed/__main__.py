"""`make suppressed`: suppress each finding code in turn; some cheap test must fail.

The pages docs/findings.md and README.md, which show our own output, do not count.
"""

from __future__ import annotations

import sys

import pytest

TESTS = (
    "tests/faults/test_faults.py", "tests/scenarios/test_across_replicas.py",
    "tests/scenarios/test_synthetic.py", "tests/hostile/test_moving_files.py", "tests/audits",
    "tests/cli/test_replica_diff.py", "tests/cli/test_verify.py",
)  # fmt: skip
"""Those that expect exactly these findings first: the run ends when every code was noticed.

None lies in another one: pytest would move it to the place of that.
"""


def main() -> int:
    """Run the tests that look at findings; 1 where a code can be missing."""
    return pytest.main(
        ["-q", "-p", "tests.suppressed.plugin", "-p", "no:cacheprovider", *sys.argv[1:]]
        + ([] if any(not each.startswith("-") for each in sys.argv[1:]) else [*TESTS])
    )


if __name__ == "__main__":
    sys.exit(main())
