"""A small change of the program: a comparison flipped, a condition dropped, a number off by one."""

from __future__ import annotations

import ast
import difflib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).parent.parent.parent
_FLIPS: Final = (
    "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt",
    "GtE_Lt", "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In",
)  # fmt: skip
_OPERATORS: Final = {
    *(f"core/ReplaceComparisonOperator_{flip}" for flip in _FLIPS),
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Add", "FloorDiv_Mul", "BitAnd_BitOr", "BitOr_BitAnd",
    )),
    *(f"core/{name}" for name in (
        "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_USub_UAdd", "ReplaceAndWithOr",
        "ReplaceOrWithAnd", "AddNot", "NumberReplacer", "ReplaceTrueWithFalse",
        "ReplaceFalseWithTrue", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
        "ZeroIterationForLoop",
    )),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """The ``occurrence``-th place in ``path`` to which ``operator`` applies."""

    target: str
    path: str
    operator: str
    occurrence: int

    def code(self) -> str | None:
        """The changed file; None if only a declaration changes, or if it is no program."""
        source = (ROOT / self.path).read_text()
        changed = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        meaning = None if changed is None else _meaning(changed)
        if meaning is None or meaning == _meaning(source):
            return None
        return str(changed)

    def line(self, code: str) -> int:
        """The first line that differs, from 1."""
        lines = (ROOT / self.path).read_text().splitlines()
        pairs = enumerate(zip(lines, code.splitlines(), strict=False), start=1)
        return next((number for number, (old, new) in pairs if old != new), len(lines))

    def diff(self, code: str) -> str:
        """The change as a unified diff."""
        source = (ROOT / self.path).read_text()
        lines = difflib.unified_diff(
            source.splitlines(), code.splitlines(), self.path, self.path, n=1, lineterm=""
        )
        return "\n".join(lines)


def _meaning(source: str) -> str | None:
    """The syntax tree without parts that only type checkers use; None for a syntax error.

    Those are annotations, decorators of classes and the condition of imports for types.
    """
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
        elif isinstance(node, ast.ClassDef):
            node.decorator_list = []
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.test = ast.Constant(None)
    return ast.dump(tree)


def mutants(target: str) -> list[Mutant]:
    """Every change of the files of a target, which is a folder or one module."""
    whole = ROOT / target
    paths = sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
    names = sorted(_OPERATORS & set(operator_names()))
    found: list[Mutant] = []
    for path in paths:
        nodes = list(_nodes(get_ast(path.read_text())))
        for name in names:
            operator = get_operator(name)()
            count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            relative = path.relative_to(ROOT).as_posix()
            found += [Mutant(target, relative, name, number) for number in range(count)]
    return found


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


def sample(targets: Sequence[str], seed: int, count: int) -> Iterator[Mutant]:
    """Yield at most ``count`` random changes of each target, in turn."""
    chance = random.Random(seed)
    queues = []
    for target in targets:
        everything = mutants(target)
        queues.append(chance.sample(everything, min(count, len(everything))))
    for number in range(count):
        for queue in queues:
            if number < len(queue):
                yield queue[number]
