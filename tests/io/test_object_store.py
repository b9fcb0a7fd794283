"""Object stores as paths. What must be read is what the folder that was uploaded holds."""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path
from kafkalog_reader import registry
from kafkalog_reader.errors import LogLayoutError, UnreadableFileError, as_argument, shown
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.object_store.server import S3Server
    from kafkalog_reader.io.evidence import Evidence

LOG = "00000000000000000000.log"
FOLDER = capture_path("s1") / "shrunk"

Uri = "Callable[[str], str]"


@pytest.fixture(scope="module")
def backup(s3: S3Server) -> str:
    """The bucket ``backup`` with the log directories of three brokers and a controller."""
    s3.upload(FOLDER, "backup")
    return "backup"


@pytest.fixture
def uri(
    s3: S3Server, backup: str, credentials: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """The URI of a key of the bucket; private folders are in a folder of the test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("kafkalog_reader.io.private_folder._held", {})
    monkeypatch.setattr("kafkalog_reader.io.object_file._trees", {})
    monkeypatch.setattr("kafkalog_reader.errors._shown_as", {})
    return lambda key: s3.uri(f"{backup}/{key}".rstrip("/"))


def rows(table: str, path: Path | str) -> list[dict[str, object]]:
    return rows_of(table, discover([str(path)]))


def rows_of(table: str, evidence: Evidence) -> list[dict[str, object]]:
    found = registry.read(registry.table(table), evidence, registry.request(registry.table(table)))
    return [row for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize(
    "table", ["records", "batches", "segments", "offset_index", "findings", "partitions"]
)
def test_store_has_the_rows_of_the_folder_that_was_uploaded(
    table: str, uri: Callable[[str], str]
) -> None:
    expected, found = rows(table, FOLDER), rows(table, uri(""))
    assert expected
    text = repr(expected).replace(str(FOLDER), "s3://backup")
    assert without_times(repr(found)) == without_times(text)


def without_times(text: str) -> str:
    """Objects have the times of their upload."""
    text = re.sub(r"'modifiedAt': datetime\.[^)]*\)", "", text)
    return re.sub(r"'modifiedAt\.broker .', 'value': '[0-9]+'", "", text)


def test_folder_has_no_content_and_is_only_for_this_user(uri: Callable[[str], str]) -> None:
    (root, *_) = discover([uri("broker-0")]).roots
    log = Path(root.path, "t-0", LOG)
    assert log.stat().st_size == (FOLDER / "broker-0/t-0" / LOG).stat().st_size > 0
    assert log.stat().st_blocks == 0
    assert Path(root.path).stat().st_mode & 0o077 == 0


def test_path_is_shown_as_a_uri_and_printed_in_commands_with_its_parameters(
    uri: Callable[[str], str],
) -> None:
    (root,) = discover([uri("broker-1")]).roots
    log = str(Path(root.path, "t-0", LOG))
    assert shown(root.path) == "s3://backup/broker-1"
    assert shown(f"within {log}") == f"within s3://backup/broker-1/t-0/{LOG}"
    assert as_argument(log) == uri(f"broker-1/t-0/{LOG}")
    assert shell_word(root.path) == f"'{uri('broker-1')}'"
    (given,) = discover([as_argument(log)]).given
    assert given.topic == "t"


def test_part_of_a_log_directory_has_the_facts_of_the_whole(uri: Callable[[str], str]) -> None:
    (local,) = discover([str(FOLDER / "broker-1" / "t-0")]).given
    for key in ("broker-1/t-0", f"broker-1/t-0/{LOG}", "broker-1/t-0/"):
        (given,) = discover([uri(key)]).given
        assert given.log_directory.broker_id == local.log_directory.broker_id == 1
        assert given.log_directory.cluster_id == local.log_directory.cluster_id is not None


def test_pattern_names_and_node_ids_work_as_for_folders(uri: Callable[[str], str]) -> None:
    assert [root.broker_id for root in discover([uri("broker-[02]")]).roots] == [0, 2]
    assert [root.broker_id for root in discover([uri("{broker-1,broker-2}")]).roots] == [1, 2]
    assert [r.broker_label for r in discover([f"east={uri('broker-1')}"]).roots] == ["east"]
    with pytest.raises(LogLayoutError, match=r"nothing matches this pattern"):
        discover([uri("nothing-*")])


def test_overlapping_paths_count_once(uri: Callable[[str], str]) -> None:
    assert len(discover([uri(""), uri("broker-1"), uri("broker-1/t-0")]).roots) == 4
    assert len(discover([uri("broker-1/t-0"), uri("broker-1")]).log_directories) == 1


def test_missing_object_or_bucket_is_named(s3: S3Server, uri: Callable[[str], str]) -> None:
    with pytest.raises(LogLayoutError, match="no such object or folder") as caught:
        discover([uri("broker-9/t-0")])
    assert str(caught.value).startswith(f"{uri('broker-9/t-0')}: ")
    with pytest.raises(LogLayoutError, match=r"s3://no-bucket/x.*no such object or folder"):
        discover([s3.uri("no-bucket/x")])


def test_store_that_cannot_be_reached_is_an_error(
    uri: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkalog_reader.io.store_calls.PATIENCE_SECONDS", 0.0)
    with pytest.raises(UnreadableFileError, match=r"^s3://b/x\?.*NETWORK_CONNECTION"):
        discover(["s3://b/x?endpoint_override=127.0.0.1:1&scheme=http&region=x"])


def test_next_listing_brings_the_same_folder_up_to_date(
    s3: S3Server, uri: Callable[[str], str], tmp_path: Path
) -> None:
    shutil.copytree(FOLDER / "broker-0", tmp_path / "v1" / "b")
    s3.upload(tmp_path / "v1", "changing")
    (before,) = discover([s3.uri("changing")]).roots
    partition = Path(before.path, "t-0")
    assert rows("records", s3.uri("changing/b/t-0"))
    second = tmp_path / "v2" / "b" / "t-0"
    second.mkdir(parents=True)
    content = (partition / LOG).stat().st_size * b"\0" + b"longer"
    (second / LOG).write_bytes(content)
    (second / "new").write_bytes(b"1")
    s3.upload(tmp_path / "v2", "changing")
    s3.delete("changing/b/t-0/partition.metadata")
    (after,) = discover([s3.uri("changing")]).roots
    assert after.path == before.path
    names = {each.name for each in (FOLDER / "broker-0" / "t-0").iterdir()}
    assert {each.name for each in partition.iterdir()} == {*names, "new"} - {"partition.metadata"}
    assert (partition / LOG).stat().st_size == len(content)


def test_process_of_another_machine_lists_again(uri: Callable[[str], str], tmp_path: Path) -> None:
    evidence = discover([uri("broker-0")])
    expected = rows_of("records", evidence)
    pickled = tmp_path / "evidence"
    pickled.write_bytes(pickle.dumps(evidence))
    home = evidence.context.sources[0].home
    shutil.rmtree(home)
    Path(f"{home}.lock").unlink()
    program = (
        "import pickle, sys\n"
        "from kafkalog_reader import registry\n"
        "evidence = pickle.load(open(sys.argv[1], 'rb'))\n"
        "table = registry.table('records')\n"
        "read = registry.read(table, evidence, registry.request(table))\n"
        "print([row for batch in read for row in batch.to_pylist()])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, pickled], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == repr(expected)
    assert not Path(home).exists(), "deleted by the last process that held it"


def test_archive_in_a_store_is_read(
    s3: S3Server, uri: Callable[[str], str], tmp_path: Path
) -> None:
    folder = tmp_path / "archives"
    folder.mkdir()
    subprocess.run(["tar", "-czf", folder / "b.tar.gz", "-C", FOLDER, "."], check=True)
    (folder / "unrelated").write_bytes(b"x")
    s3.upload(folder, "archives")
    expected = rows("records", FOLDER / "broker-1")
    assert expected
    assert [row["value"] for row in rows("records", s3.uri("archives/b.tar.gz/broker-1"))] == [
        row["value"] for row in expected
    ]
    (root, *_) = discover([s3.uri("archives/b.tar.gz")]).roots
    assert shown(root.path) == "s3://archives/b.tar.gz/broker-0"
    assert as_argument(root.path) == s3.uri("archives/b.tar.gz/broker-0")


def test_keys_with_spaces_and_percent_signs(
    s3: S3Server, uri: Callable[[str], str], tmp_path: Path
) -> None:
    shutil.copytree(FOLDER / "broker-0", tmp_path / "odd" / "a b" / "50%25")
    s3.upload(tmp_path / "odd", "odd-keys")
    (root,) = discover([s3.uri("odd-keys/a b/50%2525")]).roots
    assert root.broker_id == 0
    assert shown(root.path) == "s3://odd-keys/a b/50%25"
    assert as_argument(root.path) == s3.uri("odd-keys/a b/50%2525")


def test_server_may_be_named_by_the_environment(
    s3: S3Server, uri: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [row["value"] for row in rows("records", FOLDER / "broker-1")]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3.port}")
    monkeypatch.setattr("kafkalog_reader.io.store_calls._connections", {})
    found = [row["value"] for row in rows("records", "s3://backup/broker-1")]
    assert found == expected
