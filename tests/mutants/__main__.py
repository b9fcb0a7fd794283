"""Change the program in small ways, one at a time, and count the changes that the tests notice.

    python -m tests.mutants --seconds 3600 --seed 7

Each change (a comparison flipped, a condition dropped, a number one off) is made in a copy of the
tree, and the tests run from the nearest to the farthest until one fails. What survives is printed
as a diff: a test is missing, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).parent.parent.parent
REPLICAS: Final = ("tests/audits", "tests/scenarios", "tests/agreement", "tests/histories")
TARGETS: Final = {
    "kafkalog_reader/audits/election": ("tests/audits/election", *REPLICAS, "tests/cli"),
    "kafkalog_reader/audits/comparison": ("tests/audits/comparison", *REPLICAS, "tests/cli"),
    "kafkalog_reader/audits/recovery": ("tests/audits/recovery", *REPLICAS, "tests/faults"),
    "kafkalog_reader/scan": ("tests/scan", "tests/tables", "tests/hostile", "tests/faults"),
    "kafkalog_reader/tables/best_replica.py": ("tests/tables/test_best_replica.py", "tests/tables"),
    "spark_datasource": ("tests/spark",),
}
"""What is changed, and the tests that should notice, nearest first."""
OPERATORS: Final = (
    "ReplaceComparisonOperator", "ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Add", "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_BitAnd_BitOr", "ReplaceUnaryOperator", "ReplaceAndWithOr",
    "ReplaceOrWithAnd", "AddNot", "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop",
)  # fmt: skip
WANTED: Final = 0.85
TIMEOUT: Final = 900


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    target: str
    path: Path
    operator: str
    occurrence: int

    def code(self) -> str | None:
        """The changed file; None where the change is one of annotations or none at all."""
        source = (ROOT / self.path).read_text()
        changed = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        if changed is None or _meaning(changed) == _meaning(source):
            return None
        return str(changed)


def _meaning(source: str) -> str | None:
    """The syntax tree without annotations and docstrings; None where Python cannot read it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def mutants(target: str) -> list[Mutant]:
    """Every change of the files of a target."""
    whole = ROOT / target
    paths = sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
    names = [name for name in operator_names() if name.split("/")[1].startswith(OPERATORS)]
    found: list[Mutant] = []
    for path in paths:
        nodes = list(_nodes(get_ast(path.read_text())))
        for name in names:
            operator = get_operator(name)()
            count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            found += [Mutant(target, path.relative_to(ROOT), name, n) for n in range(count)]
    return found


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


def sample(seed: int, count: int) -> Iterator[Mutant]:
    """Yield changes of all targets in turn, each target's in a random order."""
    chance = random.Random(seed)
    queues = []
    for target in TARGETS:
        everything = mutants(target)
        queues.append(chance.sample(everything, min(count, len(everything))))
    for number in range(count):
        for queue in queues:
            if number < len(queue):
                yield queue[number]


def is_noticed(folder: Path, tests: Sequence[str]) -> bool:
    """Whether a test fails in this copy of the tree."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    for path in dict.fromkeys(tests):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", path]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        if done.returncode != 0:
            return True
    return False


def copied_tree(folder: Path) -> None:
    """The files of the repository and the compiled kernel, without history and caches."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.split(b"\0")
    files = [os.fsdecode(name) for name in listed if name]
    kernels = [str(path.relative_to(ROOT)) for path in (ROOT / "kafkalog_reader").rglob("*.so")]
    for name in [*files, *kernels]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def main() -> int:
    """Try changes until the time is over; 1 when fewer are noticed than wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="of each target, at most")
    options = parser.parse_args()
    stop = time.monotonic() + options.seconds
    tried: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied_tree(folder)
        for mutant in sample(options.seed, options.count):
            if time.monotonic() > stop:
                break
            code = mutant.code()
            if code is None:
                continue
            source = (ROOT / mutant.path).read_text()
            (folder / mutant.path).write_text(code)
            tried[mutant.target] += 1
            if is_noticed(folder, TARGETS[mutant.target]):
                noticed[mutant.target] += 1
            else:
                where = str(mutant.path)
                lines = difflib.unified_diff(
                    source.splitlines(), code.splitlines(), where, where, n=1, lineterm=""
                )
                click.echo("\n".join(["survived:", *lines]))
            (folder / mutant.path).write_text(source)
    for target, count in tried.items():
        click.echo(f"{target}: {noticed[target]} of {count} noticed")
    share = noticed.total() / max(1, tried.total())
    click.echo(f"{share:.0%} of {tried.total()} changes noticed; {WANTED:.0%} wanted")
    return 0 if tried.total() and share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
