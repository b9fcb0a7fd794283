"""Fixtures of both kernels: the compiled one, and the same source interpreted."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import pytest

from kafkalog_reader.kernel import SHARED

MODULES = (
    *SHARED, "batch_search", "checksums", "messages", "repeats", "sound_batches",
    "uncompressed_batches",
)  # fmt: skip


def load_module(name: str, kind: str) -> ModuleType:
    full_name = f"kafkalog_reader.kernel.{name}_cy"
    compiled = importlib.import_module(full_name)
    if kind == "compiled":
        return compiled
    source = importlib.import_module("kafkalog_reader.kernel").__path__[0] + f"/{name}_cy.py"
    spec = importlib.util.spec_from_file_location(f"interpreted_{name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if name in SHARED:  # for the interpreted modules that are loaded next; C does not use it
        sys.modules[f"cython.cimports.{full_name}"] = module
    return module


@pytest.fixture(params=["interpreted", "compiled"], scope="session")
def kernel(request: pytest.FixtureRequest) -> SimpleNamespace:
    modules = {name: load_module(name, request.param) for name in MODULES}
    compiled = modules["record_batches"].is_compiled()
    assert compiled == (request.param == "compiled"), "build it: setup.py build_ext --inplace"
    return SimpleNamespace(**modules)
