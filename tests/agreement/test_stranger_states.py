"""States in which an operator saw commands disagree about what is lost.

The expected figures come from the captures: segments, sizes of batches, high watermarks.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.synthetic.consumer_groups import Committed, offsets_partition
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.salvage import salvage_command
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import answers, asked, contradictions, manifest, objects, recoveries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[Path], Path]

LOG: Final = f"{0:020}.log"
BATCH: Final = 69
"""Bytes of each batch of s3_2: a header of 61 bytes and a record of 8."""
START_WILL_CUT: Final = "KL-412"


def copied(capture: str, root: Path) -> Path:
    shutil.copytree(captures.path(capture), root)
    return root


def edit(path: Path, change: Callable[[bytearray], object]) -> None:
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def flip(path: Path, position: int) -> None:
    edit(path, lambda content: content.__setitem__(position, content[position] ^ 1))


def cut(path: Path, size: int) -> None:
    edit(path, lambda content: content.__delitem__(slice(-size, None)))


def zero(path: Path, start: int, size: int) -> None:
    edit(path, lambda content: content.__setitem__(slice(start, start + size), bytes(size)))


def without_a_segment(root: Path) -> Path:
    """codec-none has three segments of 24 records; the middle one is removed with its indexes."""
    root = copied("everything/stopped", root)
    for path in (root / "broker-0" / "codec-none-0").glob(f"{24:020}.*"):
        path.unlink()
    return root


def without_a_batch(root: Path) -> Path:
    """Offset 1 is missing in all three copies."""
    root = copied("s3_2/healed", root)
    for path in root.glob(f"broker-?/t-0/{LOG}"):
        edit(path, lambda content: content.__delitem__(slice(BATCH, 2 * BATCH)))
    return root


def torn_tail(root: Path) -> Path:
    """The last batch of java-producer (offsets 115 to 119, 621 bytes) lacks its last 100 bytes."""
    root = copied("everything/killed", root)
    cut(root / "broker-0" / "java-producer-0" / LOG, 100)
    return root


def zeroed_block(root: Path) -> Path:
    """Batches of one record: offsets 107 to 143 are in the block, 144 to 249 after it."""
    root = copied("everything/killed", root)
    zero(root / "broker-0" / "one-record-batches-0" / LOG, 3 * 4096, 4096)
    return root


def zeroed_block_in_large_batches(root: Path) -> Path:
    root = copied("everything/killed", root)
    zero(root / "broker-0" / "broker-snappy-0" / LOG, 4096, 4096)
    return root


def flipped_bit(root: Path) -> Path:
    """One bit in the last segment, which a start reads again after a kill."""
    root = copied("everything/killed", root)
    flip(root / "broker-0" / "codec-none-0" / f"{48:020}.log", 700)
    return root


def torn_segment(root: Path) -> Path:
    root = copied("everything/killed", root)
    cut(root / "broker-0" / "codec-none-0" / f"{24:020}.log", 1000)
    return root


def damaged_fork(root: Path) -> Path:
    """Offset 3, committed under epoch 1, is damaged on broker 1 and cut short on broker 2."""
    root = copied("s3_2/both-led", root)
    flip(root / "broker-1" / "t-0" / LOG, 274)
    cut(root / "broker-2" / "t-0" / LOG, 30)
    return root


def all_cut(root: Path) -> Path:
    """The last committed batch is missing in all three copies."""
    root = copied("s3_2/healed", root)
    for path in root.glob(f"broker-?/t-0/{LOG}"):
        cut(path, BATCH)
    return root


def all_torn(root: Path) -> Path:
    root = copied("s3_2/healed", root)
    for path in root.glob(f"broker-?/t-0/{LOG}"):
        cut(path, 20)
    return root


def all_flipped(root: Path) -> Path:
    """The same bit of the second batch is flipped on every broker."""
    root = copied("s3_2/healed", root)
    for path in root.glob(f"broker-?/t-0/{LOG}"):
        flip(path, 130)
    return root


def flipped_apart(root: Path) -> Path:
    """A bit of a different batch is flipped on each broker."""
    root = copied("s3_2/healed", root)
    for broker in range(3):
        flip(root / f"broker-{broker}" / "t-0" / LOG, broker * BATCH + 65)
    return root


def short_follower(root: Path) -> Path:
    root = copied("s1/shrunk", root)
    cut(root / "broker-2" / "t-0" / LOG, 40)
    return root


STATES: Final = (
    without_a_segment, without_a_batch, torn_tail, zeroed_block, zeroed_block_in_large_batches,
    flipped_bit, torn_segment, damaged_fork, all_cut, all_torn, all_flipped, flipped_apart,
    short_follower,
)  # fmt: skip


class Said:
    """The output of the commands for one folder."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.findings = objects(asked(verify_command, self.path, "--format", "json")[1])
        self.partitions = objects(asked(replica_diff, self.path, "--format", "json")[1])
        (self.plan,) = objects(asked(plan_command, self.path, "--format", "json")[1])
        self.recoveries = recoveries(self.path)

    def text(self, command: Any) -> str:
        return " ".join(asked(command, self.path)[1].split())

    def cuts(self) -> dict[tuple[int, str], tuple[int, ...]]:
        """The records, upper bounds and bytes that each start cuts, from the table `recoveries`."""
        return {
            (row["brokerId"], row["topic"]): (
                row["recordsCut"],
                row["maxCutInDamagedBatches"],
                row["maxCutInTornBatch"],
                row["bytesCut"],
            )
            for row in self.recoveries
            if row["outcome"] == "cut"
        }


