"""Imports point in one direction: errors → format → io → kernel → … → cli; also in the audits."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
LAYERS = (
    "errors", "format", "io", "kernel", "scan", "decode", "tables",
    "audits.catalogue", "audits.log", "audits.recovery", "audits.integrity", "audits.comparison",
    "audits.election", "audits.quorum", "audits.partition", "audits.plan", "audits.tables",
    "registry", "salvage", "table_scan", "table_dataset", "report", "log", "cli",
    "spark_datasource",
)  # fmt: skip
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in ("kafkalog_reader", "spark_datasource")
    for path in (ROOT / package).rglob("*.py")
)

ALLOWED = {
    # A method of the public result draws it; matplotlib and its modules load when it is called.
    "kafkalog_reader/audits/partition/partition_audit.py": {
        "kafkalog_reader.report.lanes",
        "kafkalog_reader.report.figures",
    },
}
"""Imports of a later layer by ``import_module``."""


def layer_of(module: str) -> int | None:
    """The layer of a dotted module; None if it has none (the package itself, others)."""
    parts = module.split(".")
    if parts[0] not in ("kafkalog_reader", "spark_datasource"):
        return None  # Python's own io is not a layer
    names = {parts[0], *parts[1:2], ".".join(parts[1:3])}
    return next((number for number, layer in enumerate(LAYERS) if layer in names), None)


def imported_modules(source: str) -> set[str]:
    """Every module that the source imports anywhere, also inside functions."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "relative imports hide the layer"
            modules.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return modules


def modules_by_name(source: str) -> set[str]:
    """Every module that it imports as ``import_module("its.name")``."""
    return {
        each.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
        for each in node.args
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_no_later_layer(module: str) -> None:
    own = layer_of(module.removesuffix(".py").replace("/", "."))
    source = (ROOT / module).read_text()
    names = imported_modules(source) | modules_by_name(source)
    imported = {name: layer_of(name) for name in names}
    if own is None:
        return  # kafkalog_reader/__init__.py names the public API lazily
    later = {name for name, layer in imported.items() if layer is not None and layer > own}
    assert later == ALLOWED.get(module, set())


def test_an_upward_import_is_seen_even_inside_a_function() -> None:
    source = "def f():\n    from kafkalog_reader.cli import main\n"
    assert layer_of("kafkalog_reader.cli.main") is not None
    assert layer_of("kafkalog_reader.audits.log.replica") is not None
    assert layer_of("kafkalog_reader.cli") in {layer_of(name) for name in imported_modules(source)}


def test_an_import_by_name_is_seen() -> None:
    source = "def f():\n    return importlib.import_module('kafkalog_reader.cli.main')\n"
    assert modules_by_name(source) == {"kafkalog_reader.cli.main"}


def name_of(module: str) -> str:
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def circles(imports: Mapping[str, set[str]]) -> list[str]:
    """Modules that import themselves indirectly."""

    def reached(module: str) -> set[str]:
        seen: set[str] = set()
        ahead = [module]
        while ahead:
            for name in imports.get(ahead.pop(), set()) - seen:
                seen.add(name)
                ahead.append(name)
        return seen

    return sorted(module for module in imports if module in reached(module))


def test_no_module_imports_itself_in_the_end_not_even_for_its_types() -> None:
    modules = {name_of(module): (ROOT / module).read_text() for module in MODULES}
    packages = {name_of(module) for module in MODULES if module.endswith("__init__.py")}
    known = modules.keys() - packages
    imports = {name: imported_modules(source) & known for name, source in modules.items()}
    assert circles(imports) == []


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c"]
