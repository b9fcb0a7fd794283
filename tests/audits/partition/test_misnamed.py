"""KL-014: how the folders get their names, and who reports it."""

from __future__ import annotations

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.audits.partition.misnamed import Misnamed
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.tables.request import ReadRequest

ROOT = LogDirectory(path="/disk", broker_id=1, clean_shutdown=True)
ALL = ReadRequest()


def folder(partition: int) -> PartitionDirectory:
    return PartitionDirectory(
        path=f"/disk/t-{partition}", log_directory=ROOT, topic="t", partition=partition
    )


def misnamed(*pairs: tuple[int, int], others: tuple[str, ...] = ()) -> Misnamed:
    return Misnamed(
        folders=tuple((folder(name), ("t", held)) for name, held in pairs),
        reasons=("it is so",),
        effect="Nothing happens",
        others=others,
    )


def names_after(each: Misnamed) -> dict[str, str]:
    """Which folder has which name in the end; no move overwrites one."""
    at = {f.path: f.path for f, _ in each.folders}
    for move in each.moves:
        assert move.target not in at
        at[move.target] = at.pop(move.path)
    return {old: new for new, old in at.items()}


def test_one_folder_is_renamed() -> None:
    assert names_after(misnamed((14, 4))) == {"/disk/t-14": "/disk/t-4"}


def test_folders_of_a_circle_never_meet() -> None:
    assert names_after(misnamed((0, 1), (1, 0))) == {
        "/disk/t-0": "/disk/t-1",
        "/disk/t-1": "/disk/t-0",
    }
    assert names_after(misnamed((0, 1), (1, 2), (2, 0))) == {
        "/disk/t-0": "/disk/t-1",
        "/disk/t-1": "/disk/t-2",
        "/disk/t-2": "/disk/t-0",
    }


def test_nothing_is_renamed_where_the_broker_is_not_known() -> None:
    assert misnamed((0, 1), (1, 0), others=("broker 2",)).moves == ()


def test_the_first_requested_partition_reports_it() -> None:
    each = misnamed((14, 4))
    assert each.is_reported_by(("t", 14), ALL)
    assert not each.is_reported_by(("t", 4), ALL)
    only = ReadRequest(partitions=frozenset({4}))
    assert each.is_reported_by(("t", 4), only)
    assert not each.is_reported_by(("t", 14), only)


def test_what_does_not_depend_on_the_name_stays() -> None:
    """A wrong checksum is wrong under every name."""
    wrong_name, right_name = folder(14), folder(3)
    found = [
        finding("KL-101", "a checksum", directory=wrong_name),
        finding("KL-304", "a row", directory=wrong_name),
        finding("KL-417", "aside", directory=wrong_name),
        finding("KL-304", "a row", directory=right_name),
        finding("KL-503", "a fork"),
        finding("KL-801", "an offset", directory=right_name),
    ]
    each = misnamed((14, 4))
    left = [(e.code, e.directory) for e in found if not each.explains(e)]
    assert left == [("KL-101", wrong_name), ("KL-304", right_name)]


def test_rows_and_assignments_go_by_the_name() -> None:
    assert {"KL-304", "KL-310", "KL-316", "KL-417"} <= codes_with(Role.BY_FOLDER_NAME)
    assert not codes_with(Role.BY_FOLDER_NAME) & codes_with(Role.DAMAGE)
