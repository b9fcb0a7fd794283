"""The notebook runs from its first cell to its last, and shows what it says it shows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent.parent
NOTEBOOK = ROOT / "notebooks" / "divergence.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own path settings
def test_notebook_runs_and_shows_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=180, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs)
    assert "forked" in text
    assert "1. broker 1: clean, 3 records lost, 0 of them committed; cut: {'broker 0': 2}" in text
    assert "3. broker 0: unclean, 2 records lost, 2 of them committed" in text
    assert "KL-503" in text
    assert any("image/png" in output.get("data", {}) for output in outputs)


def test_notebook_is_stored_without_output_or_machine_paths() -> None:
    content = NOTEBOOK.read_text()
    notebook = nbformat.reads(content, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert re.search(r"/(home|root|tmp|work|Users)/", content) is None