def cuts_of_replica_diff(said: Said) -> Iterator[tuple[tuple[int, str], tuple[int, ...]]]:
    for partition in said.partitions:
        for copy in partition["replicas"]:
            start = copy["start"]
            if start is not None and start["outcome"] == "cut":
                yield (copy["brokerId"], partition["topic"]), (
                    start["recordsCut"],
                    start["maxCutInDamagedBatches"],
                    start["maxCutInTornBatch"],
                    start["bytesCut"],
                )  # fmt: skip


def cuts_of_plan(said: Said) -> Iterator[tuple[tuple[int, str], tuple[int, ...]]]:
    for partition in said.plan["partitions"]:
        for start in partition["starts"]:
            if start["outcome"] == "cut":
                yield (start["brokerId"], partition["topic"]), (
                    start["records"],
                    start["maxInDamagedBatches"],
                    start["maxInTornBatch"],
                    start["sizeInBytes"],
                )  # fmt: skip


def cuts_of_verify(said: Said) -> Iterator[tuple[tuple[int, str], tuple[int, ...]]]:
    for each in said.findings:
        if each["code"] == START_WILL_CUT:
            known = {fact["name"]: fact["value"] for fact in each["evidence"]}
            if known["outcome"] == "cut":
                names = ("recordsCut", "maxCutInDamagedBatches", "maxCutInTornBatch", "bytesCut")
                yield (each["brokerId"], each["topic"]), tuple(int(known[name]) for name in names)


@pytest.mark.parametrize("make", STATES)
def test_every_command_counts_what_a_start_cuts_alike(make: Make, tmp_path: Path) -> None:
    said = Said(make(tmp_path / "evidence"))
    cuts = said.cuts()
    assert dict(cuts_of_replica_diff(said)) == cuts
    assert dict(cuts_of_plan(said)) == cuts
    assert dict(cuts_of_verify(said)).items() <= cuts.items()


@pytest.mark.parametrize("make", STATES)
def test_plan_and_replica_diff_count_alike_what_an_election_loses(
    make: Make, tmp_path: Path
) -> None:
    said = Said(make(tmp_path / "evidence"))
    lost = {
        (partition["topic"], partition["partition"], election["candidateBrokerId"]): {
            name: election[name] for name in said.plan["lost"]
        }
        for partition in said.partitions
        for election in partition["elections"]
    }
    for partition in said.plan["partitions"]:
        key = partition["topic"], partition["partition"], partition["leader"]
        assert partition["lost"] == lost[key]


@pytest.mark.parametrize("make", STATES)
def test_the_same_words_say_what_a_start_cuts(make: Make, tmp_path: Path) -> None:
    said = Said(make(tmp_path / "evidence"))
    planned = said.text(plan_command)
    for each in said.findings:
        if each["code"] == START_WILL_CUT and "next start cuts" in each["message"]:
            words = each["message"].split("next start cuts ")[1].split(" off the log")[0]
            assert f"the start cuts {words}" in planned
            assert "removes nothing" not in planned


@pytest.mark.parametrize("make", STATES)
def test_commands_do_not_contradict_each_other(make: Make, tmp_path: Path) -> None:
    path = str(make(tmp_path / "evidence"))
    assert list(contradictions(answers([path], tmp_path / "salvaged"))) == []


