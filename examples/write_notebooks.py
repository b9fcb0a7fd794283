"""Run the notebooks and store what they print and draw: ``make notebooks``.

Their cells are plain Python, without magics, so they run in this process and share
one Spark session.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, first_cell: str | None = None) -> nbformat.NotebookNode:
    """The notebook with new outputs: standard output, and the figure that a cell ends with.

    Args:
        path: of the notebook.
        first_cell: replaces its first code cell, which names the files to read.

    Raises:
        Exception: whatever a cell raises, with the cell's number in the traceback.
    """
    notebook = nbformat.read(path, as_version=4)
    names: dict[str, Any] = {"__name__": path.stem}
    with _inside(path.parent):
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        if first_cell is not None:
            cells[0].source = first_cell
        for number, cell in enumerate(cells, 1):
            cell.execution_count = number
            cell.outputs = [*_outputs(cell.source, f"{path.name}, cell {number}", names, number)]
    return notebook


def _outputs(
    source: str, name: str, names: dict[str, Any], number: int
) -> Iterator[nbformat.NotebookNode]:
    statements = ast.parse(source, name)
    last = statements.body[-1] if statements.body else None
    shown = None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            del statements.body[-1]
            exec(compile(statements, name, "exec"), names)  # noqa: S102  our own notebook
            shown = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307
        else:
            exec(compile(statements, name, "exec"), names)  # noqa: S102
    if printed.getvalue():
        yield nbformat.v4.new_output("stream", name="stdout", text=printed.getvalue())
    if shown is not None:
        data = {"text/plain": repr(shown)}
        if hasattr(shown, "_repr_png_"):
            data["image/png"] = base64.b64encode(shown._repr_png_()).decode()
        yield nbformat.v4.new_output("execute_result", data=data, execution_count=number)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Replace the outputs of all notebooks, or of those named."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    for path in map(Path, sys.argv[1:] or PATHS):
        notebook = executed(path.absolute())
        nbformat.write(notebook, path)
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
