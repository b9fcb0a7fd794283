"""The notebooks run from their first cell to their last, and show what their text claims."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
from typing import TYPE_CHECKING, Any

import matplotlib.image
import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from examples.write_notebooks import PATHS, executed
from fixtures import captures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

MAX_BYTES = 400_000
NAMES = ("01-offsets", "02-epochs", "03-divergence")
FIGURES = {"01-offsets": 5, "02-epochs": 3, "03-divergence": 1}
MIN_INK = 0.005
"""Share of a figure's pixels that are not white."""
CELL = """
import kafkalog_reader
kafkalog_reader.open("fixtures/captures/s3_2/both-led").diff("t", 0).figure()
"""


def stored(name: str) -> nbformat.NotebookNode:
    path = next(path for path in PATHS if path.stem == name)
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def printed(notebook: nbformat.NotebookNode) -> str:
    return "".join(output.text for output in outputs(notebook) if output.output_type == "stream")


def figures(notebook: nbformat.NotebookNode) -> list[Any]:
    """The pixels of each figure: rows, columns, and red, green, blue as parts of 1."""
    data = [output.get("data", {}) for output in outputs(notebook)]
    pictures = [base64.b64decode(each["image/png"]) for each in data if "image/png" in each]
    return [matplotlib.image.imread(io.BytesIO(each), format="png")[..., :3] for each in pictures]


def expected(capture: str) -> dict[str, Any]:
    """What the brokers of a capture held and answered."""
    known: dict[str, Any] = json.loads(captures.path(f"{capture}/expected.json").read_text())
    return known["captures"]


@pytest.fixture(scope="module")
def runs(spark: SparkSession) -> Iterator[dict[str, nbformat.NotebookNode]]:
    """All notebooks with new outputs, in the Spark session of the test run."""
    try:
        yield {path.stem: executed(path) for path in PATHS}
    finally:
        spark.sparkContext.setLogLevel("OFF")  # the notebooks show errors


def test_there_are_three() -> None:
    assert tuple(path.stem for path in PATHS) == NAMES


@pytest.mark.spark
@pytest.mark.parametrize("name", NAMES)
def test_notebook_prints_and_draws_what_is_stored(
    runs: dict[str, nbformat.NotebookNode], name: str
) -> None:
    assert printed(runs[name]) == printed(stored(name)), "run make notebooks"
    for pictures in (figures(runs[name]), figures(stored(name))):
        assert len(pictures) == FIGURES[name]
        for picture in pictures:
            assert np.mean(picture.min(axis=2) < 1) > MIN_INK


@pytest.mark.parametrize("name", NAMES)
def test_stored_notebook_is_small_and_names_no_machine(name: str) -> None:
    (path,) = (each for each in PATHS if each.stem == name)
    content = path.read_text()
    assert path.stat().st_size < MAX_BYTES
    assert re.search(r"/(home|root|tmp|work|Users)/", content) is None
    assert '"stderr"' not in content


@pytest.mark.parametrize("name", NAMES)
def test_paths_are_set_by_the_first_code_cell_alone(name: str) -> None:
    first, *others = (cell for cell in stored(name).cells if cell.cell_type == "code")
    assert re.search(r"^PATHS = \[", first.source, re.MULTILINE)
    assert not any(re.search(r"^PATHS =", cell.source, re.MULTILINE) for cell in others)


def test_groups_lag_as_the_broker_answered() -> None:
    truth = captures.path("everything") / captures.TRUTH / "running"
    ends = {
        (each["topic"], each["partition"]): each["latest"]
        for each in json.loads((truth / "offsets.json").read_text())
    }
    text = printed(stored("01-offsets"))
    groups = json.loads((truth / "groups.json").read_text())
    committing = {name: answer["offsets"] for name, answer in groups.items() if answer["offsets"]}
    assert len(committing) == 5
    for group, commits in committing.items():
        lag = sum(ends[each["topic"], each["partition"]] - each["offset"] for each in commits)
        assert re.search(rf"\|{group} *\|{len(commits)} *\|{lag} *\|", text)


