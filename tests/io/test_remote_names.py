"""Names of remote segments, and of the folders that hold them."""

from __future__ import annotations

import pytest

from kafkalog_reader.io.remote_names import (
    RemoteFileName,
    RemoteFolderName,
    parse_remote_file_name,
    parse_remote_folder,
)

UUID = "67-dWk7-SuOp-M1eawBSdg"
"""A real one: base64 for URLs, which has dashes, too."""


def test_a_name_has_offset_segment_id_and_kind() -> None:
    name = f"00000000000000000005-{UUID}"
    for kind in ("log", "index", "leader_epoch_checkpoint", "indexes", "rsm-manifest"):
        assert parse_remote_file_name(f"{name}.{kind}") == RemoteFileName(5, UUID, kind)


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000005.log", f"5-{UUID}.log", f"00000000000000000005-{UUID}x.log",
        f"00000000000000000005-{UUID}.txt", f"00000000000000000005-{UUID}.log.deleted",
        f"99999999999999999999-{UUID}.log", f"0000000000000000000٣-{UUID}.log",
    ],
)  # fmt: skip
def test_other_names_are_not_of_remote_segments(name: str) -> None:
    assert parse_remote_file_name(name) is None


@pytest.mark.parametrize(
    ("path", "topic", "store", "is_aivens"),
    [
        (f"/tier/t-0-{UUID}", "t", "/tier", False),
        (f"/tier/a-1-0-{UUID}", "a-1", "/tier", False),
        (f"/prefix/t-{UUID}/0", "t", "/prefix", True),
        (f"/prefix/a-1-{UUID}/0", "a-1", "/prefix", True),
    ],
)
def test_a_folder_names_its_partition(path: str, topic: str, store: str, is_aivens: bool) -> None:
    assert parse_remote_folder(path) == RemoteFolderName(topic, 0, UUID, store, is_aivens)


@pytest.mark.parametrize(
    "path", ["/t-0", f"/t-{UUID}", f"/t-x-{UUID}", f"/t-{UUID}/x", "/0", f"/t-4294967296-{UUID}"]
)
def test_other_folders_name_none(path: str) -> None:
    found = parse_remote_folder(path)
    assert found is None or found.topic != "t"
