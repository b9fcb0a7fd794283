"""Plans that are reused until a file changes; every file is checked before each use.

Spark plans in a Python process that it keeps for a while. A query over directories that an earlier
one planned needs neither the ends of logs nor the best copies again.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.io.folder_states import FolderStates
from kafkalog_reader.io.last_resort import pass_on
from spark_datasource.worker_log import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spark_datasource.planning import PackedUnits

MAX_FOLDERS: Final = 50_000
"""Folders of all plans together, about a kilobyte each; a larger plan is made every time."""
_SETTLED_NS: Final = 2_000_000_000
"""How long before planning a file must have changed last. Clocks of file systems are coarse: two
changes within one tick look like one."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and what it depends on."""

    tasks: list[PackedUnits]
    folders: Iterable[str]


@dataclass(frozen=True, slots=True)
class _KnownPlan:
    question: Any
    tasks: list[PackedUnits]
    states: FolderStates
    warnings: list[logging.LogRecord]


class KnownPlans:
    """The plans of one process.

    Args:
        max_folders: how many folders they have together.
        settled_ns: how long before planning their files must have changed last.
    """

    def __init__(self, max_folders: int = MAX_FOLDERS, settled_ns: int = _SETTLED_NS) -> None:
        self._max_folders = max_folders
        self._settled_ns = settled_ns
        self._plans: list[_KnownPlan] = []

    def planned(self, question: object, plan: Callable[[], Planned]) -> list[PackedUnits]:
        """The tasks of a plan: of a known one, whose files are unchanged, or of a new one.

        Args:
            question: equal for equal plans over the same files.
            plan: plans, and says in which folders what it looked at is. Its warnings are repeated
                when the plan is used again.
        """
        for known in self._plans:
            if known.question == question:
                self._plans.remove(known)
                if not known.states.are_unchanged():
                    break
                self._plans.append(known)  # the one used last is dropped last
                for record in known.warnings:
                    logging.getLogger(record.name).handle(record)
                return list(known.tasks)
        started_ns = time.time_ns()
        with _collected_warnings() as warnings:
            found = plan()
        states = self._states(found.folders)
        if states is not None and states.newest_ns < started_ns - self._settled_ns:
            self._keep(_KnownPlan(question, found.tasks, states, warnings))
        return list(found.tasks)

    def _states(self, folders: Iterable[str]) -> FolderStates | None:
        few = list(islice(folders, self._max_folders + 1))
        try:
            return FolderStates(few) if len(few) <= self._max_folders else None
        except OSError:
            return None

    def _keep(self, known: _KnownPlan) -> None:
        self._plans.append(known)
        while sum(len(each.states) for each in self._plans) > self._max_folders:
            del self._plans[0]


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        pass_on(record, self)


@contextmanager
def _collected_warnings() -> Iterator[list[logging.LogRecord]]:
    collector = _Collector()
    for package in PACKAGES:
        logging.getLogger(package).addHandler(collector)
    try:
        yield collector.records
    finally:
        for package in PACKAGES:
            logging.getLogger(package).removeHandler(collector)
