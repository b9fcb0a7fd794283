"""``kafkalog salvage``: its output, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from fixtures import captures
from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"


@pytest.mark.parametrize(
    ("form", "hint"),
    [
        ([], ""),
        (["--as-segments"], "in the place of its copies"),
        (["--as-segments", "--topic-id", TOPIC_ID], "in the place of its copies"),
        (["--as-segments", "--leader-epoch", "0"], "for another cluster"),
        (["--as-segments", "--topic-id", TOPIC_ID[::-1]], "for another cluster"),
    ],
)
def test_a_partition_is_a_line_and_a_folder(
    form: list[str], hint: str, untouched: Path, tmp_path: Path, run: Run
) -> None:
    out = tmp_path / "out"
    answer = run("salvage", untouched, "--output", out, "--replica", "broker:1", *form)
    assert answer.status == 0
    line, *hints = answer.out.splitlines()
    assert line == "t-0: 5 records, offsets 0 to 4"
    headings = [each for each in hints if each.startswith("How to")]
    assert [each.rpartition("written here ")[2] for each in headings] == [f"{hint}:"] * bool(hint)
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "t-0"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param(["--as-segments", "--topic-id", "x"], "--topic-id: x: expected", id="no_id"),
        pytest.param(["--topic-id", TOPIC_ID], "--topic-id: only with segments", id="parquet"),
        pytest.param(
            ["--as-segments", "--replica", "all"],
            "--replica: segments are one log",
            id="all",
        ),
        pytest.param(["--leader-epoch", "0"], "--leader-epoch: only with segments", id="epoch"),
        pytest.param(["--merge"], "--merge: only with segments", id="merge_as_parquet"),
        pytest.param(
            ["--merge", "--as-segments", "--replica", "broker:1"],
            "reads all copies",
            id="merge_one",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: list[str], problem: str, untouched: Path, tmp_path: Path, run: Run
) -> None:
    answer = run("salvage", untouched, "--output", tmp_path / "out", *options)
    assert answer.status == 2
    assert problem in answer.err
    assert not (tmp_path / "out").exists()


SAVE = ("--topic", "t", "--partition", "0", "--replica", "broker:1")


def damage(evidence: Path, broker: int, batch: int) -> None:
    """Flip two bits in the payload of a batch; all batches of these logs have the same size."""
    log = evidence / f"broker-{broker}" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[batch * (12 + int.from_bytes(content[8:12], "big")) + 65] ^= 0x30
    log.write_bytes(content)


@pytest.mark.parametrize("form", [[], ["--as-segments", "--topic-id", TOPIC_ID]])
@pytest.mark.parametrize(
    ("options", "offsets"),
    [
        pytest.param(["--from-offset", "2"], [2, 3, 4], id="from"),
        pytest.param(["--from-offset", "1", "--to-offset", "4"], [1, 2, 3], id="range"),
        pytest.param(["--to-offset", "1"], [0], id="to"),
    ],
)
def test_saving_takes_the_offsets_that_records_shows(
    form: list[str], options: list[str], offsets: list[int], untouched: Path, tmp_path: Path,
    run: Run,
) -> None:  # fmt: skip
    answer = run("salvage", untouched, *SAVE, *options, "--output", tmp_path / "out", *form)
    assert answer.status == 0
    first, last = offsets[0], offsets[-1]
    count = f"1 record, offset {first}"
    if len(offsets) > 1:
        count = f"{len(offsets)} records, offsets {first} to {last}"
    assert answer.out.partition("\n")[0] == f"t-0: {count}"
    assert "in the place of its copies" not in answer.out
    shown = run("table", "records", untouched, *SAVE, *options, "--columns", "offset", "--format",
                "csv")  # fmt: skip
    assert [int(line) for line in shown.out.split()[1:]] == offsets


def test_saving_goes_on_after_damage(brokers: Path, tmp_path: Path, run: Run) -> None:
    damage(brokers, 1, 3)
    answer = run("salvage", brokers, *SAVE, "--from-offset", "2", "--output", tmp_path / "out")
    assert answer.status == 1
    assert answer.out.startswith("t-0: 2 records, offsets 2 to 4, 1 of them without a record")


def test_saving_nothing_is_reported(brokers: Path, tmp_path: Path, run: Run) -> None:
    answer = run("salvage", brokers, *SAVE, "--from-offset", "5", "--output", tmp_path / "out")
    assert answer.status == 1
    assert answer.out == ("t-0: nothing written: broker 1 has no record from offset 5 on\n")


def test_a_broker_without_a_copy_is_reported(brokers: Path, tmp_path: Path, run: Run) -> None:
    shutil.rmtree(brokers / "broker-1" / "t-0")
    answer = run("salvage", brokers, *SAVE, "--output", tmp_path / "out")
    assert answer.status == 2
    assert "nothing to salvage: broker 1 has no copy of what was asked for" in answer.err
    assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_read_is_reported_and_is_not_an_error_of_use(
    brokers: Path, tmp_path: Path, run: Run
) -> None:
    log = brokers / "broker-1" / "t-0" / f"{0:020d}.log"
    log.write_bytes(b"\xff" * 400)
    answer = run("salvage", brokers, *SAVE, "--from-offset", "2", "--output", tmp_path / "out")
    assert answer.status == 1
    assert "t-0: nothing written" in answer.out


def test_copies_are_merged_under_their_own_topic_id(
    brokers: Path, tmp_path: Path, run: Run
) -> None:
    shutil.rmtree(brokers / "broker-1")
    damage(brokers, 2, 1)
    damage(brokers, 3, 2)
    out = tmp_path / "out"
    answer = run("salvage", brokers, "--merge", "--as-segments", "--output", out)
    assert (answer.status, answer.out.splitlines()[0]) == (0, "t-0: 4 records, offsets 0 to 3")
    assert answer.err == ""
    csv = ("--columns", "value", "--format", "csv", "--render", "utf8")
    shown = run("table", "records", out, *csv)
    assert shown.out.split()[1:] == ['"a"', '"b"', '"f"', '"g"']
    assert TOPIC_ID in (out / "t-0" / "partition.metadata").read_text()


def test_topic_ids_are_those_of_the_input(untouched: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    chosen = ("--replica", "broker:2")
    assert run("salvage", untouched, "--as-segments", *chosen, "--output", out).status == 0
    assert TOPIC_ID in (out / "t-0" / "partition.metadata").read_text()


@pytest.mark.parametrize("form", [(), ("--as-segments",)])
def test_copies_of_two_topics_of_one_name_are_not_one_choice(
    tmp_path: Path, run: Run, form: tuple[str, ...]
) -> None:
    """A topic that was deleted and made again while broker 0 was down."""
    state = shutil.copytree(captures.path("s3_2/both-led"), tmp_path / "in")
    foreign = state / "broker-0" / "t-0" / "partition.metadata"
    foreign.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAB_w\n")
    refused = run("salvage", state, *form, "--output", tmp_path / "out")
    assert refused.status == 2
    assert "t: the copies are of 2 topics of this name" in refused.err
    assert not (tmp_path / "out").exists()
    chosen = run("salvage", state, *form, "--replica", "broker:0", "--output", tmp_path / "out")
    assert chosen.status == 0
    assert "t-0: 5 records" in chosen.out


def test_every_topic_without_an_id_is_named_at_once(tmp_path: Path, run: Run) -> None:
    everything = shutil.copytree(captures.path("everything") / "stopped", tmp_path / "in")
    for path in everything.glob("broker-*/*/partition.metadata"):
        if path.parent.name.startswith(("codec-", "mixed-")):
            path.unlink()
    answer = run("salvage", everything, "--as-segments", "--output", tmp_path / "out")
    assert answer.status == 2
    options = " ".join(
        f"--topic-id {each}=ID"
        for each in ("codec-gzip", "codec-lz4", "codec-none", "codec-snappy", "codec-zstd",
                     "mixed-codecs")
    )  # fmt: skip
    assert f"error: {options} are missing: the input has no readable partition.meta" in answer.err
    assert not (tmp_path / "out").exists()


def test_topics_of_one_cluster_are_left_out_of_logs_for_another(tmp_path: Path, run: Run) -> None:
    source, out = captures.path("everything") / "stopped", tmp_path / "out"
    other = ("--as-segments", "--leader-epoch", "0")
    answer = run("salvage", source, *other, "--output", out)
    assert "left out: __cluster_metadata and __transaction_state belong to their" in answer.err
    manifest = json.loads((out / "manifest.json").read_text())
    foreign = ["__cluster_metadata", "__transaction_state"]
    assert manifest["topicsLeftOut"] == foreign
    topics = {each["topic"] for each in manifest["partitions"]}
    assert topics == {
        path.name.rpartition("-")[0] for path in source.glob("*/*-*") if path.is_dir()
    } - set(foreign)
    answer = run("salvage", source, "--topic", foreign[1], *other, "--output", out / "b")
    assert answer.status == 2
    assert "__transaction_state belongs to its cluster" in answer.err


@pytest.mark.parametrize(
    ("form", "count"), [([], 45 - 24), (["--as-segments"], 45 - 42)], ids=["parquet", "segments"]
)
def test_records_below_the_log_start_are_counted(
    form: list[str], count: int, tmp_path: Path, run: Run
) -> None:
    """In the capture, records below 45 were deleted; a segment begins at 24 and a batch at 42."""
    source, out = captures.path("everything") / "stopped", tmp_path / "out"
    answer = run("salvage", source, "--topic", "records-deleted", "--output", out, *form)
    assert answer.status == 0
    assert f"\n  {count} of them below the log start 45: deleted by" in answer.out
    (salvaged,) = json.loads((out / "manifest.json").read_text())["partitions"]
    assert (salvaged["logStartOffset"], salvaged["recordsBelowLogStart"]) == (45, count)


def test_another_copy_with_the_lost_offsets_is_named(
    brokers: Path, tmp_path: Path, run: Run
) -> None:
    """Broker 2 has the same records as broker 3, and keeps what broker 3 lost."""
    shutil.rmtree(brokers / "broker-1")
    (brokers / "broker-2" / "replication-offset-checkpoint").write_text("0\n1\nt 0 4\n")
    log = brokers / "broker-2" / "t-0" / f"{0:020d}.log"
    size = 12 + int.from_bytes(log.read_bytes()[8:12], "big")
    asked = ("salvage", brokers, "--replica", "broker:2", "--output")
    os.truncate(log, 3 * size)
    answer = run(*asked, tmp_path / "out")
    assert answer.status == 1
    assert "offset 3 is not on this copy (the checkpointed high watermark is 4" in answer.out
    assert "but broker 3 has readable batches there: --replica broker:N" in answer.out
    damage(brokers, 3, 3)
    answer = run(*asked, tmp_path / "both")
    assert "offset 3 is lost: the checkpointed high watermark is 4" in answer.out
    (salvaged,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["partitions"]
    (lost,) = salvaged["lostOffsets"]
    assert (lost["firstOffset"], lost["lastOffset"], lost["heldBy"]) == (3, 3, ["broker 3"])


def test_transactions_are_known_where_every_damage_was_corrected(tmp_path: Path, run: Run) -> None:
    """A flipped bit in a batch with a marker does not change the output."""
    source = shutil.copytree(captures.path("everything") / "stopped", tmp_path / "in")
    asked = ("--topic", "transactions", "--output")
    states = ("--columns", "partition,offset,transactionState", "--format", "csv")
    expected = run("table", "records", source, "--topic", "transactions", *states).out
    columns = ("--columns", "partition,position,controlType,segmentBaseOffset", "--format", "csv")
    markers = run("table", "records", source, "--topic", "transactions", *columns).out
    hit = 0
    for line in markers.splitlines()[1:]:
        partition, position, kind, base = line.replace('"', "").split(",")
        if kind:
            log = next(source.glob(f"broker-*/transactions-{partition}")) / f"{int(base):020d}.log"
            content = bytearray(log.read_bytes())
            content[int(position) + 65] ^= 4
            log.write_bytes(content)
            hit += 1
    answer = run("salvage", source, *asked, tmp_path / "out")
    assert (answer.status, answer.err) == (0, "")
    assert sum(map(int, re.findall(r"(\d+) batch(?:es)? corrected", answer.out))) == hit
    found = [
        f"{row['partition']},{row['offset']},{row['transactionState'] or ''}"
        for path in sorted((tmp_path / "out").glob("*/*.parquet"))
        for row in parquet.read_table(path).to_pylist()
    ]
    assert sorted(found) == sorted(expected.replace('"', "").splitlines()[1:])


def test_a_fork_is_not_merged(untouched: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    answer = run("salvage", untouched, "--merge", "--as-segments", "--output", out)
    assert answer.status == 2
    assert "hold different records from offset 2 on" in answer.err
    assert "--replica broker:N" in answer.err
    assert list(out.iterdir()) == []


def test_doubtful_offsets_are_reported_and_records_warns(
    brokers: Path, tmp_path: Path, run: Run
) -> None:
    log = brokers / "broker-1" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    at = 2 * (12 + int.from_bytes(content[8:12], "big"))
    content[at : at + 8] = (1).to_bytes(8, "big")
    log.write_bytes(content)
    answer = run("salvage", brokers, *SAVE, "--output", tmp_path / "out")
    assert answer.status == 1
    assert answer.out == (
        "t-0: 4 records, offsets 0 to 4, 1 of them without a record\n"
        "  1 record at doubtful offsets in doubtful-offsets/t-0\n"
        "  offset 2 is not on this copy (no readable batch is there, and nothing shows compaction)"
        ", but broker 2 and broker 3 have readable batches there: --replica broker:N reads another "
        "copy, --merge --as-segments makes one log of all, unless their histories differ\n"
    )
    as_log = run("salvage", brokers, *SAVE, "--as-segments", "--output", tmp_path / "log")
    doubtful = "1 record at doubtful offsets in doubtful-offsets/t-0, not in the log: look at them"
    assert doubtful in as_log.out
    assert "How to put a log" not in as_log.out
    shown = run("table", "records", brokers, *SAVE, "--columns", "value")
    assert shown.status == 1
    assert f"{log} at position {at} (offset 1): KL-110: doubtful offsets" in shown.err


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        pytest.param(
            [3],
            "t-0: 4 records, offsets 0 to 3\n  1 other copy could not be read: see manifest.json\n"
            "  fork at offset 2: not in this output: offsets 2 to 4 of broker 1. To save them, run "
            "this again with --replica broker:1 --from-offset 2, and another --output\n",
            id="another_copy",
        ),
        pytest.param(
            [1, 2, 3],
            "t-0: nothing written: broker 1 has no readable record; 1 damaged place left out\n"
            "  2 other copies could not be read: see manifest.json\n"
            "  offsets 0 to 1 are lost: the checkpointed high watermark is 2, the readable log "
            "ends at 0\n",
            id="every_copy",
        ),
    ],
)
def test_a_copy_that_cannot_be_read_is_left_out(
    refused: list[int], said: str, brokers: Path, tmp_path: Path, run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    logs = {str(brokers / f"broker-{each}" / "t-0" / f"{0:020d}.log") for each in refused}
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) in logs:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    answer = run("salvage", brokers, "--topic", "t", "--output", tmp_path / "out")
    assert answer.status == 1
    assert answer.out == said
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (partition,) = manifest["partitions"]
    assert (manifest["isComplete"], partition["isComplete"]) == (False, False)
    assert partition["leftOut"]["count"] == len(refused)
    assert {place["file"] for place in partition["leftOut"]["places"]} == logs


def test_partitions_of_two_clusters_are_named_by_cluster(run: Run, tmp_path: Path) -> None:
    paths = [captures.path("s3_2/healed") / "broker-0", captures.path("s1/healed") / "broker-1"]
    answer = run("salvage", *paths, "--topic", "t", "--output", tmp_path / "saved")
    first, second = answer.out.splitlines()
    for line, path in ((first, "t-0"), (second, "t-0~2")):
        assert line.startswith("t-0 of cluster ")
        assert f" in {path}: 4 records" in line
    clusters = [
        (path / "meta.properties").read_text().split("cluster.id=")[1].split()[0] for path in paths
    ]
    assert {line.split()[3] for line in (first, second)} == set(clusters)


def test_a_log_without_its_aborted_records_says_so(run: Run, tmp_path: Path) -> None:
    path = captures.path("everything/stopped")
    chosen = ("--topic", "transactions", "--partition", "0")
    whole = run("salvage", path, *chosen, "--output", tmp_path / "parquet")
    assert whole.out.splitlines() == ["transactions-0: 21 records, offsets 0 to 20"]
    rows = parquet.read_table(tmp_path / "parquet" / "transactions-0").to_pylist()
    markers = sum(row["isControl"] for row in rows)
    answer = run("salvage", path, *chosen, "--as-segments", "--output", tmp_path / "log")
    assert (answer.status, answer.out.splitlines()[0]) == (0, whole.out.strip())
    assert "left out" not in answer.out
    other = ("--as-segments", "--leader-epoch", "0", "--output", tmp_path / "other")
    answer = run("salvage", path, *chosen, *other)
    assert answer.status == 1
    assert not json.loads((tmp_path / "other" / "manifest.json").read_text())["isComplete"]
    first, second, *_ = answer.out.splitlines()
    kept = int(first.split()[1])
    assert second.startswith(
        f"  left out: {21 - markers - kept} records of aborted transactions, "
        f"{markers} transaction markers: "
    )


def test_a_log_with_an_open_transaction_says_so(run: Run, tmp_path: Path) -> None:
    path = captures.path("everything/stopped")
    chosen = ("--topic", "open-transaction", "--partition", "0", "--as-segments")
    answer = run("salvage", path, *chosen, "--output", tmp_path / "log")
    assert answer.status == 0
    assert answer.out.splitlines()[1] == "  1 open transaction stays open"


def test_the_transaction_state_returns_to_its_cluster(run: Run, tmp_path: Path) -> None:
    path, out = captures.path("everything/stopped"), tmp_path / "out"
    answer = run(
        "salvage", path, "--as-segments", "--topic", "__transaction_state", "--output", out
    )
    assert answer.status == 0
    logs = sorted(out.glob("__transaction_state-*/*.log"))
    assert logs
    for log in logs:
        (before,) = path.glob(f"*/{log.parent.name}/{log.name}")
        assert log.read_bytes() == before.read_bytes()


def test_of_all_copies_each_line_names_its_broker(
    untouched: Path, tmp_path: Path, run: Run
) -> None:
    answer = run("salvage", untouched, "--replica", "all", "--output", tmp_path / "out")
    names = sorted(line.partition(":")[0] for line in answer.out.splitlines())
    assert names == ["t-0 on broker 1", "t-0 on broker 2", "t-0 on broker 3"]


@pytest.mark.parametrize("form", [[], ["--as-segments"]])
def test_the_other_branch_of_a_fork_is_left_out_by_name(
    form: list[str], run: Run, tmp_path: Path
) -> None:
    """S3.2: broker 0 wrote 2 to 4 while brokers 1 and 2 wrote 2 and 3."""
    path = captures.path("s3_2/both-led")
    answer = run("salvage", path, "--topic", "t", "--output", tmp_path / "out", *form)
    assert answer.status == 1
    assert "  fork at offset 2: not in this output: offsets 2 to 4 of broker 0." in answer.out
    written = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert not written["isComplete"]
    again = ("--replica", "broker:0", "--from-offset", "2")
    assert " ".join(again) in answer.out
    rest = run("salvage", path, "--topic", "t", *again, "--output", tmp_path / "rest", *form)
    assert (rest.status, rest.out.splitlines()[0]) == (0, "t-0: 3 records, offsets 2 to 4")


def test_a_shorter_copy_leaves_nothing_out(run: Run, tmp_path: Path) -> None:
    path = captures.path("s1/stale")
    answer = run("salvage", path, "--topic", "t", "--output", tmp_path / "out")
    assert answer.status == 0
    assert "not in this output" not in answer.out


def test_a_range_before_a_fork_leaves_nothing_out(run: Run, tmp_path: Path) -> None:
    path = captures.path("s3_2/both-led")
    chosen = ("--topic", "t", "--to-offset", "2")
    assert run("salvage", path, *chosen, "--output", tmp_path / "out").status == 0


@pytest.mark.parametrize("form", [[], ["--as-segments"], ["--as-segments", "--merge"]])
def test_a_copy_outside_the_isr_is_not_complete(form: list[str], tmp_path: Path, run: Run) -> None:
    """By the metadata log of this capture brokers 1 and 2 are in sync, since leader epoch 1."""
    root = captures.path("s3_2/both-led")
    paths = [root / "broker-0", root / "controller-100"]
    out = tmp_path / "out"
    answer = run("salvage", *paths, "--topic", "t", "--output", out, *form)
    assert answer.status == 1
    assert "may lack committed records" in answer.out
    assert "brokers 1 and 2, and no copy of one was supplied" in answer.out
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["isComplete"] is False
    assert manifest["partitions"][0]["inSyncNotSupplied"] == [1, 2]


def test_a_copy_in_the_isr_is_complete(tmp_path: Path, run: Run) -> None:
    root = captures.path("s3_2/both-led")
    out = tmp_path / "out"
    paths = [root / "broker-1", root / "controller-100"]
    assert run("salvage", *paths, "--topic", "t", "--output", out).status == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["partitions"][0]["inSyncNotSupplied"] == []


def test_copies_that_contradict_each_other_are_named(tmp_path: Path, run: Run) -> None:
    """Two copies outvote the third, which is longer: its records are named and not chosen."""
    held = ["a@0/e0 b@1/e0", "a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"]
    cluster(tmp_path / "in", {n: replica(log, high_watermark=2) for n, log in enumerate(held)})
    answer = run("salvage", tmp_path / "in", "--output", tmp_path / "out")
    assert answer.status == 1
    assert "other records under the same leader epoch from offset 1 on" in answer.out
    (partition,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["partitions"]
    assert partition["brokerId"] in (0, 1)
    assert not partition["isComplete"]
    assert partition["otherCopies"] == [
        {
            "copy": "broker 2",
            "firstOffset": 1,
            "lastOffset": 2,
            "isFork": True,
            "isUnderOneLeaderEpoch": True,
        }
    ]


def test_no_merge_is_advised_with_other_records(tmp_path: Path, run: Run) -> None:
    """It would be refused: offset 2 is only on the copy that contradicts the others."""
    outvoting = "a@0/e0 b@1/e0 d@3/e0 e@4/e0"
    held = [outvoting, outvoting, "a@0/e0 X@1/e0 c@2/e0 d@3/e0"]
    cluster(tmp_path / "in", {n: replica(log, high_watermark=2) for n, log in enumerate(held)})
    answer = run("salvage", tmp_path / "in", "--output", tmp_path / "out")
    assert "offset 2 is not on this copy" in answer.out
    assert (
        "broker 2 has readable batches there: --replica broker:N reads another copy" in answer.out
    )
    assert "--merge" not in answer.out


def test_topics_of_one_id_are_written_where_another_topic_has_two(tmp_path: Path, run: Run) -> None:
    """One copy of t-0 is of a deleted topic of that name; u-0 is not affected."""
    brokers = {
        n: [
            replica("a@0/e0", topic="t", topic_id=f"{n:A<22d}"),
            replica("b@0/e0", topic="u", topic_id=f"{9:A<22d}"),
        ]
        for n in (1, 2)
    }
    cluster(tmp_path / "in", brokers)
    answer = run("salvage", tmp_path / "in", "--output", tmp_path / "out")
    assert answer.status == 1
    assert answer.out.startswith("u-0: 1 record")
    assert "left out: t: the copies are of 2 topics of this name" in answer.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["topicsLeftOut"], manifest["isComplete"]) == (["t"], False)
    named = run("salvage", tmp_path / "in", "--topic", "t", "--output", tmp_path / "alone")
    assert (named.status, (tmp_path / "alone").exists()) == (2, False)
