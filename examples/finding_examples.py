"""A real finding for each code: the program's output about a fault, a capture or a built state."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kafkalog_reader
from fixtures import captures
from fixtures.builder.cluster import cluster
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.builder.replica import TOPIC_ID
from fixtures.faults.catalogue import FAULTS, PLAIN, bases_of
from fixtures.synthetic import EXPECTED, SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from fixtures.synthetic.consumer_groups import STATES
from fixtures.synthetic.empty_disk import two_brokers_and_an_empty_disk
from fixtures.synthetic.internal_records import INTERNAL_RECORDS
from fixtures.synthetic.lost_disk import lose_disk, two_disks
from fixtures.synthetic.marker_states import MARKER_LOGS
from fixtures.synthetic.producer_states import LOGS
from fixtures.synthetic.tiered_topic import copy_of_topic, tiered_topic
from fixtures.synthetic.transaction_states import ENDED, TRANSACTIONS
from kafkalog_reader import registry
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.faults.fault import Fault
    from fixtures.faults.sample import Base
    from fixtures.synthetic import Scenario
    from fixtures.synthetic.across_replicas import CrossFault
    from fixtures.synthetic.consumer_groups import GroupState
    from fixtures.synthetic.internal_records import InternalRecord
    from fixtures.synthetic.marker_states import MarkerLog
    from fixtures.synthetic.producer_states import ProducerLog
    from fixtures.synthetic.transaction_states import EndedTransaction, OpenTransaction

PLANS: Final = frozenset({"KL-901", "KL-902"})
"""Findings that follow every comparison, and are not expected ones."""
COPIES: Final = (("F01", 1), ("F06", 1), ("F19", 1), ("F01", 3), ("D07", 3), ("D18", 1))
"""Faults in the first of three copies of one replica, or in all of them."""
SPLIT: Final = captures.path("s3_2/both-led")
HEALED: Final = captures.path("s3_2/healed")
WHOLE_BATCHES: Final = 1997
"""Bytes of its metadata log after which a batch begins."""
STARTED_AT: Final = "2040-01-01T00:00:00Z"
SHOWN: Final = ("code", "severity", "name", "file", "position", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One finding.

    Attributes:
        made: how it was produced.
        row: of the table ``findings``.
    """

    made: str
    row: dict[str, Any]

    @property
    def line(self) -> str:
        """The finding as ``replica-diff --verbose`` lists it, with its place in front."""
        row = self.row
        file = row["file"] if row["file"] and row["file"] not in row["message"] else ""
        place = f"{file} position {row['position']}: " if file and row["position"] else ""
        return f"{row['severity']} {row['code']} {row['name']}: {place}{row['message']}"


def examples() -> dict[str, Example]:
    """An example for every code that has one, by code."""
    found: dict[str, Example] = {}
    for made, rows in _findings(found):
        for row in rows:
            found.setdefault(row["code"], Example(made=made, row=row))
    return found


