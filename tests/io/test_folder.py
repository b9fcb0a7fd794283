"""A folder is classified by its content: format reference, section 1."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.folder import FolderKind, Leftovers, look_into
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG_DIRECTORY, PARTITION, OTHER = (
    FolderKind.LOG_DIRECTORY, FolderKind.PARTITION_DIRECTORY, FolderKind.OTHER,
)  # fmt: skip
SEGMENT = "00000000000000000000.log"


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        pytest.param([], OTHER, id="empty"),
        pytest.param(["meta.properties"], LOG_DIRECTORY, id="meta_properties"),
        pytest.param(["bootstrap.checkpoint"], LOG_DIRECTORY, id="bootstrap_checkpoint"),
        pytest.param(["replication-offset-checkpoint"], LOG_DIRECTORY, id="offset_checkpoint"),
        pytest.param([".kafka_cleanshutdown"], LOG_DIRECTORY, id="marker"),
        pytest.param(
            [".kafka_cleanshutdown", "disk1/meta.properties"], OTHER, id="marker_beside_disks"
        ),
        pytest.param([".lock"], OTHER, id="lock_of_any_program"),
        pytest.param([".lock", "t-0/"], LOG_DIRECTORY, id="lock_and_partition"),
        pytest.param([".lock", "broker/"], OTHER, id="lock_and_another_folder"),
        pytest.param(["t-0/"], OTHER, id="name_alone_proves_nothing"),
        pytest.param([SEGMENT], PARTITION, id="segment"),
        pytest.param(["00000000000000000007.snapshot"], PARTITION, id="producer_snapshot"),
        pytest.param(["leader-epoch-checkpoint"], PARTITION, id="leader_epochs"),
        pytest.param(["quorum-state"], PARTITION, id="quorum_state"),
        pytest.param(["meta.properties", SEGMENT], PARTITION, id="both_without_partitions"),
        pytest.param(["meta.properties", SEGMENT, "t-0/"], LOG_DIRECTORY, id="both"),
        pytest.param([".lock", SEGMENT, "t-0/"], LOG_DIRECTORY, id="lock_decides"),
        pytest.param([".lock", SEGMENT], PARTITION, id="lock_without_partitions"),
    ],
)
def test_kind_of_a_folder(tree: Callable[..., Path], names: list[str], kind: FolderKind) -> None:
    folder = tree("folder/", *(f"folder/{name}" for name in names)) / "folder"
    assert look_into(str(folder), ReadContext()).kind is kind


def test_folder_named_as_a_partition_is_one_at_the_first_file(tree: Callable[..., Path]) -> None:
    folder = tree(f"t-0/{SEGMENT}", "t-0/a-1/", "t-0/meta.properties") / "t-0"
    # The entries have no order, so it may also hold what was seen before.
    assert look_into(str(folder), ReadContext()).kind is PARTITION


def test_folders_are_listed_in_order_without_those_that_hold_no_logs(
    tree: Callable[..., Path],
) -> None:
    folder = tree("b/", "a/", "lost+found/", "remote-log-index-cache/", "c/d/")
    assert look_into(str(folder), ReadContext()).folders == [str(folder / name) for name in "abc"]


def test_links_are_followed_only_if_asked(tree: Callable[..., Path], tmp_path: Path) -> None:
    tree("outside/x/", "inside/")
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    inside = str(tmp_path / "inside")
    assert look_into(inside, ReadContext()).folders == []
    assert look_into(inside, ReadContext(follow_links=True)).folders == [f"{inside}/link"]


def test_other_files_are_counted_by_pattern(tree: Callable[..., Path]) -> None:
    folder = tree("a.txt", "b.txt", "README", ".hidden", "snapshot.1", "snapshot.2f", "x.tar.gz")
    assert look_into(str(folder), ReadContext()).files == Counter({
        "*.txt": 2, "README": 1, ".hidden": 1, "snapshot.*": 2, "*.tar.gz": 1,
    })  # fmt: skip


def test_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        look_into(str(tmp_path / "missing"), ReadContext())
    assert caught.value.where.file == str(tmp_path / "missing")


@pytest.mark.parametrize(
    ("leftovers", "text"),
    [
        pytest.param(Leftovers(), "nothing, it is empty", id="nothing"),
        pytest.param(Leftovers(has_folders=True), "only empty folders", id="folders"),
        pytest.param(
            Leftovers(files=Counter({"/": 1})),
            "a link to a folder, not followed: give the folder that it leads to",
            id="one_link",
        ),
        pytest.param(
            Leftovers(files=Counter({"/": 3})),
            "3 links to folders, not followed: give the folders that they lead to",
            id="links",
        ),
        pytest.param(
            Leftovers(files=Counter({"*.gz": 1})), "1 file named *.gz (unpack it first)", id="one"
        ),
        pytest.param(
            Leftovers(files=Counter({"*.gz": 1234, "*.txt": 2}), has_folders=True),
            "1,234 files named *.gz (unpack them first), 2 files named *.txt", id="archives",
        ),
        pytest.param(
            Leftovers(has_folders=True, has_saved=True),
            "copies moved aside or written by kafkalog salvage, not read",
            id="saved_copies",
        ),
        pytest.param(
            Leftovers(files=Counter({"*.tar.gz": 3})),
            "3 files named *.tar.gz (an archive is read if its own path is given)",
            id="archives_that_are_read",
        ),
        pytest.param(
            Leftovers(files=Counter(a=4, b=3, c=2)),
            "4 files named a, 3 files named b, 2 files named c", id="three_kinds",
        ),
        pytest.param(
            Leftovers(files=Counter(a=4, b=3, c=2, d=1)),
            "4 files named a, 3 files named b, 2 files named c, others", id="four_kinds",
        ),
        pytest.param(
            Leftovers(too_deep="/a\n", has_folders=True),
            r"folders nested too deep, from /a\n on: name that one", id="too_deep",
        ),
    ],
)  # fmt: skip
def test_what_was_found_instead_is_said(leftovers: Leftovers, text: str) -> None:
    assert str(leftovers) == text


def test_advice_follows_files_of_other_programs() -> None:
    text = str(Leftovers(files=Counter({"snapshot.*": 2})))
    assert text.startswith("2 files named snapshot.* (a ZooKeeper snapshot ")


def test_links_to_folders_are_counted_as_such(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    for name in ("b1", "b2"):
        (evidence / name).symlink_to(tmp_path / "disk")
    folder = look_into(str(evidence), ReadContext())
    assert str(Leftovers(files=folder.files)).startswith("2 links to folders, not followed")
    assert not folder.folders
