"""`make agreement-long`: compares the commands on every fault in every base, in half an hour."""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from fixtures.faults.catalogue import FAULTS, bases_of
from tests.agreement.faulty_copy import contradicted_by_fault


def main() -> int:
    """Print every contradiction; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", default="", help="only faults whose id begins with this")
    asked = parser.parse_args().fault
    logging.disable(logging.CRITICAL)
    copies = wrong = 0
    for fault in FAULTS:
        for base in bases_of(fault) if fault.id.startswith(asked) else ():
            with tempfile.TemporaryDirectory() as folder:
                found = contradicted_by_fault(fault, base, Path(folder))
            copies += 1
            wrong += bool(found)
            for each in found:
                print(f"{fault.id} in {base.name}: {each}", flush=True)  # noqa: T201
    print(f"{copies} copies, {wrong} with contradictions")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
