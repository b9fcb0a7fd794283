"""The examples of docs/python.md, run in their order; only paths and partitions are others."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from fixtures import captures

PAGE: Final = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
BLOCK: Final = re.compile("^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWER: Final = re.compile('^([a-z][a-z_.]*)  # ("[^"]*")$', re.MULTILINE)
"""An expression, and the text that the page says it is."""
OTHERS: Final = {
    '"/mnt/b1", "/mnt/b2", "/mnt/b3"': repr(str(captures.path("s3_2/both-led"))),
    '"orders", 17': '"t", 0',
    "topic = 'orders' and partition = 3": "topic = 't' and partition = 0",
    "partition=17": "partition=0",
    '"orders"': '"t"',
}


def test_every_example_runs_and_gives_what_the_page_says() -> None:
    names: dict[str, Any] = {
        "__name__": "page"
    }  # not as a script: processes have tests of their own
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) == 8
    answers = {}
    for block in blocks:
        code = block
        for shown, here in OTHERS.items():
            code = code.replace(shown, here)
        if find_spec("pandas") is None:
            code = code.replace("scan.to_pandas()\n", "")
        exec(compile(code, "docs/python.md", "exec"), names)
        for expression, answer in ANSWER.findall(code):
            answers[expression] = (repr(eval(expression, names)), repr(eval(answer)))
    assert set(answers) == {"audit.verdict.value", "best.candidate.name"}
    for found, told in answers.values():
        assert found == told
    assert names["audit"].fork_offset == 2
