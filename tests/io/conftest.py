"""Trees of empty files with the names of brokers' files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Tree = "Callable[..., Path]"


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
