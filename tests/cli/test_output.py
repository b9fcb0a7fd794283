from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_reader.cli.output import check_destination, destination
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.evidence import Evidence

NOTHING = Evidence(roots=())


def write(path: Path | str, evidence: Evidence = NOTHING, *, overwrite: bool = False) -> None:
    with destination(str(path), evidence, overwrite=overwrite) as sink:
        sink.write(b"answer")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def write_until(path: Path, end: BaseException) -> None:
    """Write half of the output, then fail."""
    with destination(str(path), NOTHING, overwrite=False) as sink:
        sink.write(b"half")
        raise end


def test_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "answer.csv"
    with destination(str(target), NOTHING, overwrite=False) as sink:
        sink.write(b"answer")
        assert not target.exists()
    assert target.read_bytes() == b"answer"
    assert names(tmp_path) == ["answer.csv"]


def test_an_error_leaves_no_file_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="damage"):
        write_until(tmp_path / "answer", UsageError("damage"))
    assert names(tmp_path) == []


def test_ctrl_c_keeps_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_until(tmp_path / "answer", KeyboardInterrupt())
    assert (tmp_path / "answer").read_bytes() == b"half"


def test_existing_file_is_overwritten_only_on_request(tmp_path: Path) -> None:
    target = tmp_path / "answer"
    target.write_bytes(b"old")
    with pytest.raises(UsageError, match="exists: --force overwrites it"):
        write(target)
    assert target.read_bytes() == b"old"
    write(target, overwrite=True)
    assert target.read_bytes() == b"answer"


@pytest.mark.parametrize(
    "place", ["broker-1/answer", "broker-1/t-0/answer", "broker-1/t-0/../answer", "link"]
)
def test_nothing_is_written_among_inputs(place: str, brokers: Path) -> None:
    (brokers / "link").symlink_to(brokers / "broker-1" / "answer")
    with pytest.raises(UsageError, match="inputs are evidence and are never changed"):
        write(brokers / place, discover([str(brokers)]))


@pytest.mark.parametrize("place", ["broker-1/t-0/answer", "broker-1/answer"])
@pytest.mark.parametrize("given", ["broker-1/t-0", "broker-1/t-0/00000000000000000000.log"])
def test_nothing_is_written_around_a_part_of_a_log_directory(
    place: str, given: str, brokers: Path
) -> None:
    with pytest.raises(UsageError, match="inputs are evidence and are never changed"):
        write(brokers / place, discover([str(brokers / given)]))


def test_beside_the_log_directories_an_answer_may_be_written(brokers: Path) -> None:
    write(brokers / "answer", discover([str(brokers)]))
    assert (brokers / "answer").read_bytes() == b"answer"


def test_a_segment_file_is_never_overwritten(brokers: Path) -> None:
    log = brokers / "broker-1" / "t-0" / "00000000000000000000.log"
    before = log.read_bytes()
    with pytest.raises(UsageError, match="never overwritten"):
        write(log, discover([str(log)]), overwrite=True)
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("path", "problem"),
    [("", "is a directory"), ("missing/answer", "cannot write .*: No such file or directory")],
)
def test_what_cannot_be_written_is_reported_with_its_path(
    path: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=problem):
        write(tmp_path / path)


def test_a_device_is_written_to_as_it_is() -> None:
    write("/dev/null")
    assert not Path("/dev/null").is_file()


def test_parquet_needs_a_file() -> None:
    with pytest.raises(UsageError, match="needs --output FILE"):
        check_destination(None, "parquet")
    check_destination("a.parquet", "parquet")
