"""A handler that only collects records must not silence them."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import logging
from kafkalog_reader.io.last_resort import pass_on

class Collector(logging.Handler):
    def emit(self, record):
        pass_on(record, self)

logger = logging.getLogger("kafkalog_reader.scan")
logging.getLogger("kafkalog_reader").addHandler(Collector())
{set_up}
logger.warning("a torn end")
logger.info("below the level of logging.lastResort")
"""


@pytest.mark.parametrize(
    ("set_up", "printed"),
    [
        ("", "a torn end\n"),
        ("logger.addHandler(logging.NullHandler())", ""),
        ("logging.basicConfig(format='of the program: %(message)s')",
         "of the program: a torn end\n"),
        ("logger.propagate = False", "a torn end\n"),
    ],
    ids=["no_handler", "a_handler_of_the_logger", "a_handler_of_the_program", "not_propagated"],
)  # fmt: skip
def test_records_are_printed_once_as_without_the_collector(set_up: str, printed: str) -> None:
    """In a process of its own: pytest handles all records."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(set_up=set_up)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == printed