@pytest.mark.parametrize("make", [without_a_segment, without_a_batch])
def test_records_that_no_copy_holds_are_found_by_every_command(make: Make, tmp_path: Path) -> None:
    said = answers([str(make(tmp_path / "evidence"))], tmp_path / "salvaged")
    assert (said.verify, said.replica_diff, said.plan, said.salvage) == (1, 1, 1, 1)
    compared = " ".join(asked(replica_diff, str(tmp_path / "evidence"))[1].split())
    assert "look for another copy of these records, such as a backup" in compared


def gap_in_the_longest_copy(root: Path) -> Path:
    """Broker 0 alone has offset 5, and lacks offsets 1 to 3; a group has read up to offset 4."""
    gap = replica("a@0/e0 e@4/e0 f@5/e0", high_watermark=5)
    whole = replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0", high_watermark=5)
    commits = offsets_partition(0, (Committed(group="g", offset=4, leader_epoch=0),))
    cluster(root, {0: (gap, commits), 1: whole, 2: whole})
    return root


def test_a_gap_is_no_fork_and_moves_no_group(tmp_path: Path) -> None:
    said = Said(gap_in_the_longest_copy(tmp_path / "evidence"))
    compared = said.text(replica_diff)
    assert "DAMAGED on broker 0" in compared
    for words in ("forked", "never had", "GROUPS"):
        assert words not in compared
    assert "KL-810" not in {each["code"] for each in said.findings}


def test_a_plan_merges_the_copies_where_one_has_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every leader loses records, but all copies together have offsets 0 to 5."""
    root = gap_in_the_longest_copy(tmp_path / "evidence")
    monkeypatch.chdir(tmp_path)
    said = Said(root)
    assert "make that log" in said.text(replica_diff)
    made, placed = said.plan["steps"]
    _, salvage, *words = shlex.split(made["commands"][0])
    assert (salvage, "--merge" in words) == ("salvage", True)
    assert asked(salvage_command, *words)[0] == 0
    for command in placed["commands"]:
        subprocess.run(command, shell=True, check=True)
    again = Said(root)
    assert not any(again.plan["lost"].values())
    assert "lost here" not in again.text(plan_command)
    (merged,) = (each for each in again.partitions if each["topic"] == "t")
    assert merged["logEndOffset"] == 6


@pytest.mark.parametrize(("holder", "stops"), [(0, True), (2, False)])
def test_a_future_copy_beside_its_replica_stops_its_broker(
    holder: int, stops: bool, tmp_path: Path
) -> None:
    """Seen on 4.4.0: "Directory not empty" ends the start. Without a replica it is taken for it."""
    whole = replica("a@0/e0 b@1/e0", high_watermark=2)
    future = replica("a@0/e0", high_watermark=1, directory=f"t-0.{'0' * 31}1-future")
    brokers = {0: [whole], 1: [whole], 2: []}
    brokers[holder].append(future)
    cluster(tmp_path / "evidence", brokers)
    said = Said(tmp_path / "evidence")
    (set_apart,) = (each for each in said.findings if each["code"] == "KL-010")
    assert (set_apart["severity"] == "H") is stops
    assert ("NO PLAN t-0: broker 0 does not come up" in said.text(plan_command)) is stops
    assert ("broker 0: it does not come up" in said.text(replica_diff)) is stops
    outcomes = {row["brokerId"]: row["outcome"] for row in said.recoveries}
    assert (outcomes[0] == "brokerAborts") is stops


def test_a_torn_tail_is_cut_and_holds_no_whole_record(tmp_path: Path) -> None:
    said = Said(torn_tail(tmp_path / "evidence"))
    assert said.cuts() == {(0, "java-producer"): (0, 0, 5, 521)}
    planned = said.text(plan_command)
    assert "removes no whole record from its 42 partitions" in planned
    assert "cuts 521 bytes at the tail that hold no whole record (up to 5 records)" in planned


def test_what_must_not_start_yet_says_what_comes_first(tmp_path: Path) -> None:
    """First save the folder with the torn batch, then look for another copy, then start."""
    said = Said(torn_tail(tmp_path / "evidence"))
    compared = said.text(replica_diff)
    assert "do not start broker 0 yet" in compared
    assert "first copy the folder of broker 0, because its start cuts 521 bytes" in compared
    assert "look for another copy of offsets 115 to 119 (a backup," in compared
    assert "then start as `kafkalog plan` says" in compared
    planned = said.text(plan_command)
    assert "Before that broker starts: → java-producer-0: copy the folder of broker 0," in planned
    assert "look for another copy of offsets 115 to 119 (a backup," in planned
    assert planned.index("tar -cf SAVED/") < planned.index("Then start broker 0.")
    assert "replica-diff" not in planned


def test_what_is_saved_before_a_start_is_not_a_further_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed commands run, and the plan is the same afterwards."""
    monkeypatch.chdir(torn_tail(tmp_path / "evidence"))
    output = asked(replica_diff, ".")[1].replace("\\\n", " ")
    commands = [line for line in output.splitlines() if "mkdir -p SAVED" in line]
    assert len(commands) == 2  # of the high watermarks, and of the folder with the torn batch
    before = asked(plan_command, ".")
    subprocess.run("\n".join(commands), shell=True, check=True)
    with tarfile.open("SAVED/java-producer-0-broker-0.tar") as saved:
        log = saved.extractfile(f"java-producer-0/{LOG}")
        assert log is not None
        assert log.read() == Path(f"broker-0/java-producer-0/{LOG}").read_bytes()
    assert asked(plan_command, ".") == before


