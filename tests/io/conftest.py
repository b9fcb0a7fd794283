"""Trees of empty files with the names of brokers' files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Tree = "Callable[..., Path]"
LOG = "00000000000000000000.log"


def meta(node_id: int, cluster_id: str = "c1") -> str:
    return f"#Tue Nov 14 22:13:20 UTC 2023\nversion=1\nnode.id={node_id}\ncluster.id={cluster_id}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Create files below the test's folder; a name that ends in ``/`` is a folder."""

    def make(*names: str, **contents: str) -> Path:
        for name in names:
            path = tmp_path / name
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                text = contents.get(path.name.replace(".", "_"), "")
                path.write_text(text)
        return tmp_path

    return make


@pytest.fixture
def broker(tree: Callable[..., Path]) -> Path:
    """One log directory with two partitions."""
    root = tree("b1/meta.properties", f"b1/t-0/{LOG}", f"b1/t-1/{LOG}", meta_properties=meta(1))
    return root / "b1"
