"""The notebook runs from its first cell to its last, and shows what its text claims."""

from __future__ import annotations

import base64
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent.parent
NOTEBOOK = ROOT / "notebooks" / "divergence.ipynb"


def text_outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """The standard output of each code cell."""
    return [
        "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from Jupyter's own path settings
def test_notebook_runs_and_prints_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.delenv("KAFKALOG_EVIDENCE", raising=False)
    monkeypatch.delenv("KAFKALOG_TOPIC", raising=False)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    stored = text_outputs(nbformat.read(NOTEBOOK, as_version=4))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=180, kernel_name="python3", resources=resources).execute()
    printed = text_outputs(notebook)
    assert printed == stored
    text = "".join(printed)
    assert re.search(r"\| +2\| +forked\|", text)
    assert "1. broker 1: clean, 3 records lost, 0 of them committed; cut: {'broker 0': 2}" in text
    assert "3. broker 0: unclean, 2 records lost, 2 of them committed" in text
    assert "KL-503" in text
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1


def test_stored_notebook_names_no_machine() -> None:
    content = NOTEBOOK.read_text()
    assert re.search(r"/(home|root|tmp|work|Users)/", content) is None
    assert '"stderr"' not in content


def test_stored_notebook_shows_the_picture() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    data = [o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])]
    (picture,) = (each["image/png"] for each in data if "image/png" in each)
    assert base64.b64decode(picture).startswith(b"\x89PNG")
