"""``kafkalog report``: one file from the same audit as the other commands, within its limits."""

from __future__ import annotations

import hashlib
import html
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.cli import report_files, report_page, report_partitions
from tests.cli.test_schema import validator

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FORKED = captures.path("s3_2/both-led")


def data_of(run: Run, page: Path) -> dict[str, Any]:
    answer = run("report", "--extract", page)
    assert answer.status == 0, answer.err
    data: dict[str, Any] = json.loads(answer.out)
    return data


def test_the_data_comes_out_again_and_is_valid(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = run("report", FORKED, "--output", page)
    assert answer.status == 1
    assert "written to" in answer.out
    data = data_of(run, page)
    validator("report").validate(data)
    assert data["exitStatus"] == 1
    assert [each["topic"] for each in data["partitions"]] == ["__cluster_metadata", "t"]


@pytest.mark.parametrize("state", ["s3_2/both-led", "s5_2/c-written", "everything/stopped"])
def test_the_whole_plan_is_in_it(state: str, run: Run, tmp_path: Path) -> None:
    """Who receives the page has no logs to make the plan of."""
    page, logs = tmp_path / "page.html", captures.path(state)
    run("report", logs, "--output", page)
    data = data_of(run, page)
    validator("report").validate(data)
    assert data["plan"] == json.loads(run("plan", logs, "--format", "json").out)
    text = html.unescape(page.read_text())
    commands = [c for step in data["plan"]["steps"] for c in step["commands"]]
    assert all(command in text for command in commands)
    script = run("plan", logs, "--format", "script").out.splitlines()
    assert all(line in text for line in script) is bool(commands)


def test_groups_and_transactions_are_in_the_data(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    stopped = captures.path("everything/stopped")
    run("report", stopped, "--output", page)
    data = data_of(run, page)
    validator("report").validate(data)
    listed = run("groups", stopped, "--format", "json").out.splitlines()
    assert data["groups"] == [json.loads(line) for line in listed]
    listed = run("transactions", stopped, "--format", "json").out.splitlines()
    assert data["openTransactions"] == [json.loads(line) for line in listed]


def test_what_a_list_leaves_open_is_not_known_at_the_top_either(run: Run, tmp_path: Path) -> None:
    """Without the logs that groups read: "nothing is unknown" stood above "the lag is unknown"."""
    logs = captures.path("everything/stopped")
    offsets = sorted(logs.glob("*/__consumer_offsets-*"))
    page = tmp_path / "page.html"
    run("report", *offsets, "--output", page)
    listed = run("groups", *offsets, "--format", "json").out.splitlines()
    rows = [json.loads(line) for line in listed]
    unknown = {row["status"]: row["topic"] for row in rows if row["lag"] is None}
    assert set(unknown) == {"no-log", "no-commit"}
    said = [each["text"] for each in data_of(run, page)["notKnown"]]
    no_log, nothing = (each for each in said if each.startswith("the lag of consumer groups: "))
    assert f": no readable log of {unknown['no-log']}-" in no_log
    assert f"nothing is committed for {unknown['no-commit']}-" in nothing

    topics = [each for each in sorted(logs.glob("*/*-[0-9]*")) if not each.name.startswith("__")]
    run("report", *topics, "--output", page, "--force")
    data = data_of(run, page)
    (said,) = [each["text"] for each in data["notKnown"] if "who ends" in each["text"]]
    assert said.endswith("no supplied partition of __transaction_state has this producer")
    assert {each["transactionalId"] for each in data["openTransactions"]} == {None}


def test_it_says_what_replica_diff_says(
    run: Run, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from kafkalog_reader.cli.replica_diff import replica_diff
    from kafkalog_reader.cli.run import status

    page = tmp_path / "page.html"
    run("report", FORKED, "--output", page)
    data = data_of(run, page)
    status(replica_diff, [str(FORKED), "--format", "json"])
    printed = capfdbinary.readouterr().out.decode().splitlines()
    by_topic = {each["topic"]: each for each in map(json.loads, printed)}
    assert {each["topic"]: each for each in data["partitions"]} == by_topic


def test_the_same_evidence_gives_the_same_data(run: Run, tmp_path: Path) -> None:
    found = []
    for name in ("one.html", "two.html"):
        run("report", FORKED, "--output", tmp_path / name)
        data = data_of(run, tmp_path / name)
        del data["provenance"]["createdAt"]
        found.append(data)
    assert found[0] == found[1]


def test_a_small_incident_is_a_small_file(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("report", FORKED, "--output", page)
    assert page.stat().st_size < 300_000


def test_inputs_stay_as_they_are(run: Run, untouched: Path, tmp_path: Path) -> None:
    assert run("report", untouched, "--output", tmp_path / "page.html", "--hashes").status == 1


def test_an_output_that_exists_is_refused_before_anything_is_read(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    answer = run("report", FORKED, "--output", page)
    assert answer.status == 2
    assert answer.err == f"error: {page} exists: --force overwrites it\n"
    assert page.read_text() == "mine"
    assert run("report", FORKED, "--output", page, "--force").status == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{evidence}",), "--output FILE.html is missing"),
        (("--output", "{new}"), "report what? Give the PATH"),
        (("{evidence}", "--output", "{evidence}/broker-1/x.html"), "inputs are evidence"),
        (("{evidence}", "--output", "{folder}/none/x.html"), "cannot write"),
        (("{evidence}", "--output", "{folder}"), "is a directory"),
        (("{evidence}", "--extract", "{new}"), "give no PATH"),
        (("--extract", "{new}"), "No such file"),
        (("{evidence}", "--output", "{new}", "--topic", "none"), "no topic"),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: tuple[str, ...], message: str, run: Run, brokers: Path, tmp_path: Path
) -> None:
    places = {"evidence": brokers, "folder": tmp_path, "new": tmp_path / "new.html"}
    answer = run("report", *(each.format(**places) for each in arguments))
    assert answer.status == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert not (tmp_path / "new.html").exists()


def test_hashes_are_those_of_the_files(run: Run, brokers: Path, tmp_path: Path) -> None:
    run("report", brokers, "--output", tmp_path / "page.html", "--hashes")
    files = data_of(run, tmp_path / "page.html")["provenance"]["files"]
    hashes = {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in brokers.rglob("*")
        if path.is_file()
    }
    assert {each["path"]: each["sha256"] for each in files} == hashes


@pytest.mark.parametrize("state", ["everything/stopped", "s3_2/both-led"])
def test_redaction_leaves_no_path_no_label_and_no_host(
    state: str, run: Run, tmp_path: Path
) -> None:
    root = tmp_path / "db7.example.com"
    shutil.copytree(captures.path(state), root)
    page = tmp_path / "page.html"
    brokers = [f"rack-{n.name}={n}" for n in sorted(root.iterdir()) if n.is_dir()]
    assert run("report", *brokers, "--output", page, "--redact").status in (0, 1)
    listed = run("groups", *brokers, "--format", "json").out.splitlines()
    hosts = {json.loads(line)["clientHost"] for line in listed} - {None}
    assert bool(hosts) is (state == "everything/stopped")
    text = page.read_text() + json.dumps(data_of(run, page))
    for secret in ("db7.example.com", "rack-broker", str(tmp_path), *hosts):
        assert secret not in text
    assert "LOG-DIRECTORY-1" in text
    assert "COPY-1" in text


def test_a_redaction_ends_with_its_report(run: Run, tmp_path: Path) -> None:
    run("report", FORKED, "--output", tmp_path / "one.html", "--redact")
    run("report", FORKED, "--output", tmp_path / "two.html")
    assert str(FORKED) not in (tmp_path / "one.html").read_text()
    assert str(FORKED) in (tmp_path / "two.html").read_text()


def test_a_file_that_changes_meanwhile_is_named(
    run: Run, brokers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = brokers / "broker-1" / "t-0" / f"{0:020d}.log"
    add = report_partitions.Partitions.add

    def written_meanwhile(self: report_partitions.Partitions, *given: Any) -> None:
        add(self, *given)
        with log.open("ab") as file:
            file.write(b"\0")

    monkeypatch.setattr(report_partitions.Partitions, "add", written_meanwhile)
    run("report", brokers, "--output", tmp_path / "page.html")
    data = data_of(run, tmp_path / "page.html")
    assert data["provenance"]["changedWhileRead"] == [str(log)]
    assert any("changed while they were read" in each["text"] for each in data["notKnown"])


def test_a_finding_of_a_hundred_megabytes_is_cut(
    run: Run, brokers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = report_partitions.Partitions.add

    def enlarged(self: report_partitions.Partitions, audit: Any, found: Any, unit: Any) -> None:
        add(self, audit, [replace(each, message="<b>" * 34_000_000) for each in found], unit)

    monkeypatch.setattr(report_partitions.Partitions, "add", enlarged)
    page = tmp_path / "page.html"
    assert run("report", brokers, "--output", page).status == 1
    assert page.stat().st_size < 1_000_000
    (partition,) = data_of(run, page)["partitions"]
    assert partition["findings"][0]["message"].endswith("(101,980,000 characters left out)")
    assert "<b><b>" not in page.read_text()


def test_too_many_partitions_are_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, limit in (
        (report_partitions, "MAX_SHOWN", 3), (report_partitions, "MAX_OBJECTS", 4),
        (report_page, "INLINE", 1), (report_files, "MAX_LISTED", 5),
        (report_files, "MAX_FILES", 9),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, limit)
    alone = [replica("a@0/e0 b@1/e0", partition=n, epochs="0:0", high_watermark=1)
             for n in range(7)]  # fmt: skip
    other = [replica("a@0/e0 c@1/e1", partition=n, epochs="0:0 1:1", high_watermark=2)
             for n in range(7)]  # fmt: skip
    cluster(tmp_path / "evidence", {0: alone, 1: other})
    page = tmp_path / "page.html"
    run("report", tmp_path / "evidence", "--output", page)
    text = page.read_text()
    assert "4 more partitions in trouble would make this page too large" in text
    data = data_of(run, page)
    assert len(data["partitions"]) == 4
    assert data["leftOut"]["partitions"] == 3
    files = sum(1 for path in (tmp_path / "evidence").rglob("*") if path.is_file())
    assert data["leftOut"]["files"] == files - 5
    for each in data["provenance"]["logDirectories"]:
        sizes = [f.stat().st_size for f in Path(each["path"]).rglob("*") if f.is_file()]
        assert (each["files"], each["sizeInBytes"]) == (len(sizes), sum(sizes))
    assert any(f"whether {files - 9:,} more files changed" in e["text"] for e in data["notKnown"])


def test_after_ctrl_c_the_page_has_what_was_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = [replica("a@0/e0 b@1/e0", partition=n, high_watermark=2) for n in range(5)]
    cluster(tmp_path / "evidence", {0: several})
    add = report_partitions.Partitions.add

    def interrupted(self: report_partitions.Partitions, *given: Any) -> None:
        if self.fleet.partitions == 3:
            raise KeyboardInterrupt
        add(self, *given)

    monkeypatch.setattr(report_partitions.Partitions, "add", interrupted)
    page = tmp_path / "page.html"
    assert run("report", tmp_path / "evidence", "--output", page).status == 130
    data = data_of(run, page)
    assert data["provenance"]["interrupted"] == "3 of 5 partitions read"
    assert data["verdict"].startswith("Interrupted, 3 of 5 partitions read: ")
    assert len(data["partitions"]) == 3
    assert "whatever was not read before the interruption" in page.read_text()


def test_what_was_not_compared_is_not_known(run: Run, tmp_path: Path) -> None:
    shutil.copytree(FORKED, tmp_path / "evidence")
    shutil.copytree(FORKED / "broker-1", tmp_path / "evidence" / "again")
    page = tmp_path / "page.html"
    assert run("report", tmp_path / "evidence", "--output", page).status == 2
    texts = [each["text"] for each in data_of(run, page)["notKnown"]]
    assert any(text.startswith("how the copies compare: broker 1: supplied more") for text in texts)


def test_redaction_leaves_out_the_bytes_of_logs(run: Run, tmp_path: Path) -> None:
    """A length that leads into the middle of a batch: what is there may be a key or a value."""
    shutil.copytree(FORKED, tmp_path / "evidence")
    log = tmp_path / "evidence" / "broker-1" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[11] += 60  # batchLength of the first batch
    log.write_bytes(content)
    for options, is_shown in (((), True), (("--redact",), False)):
        page = tmp_path / "page.html"
        run("report", tmp_path / "evidence", "--output", page, "--force", *options)
        assert ("<td>baseOffset</td>" in page.read_text()) is is_shown
        assert ("The bytes are left out (--redact)." in page.read_text()) is not is_shown


def test_ctrl_c_while_hashing_leaves_a_page_without_hashes(
    run: Run, brokers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(report_files, "_sha256", interrupted)
    page = tmp_path / "page.html"
    assert run("report", brokers, "--output", page, "--hashes").status == 130
    data = data_of(run, page)
    assert {each["sha256"] for each in data["provenance"]["files"]} == {None}
    assert len(data["partitions"]) == 1