def test_the_last_stable_offset_is_that_of_the_broker() -> None:
    truth = captures.path("everything") / captures.TRUTH / "running"
    text = printed(stored("01-offsets"))
    held = [
        each
        for each in json.loads((truth / "offsets.json").read_text())
        if each["lastStable"] < each["latest"]
    ]
    assert len(held) == 2
    for each in held:
        numbers = rf"{each['partition']} +\|{each['lastStable']} +\|{each['latest']} +\|ongoing"
        assert re.search(rf"\|{each['topic']} *\|{numbers}", text)


def test_each_record_of_the_cut_off_leader_stands_four_times() -> None:
    (replica,) = (
        each for broker, each in expected("s3_2_b")["both-led"]["replicas"].items() if broker == "0"
    )
    text = printed(stored("01-offsets"))
    for value in "cde":
        places = [each["offset"] for each in replica["records"] if each["value"] == value]
        assert len(places) == 4
        assert f"t-0 on broker 0: {value.encode()!r} at offsets {places}" in text


def test_broker_0_cut_its_log_where_its_notebook_predicts() -> None:
    (cut,) = expected("s5_2")["d-resynchronised"]["truncations"].values()
    text = printed(stored("02-epochs"))
    assert re.search(rf"\| +c-written\| +0\| +loads\| +0\| +1\| +{cut}\| +1\| +1\|", text)
    assert f"broker 0, offset {cut} was cut and replaced: (0, b'c') -> (2, b'd')" in text


def test_old_brokers_stayed_different_as_the_old_rule_predicts() -> None:
    fork = expected("s5_2_0.10.2.2")["d-diverged"]["forkOffset"]
    text = printed(stored("02-epochs"))
    assert f"s5_2_0.10.2.2/d-diverged: forked, fork offset {fork}" in text
    assert "s5_2/d-resynchronised: consistent" in text
    follows = "s5_2/c-written, {}: broker 0 follows broker 1 from offset {}"
    assert follows.format("high-watermark", 3) + f", and DIFFERS from it from offset {fork}" in text
    assert follows.format("current       ", fork) + "\n" in text


def test_the_branch_that_was_lost_is_the_one_that_is_saved() -> None:
    held = expected("s3_2")["both-led"]["replicas"]["0"]["records"]
    left = expected("s3_2")["healed"]["replicas"]["0"]["records"]
    lost = [
        {"offset": each["offset"], "value": each["value"].encode()}
        for each in held
        if each not in left
    ]
    text = printed(stored("03-divergence"))
    assert [each["value"] for each in lost] == [b"c", b"d", b"e"]
    assert text.count(str(lost)) == 2  # named as lost, and read back from what was saved
    assert "1. broker 1: clean, 3 records lost, 0 of them committed; cut: {'broker 0': 2}" in text
    assert "3. broker 0: unclean, 2 records lost, 2 of them committed" in text


OTHER_FILES = {
    "01-offsets": f"PATHS = ['{captures.path('s1/healed')}']",
    "02-epochs": f"""
PATHS, OLD_PATHS = ['{captures.path("s5_2_0.10.2.2/a-down")}'], []
TOPIC, PARTITION = "t", 0
""",
    "03-divergence": f"""
PATHS, LATER_PATHS = ['{captures.path("s5_1/d-resynchronised")}'], []
TOPIC, PARTITION = "t", 0
""",
}
"""First cells that name files without groups, without leader epochs, and without a fork."""


@pytest.mark.spark
@pytest.mark.parametrize("name", NAMES)
def test_other_files_take_one_cell(spark: SparkSession, name: str) -> None:
    (path,) = (each for each in PATHS if each.stem == name)
    try:
        run = executed(path, OTHER_FILES[name])
    finally:
        spark.sparkContext.setLogLevel("OFF")
    assert len(figures(run)) == FIGURES[name]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from Jupyter's own path settings
def test_a_jupyter_kernel_shows_a_figure_without_a_display(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYTHONPATH", str(PATHS[0].parent.parent))
    monkeypatch.setenv("MPLBACKEND", "TkAgg")  # would need a display
    monkeypatch.delenv("DISPLAY", raising=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    resources = {"metadata": {"path": str(PATHS[0].parent.parent)}}
    client = NotebookClient(notebook, timeout=60, kernel_name="python3", resources=resources)
    asyncio.run(client.async_execute())  # execute() leaves its event loop open
    assert len(figures(notebook)) == 1