def test_nothing_is_supplied_where_no_replica_is_missing(tmp_path: Path) -> None:
    said = Said(all_cut(tmp_path / "evidence"))
    compared = said.text(replica_diff)
    assert "supply the missing replica" not in compared
    assert "which their start lowers; look for another copy of offset 3 (a backup," in compared
    planned = said.text(plan_command)
    assert "which their start lowers; look for another copy of offset 3 (a backup," in planned
    assert "Then start brokers 0, 1 and 2 in any order." in planned
    assert "replica-diff" not in planned


def test_a_damaged_committed_record_of_a_fork_is_one_truth(tmp_path: Path) -> None:
    """Broker 0 has offsets 2 to 4 in epoch 0. In epoch 1, 2 is sound and 3 is damaged or torn."""
    said = Said(damaged_fork(tmp_path / "evidence"))
    assert said.cuts() == {(1, "t"): (0, 1, 0, BATCH), (2, "t"): (0, 0, 1, BATCH - 30)}
    lost = said.plan["lost"]
    assert (lost["lostRecords"], lost["lostCommittedRecords"]) == (3, 0)
    assert (lost["maxLostInDamagedBatches"], lost["maxLostCommittedInDamagedBatches"]) == (1, 1)
    compared, planned = said.text(replica_diff), said.text(plan_command)
    assert "DAMAGED, NO INTACT COPY SUPPLIED on broker 1 " in compared
    assert "only on brokers 1 and 2 offset 2 " in compared
    assert "only on broker 1 offset 3 up to 1 record, damaged" in compared
    for words in (compared, planned):
        assert "up to 1 record in damaged batches (1 committed)" in words
    unless = "none committed unless an election was unclean"
    assert f"3 records, {unless}, and up to 1 in damaged batches (1 committed)" in planned
    (fork,) = (each for each in said.findings if each["code"] == "KL-503")
    assert "on brokers 1 and 2 (offset 3 on broker 1 only)" in fork["message"]
    alone = {
        row["firstOffset"]: row["brokerId"] for row in said.findings if row["code"] == "KL-520"
    }
    assert alone == {2: 0, 3: 1}


def test_a_zeroed_block_costs_the_same_everywhere(tmp_path: Path) -> None:
    """37 records in the block and 106 after it, all below the high watermark of 250."""
    said = Said(zeroed_block(tmp_path / "evidence"))
    ((place, (records, damaged, torn, _)),) = said.cuts().items()
    assert (place, records, damaged, torn) == ((0, "one-record-batches"), 106, 37, 0)
    lost = said.plan["lost"]
    assert (lost["lostRecords"], lost["lostCommittedRecords"]) == (106, 106)
    assert (lost["maxLostInDamagedBatches"], lost["maxLostCommittedInDamagedBatches"]) == (37, 37)
    (damage,) = (each for each in said.findings if each["code"] == "KL-101")
    assert damage["recordsAtRisk"] == 37
    output = tmp_path / "salvaged"
    asked(salvage_command, said.path, "--topic", "one-record-batches", "--output", str(output))
    (saved,) = manifest(output)["partitions"]
    (gone,) = saved["lostOffsets"]
    assert (gone["firstOffset"], gone["lastOffset"]) == (107, 143)
    assert saved["records"] == 107 + 106