def _findings(found: dict[str, Example]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """How each state was made, and its findings; faults only for new codes."""
    for fault in FAULTS:
        for base in bases_of(fault):
            if {each.code for each in fault.expected(base.sample)} - set(found):
                yield f"{fault.what} ({fault.id}), Kafka {base.release}", _of_fault(fault, base)
    for scenario in SCENARIOS.values():
        expected = json.loads((EXPECTED / f"{scenario.name}.json").read_text())
        codes = {each["code"] for each in expected["findings"]} | PLANS
        if codes - set(found):
            yield scenario.says, _of_scenario(scenario)
    for across in CROSS_FAULTS:
        if {code for code, *_ in across.expected} - set(found):
            yield f"{across.what} ({across.id})", _of_brokers(across)
    for state in (*STATES, *LOGS, *MARKER_LOGS, *TRANSACTIONS, *ENDED, *INTERNAL_RECORDS):
        if {code for code, *_ in state.expected} - set(found):
            yield f"{state.what} ({state.id})", _of_state(state)
    for fault_id, damaged in COPIES:
        fault = next(each for each in FAULTS if each.id == fault_id)
        where = "the first of three copies" if damaged == 1 else "each of three copies"
        yield f"{fault.what} ({fault.id}) in {where}", _of_copies(fault, damaged)
    yield "a log grew between two looks at it", _while_it_grows()
    yield "one of the two disks of a broker was lost", _without_a_disk()
    yield "in a cluster with ZooKeeper, the disk of a broker is empty", _empty_disk()
    yield "three brokers, one of them not supplied", _without_a_broker()
    yield "the only controller's copy of the metadata log was cut", _controller_behind()
    yield "200 bytes of a controller's snapshot were overwritten with zeros", _damaged_snapshot()
    yield "the metadata log creates a topic a second time, with another id", _created_twice()
    yield "the producer snapshot at 40 was deleted, and the topic is tiered", _not_uploaded()
    yield "the folder of one replica was renamed from t-0 to t-7", _renamed()
    yield f"read with --started-at {STARTED_AT}, long after the last record", _started_late()


def _of_fault(fault: Fault, base: Base) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        fault.change(base.copied(Path(folder) / "disk"))
        path = folder if fault.label is None else f"{fault.label}={folder}/disk"
        return _rows(path, folder=folder)


def _of_scenario(scenario: Scenario) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _rows(str(scenario.write(Path(folder))), folder=folder)


def _of_brokers(across: CrossFault) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _rows(str(across.write(Path(folder))), folder=folder)


def _of_state(
    state: GroupState
    | ProducerLog
    | MarkerLog
    | OpenTransaction
    | EndedTransaction
    | InternalRecord,
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _rows(str(state.write(Path(folder))), folder=folder)


def _of_copies(fault: Fault, damaged: int) -> list[dict[str, Any]]:
    """Three brokers with the same replica, the fault in the first ones."""
    base = next(each for each in PLAIN if fault.fits(each.sample))
    with tempfile.TemporaryDirectory() as folder:
        for node in range(3):
            sample = base.copied(Path(folder) / f"broker-{node}")
            properties = Path(folder) / f"broker-{node}" / "meta.properties"
            text = re.sub(r"(node|broker)\.id=\d+", rf"\1.id={node}", properties.read_text())
            properties.write_text(re.sub(r"directory\.id=.", f"directory.id={'ABC'[node]}", text))
            if node < damaged:
                assert sample.segments  # the layout before the damage
                fault.change(sample)
        return _rows(folder, folder=folder)


def _while_it_grows() -> list[dict[str, Any]]:
    """The first bytes are read, then the log gets a batch more, as from its broker."""
    with tempfile.TemporaryDirectory() as folder:
        sample = PLAIN[0].copied(Path(folder) / "disk")
        log = sample.path(sample.last.file())
        grown = log.read_bytes() + sample.last.entries[-1].content

        def append(_: int) -> None:
            log.write_bytes(grown)

        asked = registry.request(registry.table("findings"))
        units = registry.table("findings").units(discover([folder]), asked)
        return [
            {name: getattr(each, name) for name in SHOWN}
            for unit in units
            for each, _ in verify(unit, asked, append).findings
        ]


def _without_a_broker() -> list[dict[str, Any]]:
    supplied = [str(path) for path in sorted(SPLIT.iterdir()) if path.name != "broker-2"]
    return _rows(*supplied, folder=str(SPLIT))


def _without_a_disk() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _rows(str(lose_disk(two_disks(Path(folder)))), folder=folder)


def _empty_disk() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _rows(str(two_brokers_and_an_empty_disk(Path(folder))), folder=folder)


def _damaged_snapshot() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "controller-100"
        shutil.copytree(captures.path("everything/stopped/controller-100"), root)
        (snapshot,) = root.glob("__cluster_metadata-0/*.checkpoint")
        snapshot.write_bytes(bytes(200) + snapshot.read_bytes()[200:])
        return _rows(str(root), folder=folder)


def _created_twice() -> list[dict[str, Any]]:
    states = (
        PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0, topic_id=topic_id)
        for topic_id in (TOPIC_ID, "AAAAAAAAAAAAAAAAAAAAAw")
    )
    with tempfile.TemporaryDirectory() as folder:
        cluster(Path(folder), {1: metadata_log(states)})
        return _rows(folder, folder=folder)


def _not_uploaded() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        copies = {0: copy_of_topic(lacking=[40]), 1: copy_of_topic(lacking=[40])}
        return _rows(str(tiered_topic(Path(folder), copies, uploaded=1)), folder=folder)


def _controller_behind() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HEALED, folder, dirs_exist_ok=True)
        log = Path(folder) / "controller-100" / "__cluster_metadata-0" / f"{0:020}.log"
        log.write_bytes(log.read_bytes()[:WHOLE_BATCHES])
        return _rows(folder, folder=folder)


def _renamed() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HEALED, folder, dirs_exist_ok=True)
        broker = Path(folder) / "broker-1"
        (broker / "t-0").rename(broker / "t-7")
        return _rows(folder, folder=folder)


def _started_late() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        PLAIN[0].copied(Path(folder) / "disk")
        return _rows(folder, folder=folder, started_at=STARTED_AT)


def _rows(*paths: str, folder: str, **options: str) -> list[dict[str, Any]]:
    """Findings without the folder in which the example was made."""
    table = kafkalog_reader.open(*paths).table("findings", deep=True, **options)
    rows = table.to_arrow().to_pylist()
    return [row | {"message": row["message"].replace(f"{folder}/", "")} for row in rows]
