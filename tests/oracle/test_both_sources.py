"""The same queries on Spark's Kafka source, with a live broker, and on ours, with its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from fixtures import live
from fixtures.both_sources.answers import DIRECTLY
from fixtures.both_sources.cases import DIFFERENCES
from fixtures.both_sources.connector import connector
from fixtures.both_sources.environment import python_with_spark
from fixtures.scenarios.both_sources import ANSWERS, CASES, FILES

ROOT: Final = Path(__file__).parents[2]
SPARK: Final = "4.0.0"
"""The newest release whose Kafka source is in Maven Central (as of 2026-11-23)."""
EVERY: Final = 12
"""Every n-th case also runs in a Spark session; all of them would take half an hour."""
EVERY_CASE: Final = int(os.environ.get("KAFKALOG_EVERY_CASE", "3"))
"""`make both-sources` takes every case; the Kafka source needs twenty minutes for them."""
TIMEOUT: Final = 2400

Answers = dict[str, dict[str, Any]]

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases, a copy of the broker's files, and the results of the Kafka source."""
    jars = ",".join(map(str, connector(SPARK)[1]))
    python = str(python_with_spark(SPARK))
    folder = tmp_path_factory.mktemp("both_sources") / "output"
    return live.run("both_sources", folder, python, jars, str(EVERY_CASE), timeout=TIMEOUT)


@pytest.fixture(scope="module")
def kafka(output: Path) -> Answers:
    answers: Answers = json.loads((output / ANSWERS).read_text())
    return answers


def ours(output: Path, python: Path, way: str, names: list[str]) -> Answers:
    """The results of our source for some of the cases."""
    cases = json.loads((output / CASES).read_text())
    asked, answered = output / "asked.json", output / "answered.json"
    asked.write_text(json.dumps({name: cases[name] for name in names}))
    command = [str(python), "-m", "fixtures.both_sources.answers", str(asked), str(answered), way]
    settings = [f"path={output / FILES}", "kafka.bootstrap.servers=10.77.0.10:9092"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    environment |= {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [*command, *settings], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers: Answers = json.loads(answered.read_text())
    return answers


def differences(kafka: Answers, answers: Answers) -> list[str]:
    """The names of the cases in which only one source refuses, or rows or columns differ."""
    return [name for name, ours in answers.items() if seen(ours) != seen(kafka[name])]


def seen(answer: dict[str, Any]) -> object:
    return "refused" if "refused" in answer else (answer["schema"], answer["rows"])


def is_different(name: str) -> bool:
    return name.rpartition(": ")[0] in DIFFERENCES


@pytest.mark.parametrize("python", [SPARK, "newest"])
@pytest.mark.parametrize("way", [DIRECTLY, "kafkalog"])
def test_the_same_rows_and_refusals(output: Path, kafka: Answers, way: str, python: str) -> None:
    names = list(kafka)[:: 1 if way == DIRECTLY else EVERY]
    interpreter = Path(sys.executable) if python == "newest" else python_with_spark(python)
    answers = ours(output, interpreter, way, names)
    assert len(answers) == len(names)
    assert differences(kafka, answers) == [name for name in names if is_different(name)]
    refusals = [each for each in answers.values() if "refused" in each]
    assert [each["refused"] for each in refusals if not each["before a job"]] == []
    assert all("[KAFKALOG." in each["refused"] for each in refusals)


def test_the_matrix_has_both_rows_and_refusals(kafka: Answers) -> None:
    """If the broker could not be reached, both sources would refuse everything."""
    agreeing = [answer for name, answer in kafka.items() if not is_different(name)]
    refusals = [each for each in agreeing if "refused" in each]
    assert 80 <= EVERY_CASE * len(refusals) <= EVERY_CASE * len(agreeing) - 150
    assert not any("node assignment" in each["refused"] for each in refusals)
    assert EVERY_CASE * sum(bool(each.get("rows")) for each in agreeing) >= 100


def test_our_tasks_are_limited_in_a_batch_read_too(output: Path, kafka: Answers) -> None:
    """The Kafka source 4.0.0 checks the option in a batch read, but does not split by it."""
    cases = json.loads((output / CASES).read_text())
    limited = [name for name in kafka if "maxRecordsPerPartition" in cases[name]]
    answers = ours(output, Path(sys.executable), DIRECTLY, limited)
    checked = 0
    for name, answer in answers.items():
        if "refused" not in answer:
            assert answer["most in a task"] <= int(cases[name]["maxRecordsPerPartition"]), name
            checked += 1
    assert checked
