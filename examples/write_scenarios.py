"""The gallery docs/scenarios.md, each acceptance scenario with its picture: ``make scenarios``."""

from __future__ import annotations

import contextlib
import re
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from click.testing import CliRunner

import kafkalog_reader
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.report.advice_text import not_known, not_known_lines
from kafkalog_reader.report.election_text import election_lines
from kafkalog_reader.report.lanes import lane_lines, lanes_of
from kafkalog_reader.report.lanes_svg import lanes_svg
from kafkalog_reader.report.spans import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fixtures.synthetic import Scenario
    from kafkalog_reader.report.spans import Line

PATH: Final = Path(__file__).parents[1] / "docs" / "scenarios.md"
PICTURES: Final = PATH.with_suffix("")
FAMILIES: Final = {
    "s1": "Partitions between three availability zones",
    "s5_1_a": "Loss around a crash",
    "h1": "Acknowledgement, ISR and high watermark",
    "m1": "Small cases that break simplified truncation",
}
"""The title of each chapter by its first scenario."""
_COLUMNS: Final = 80
"""Of a pipe."""
_ALL_FINDINGS: Final = re.compile(r"^\n  All findings:\n(?:    .*\n)+", re.MULTILINE)
_HEAD: Final = """# Scenarios

What incidents look like in the files of the brokers: a gallery. Each state is a scenario of
section 5 of [replica-divergence.md](reference/replica-divergence.md), built byte by byte, and the
texts are what `replica-diff` prints; where all copies are equal, with `--topic t --verbose`. To see
one yourself, with the packages that `make test` installs:

```
.venv/bin/python -m fixtures.synthetic . s3_2_a
.venv/bin/replica-diff s3_2_a
```

Tests compare verdicts, findings and elections with the reference, and some of the states with real
brokers that were driven into them (`fixtures/captures`). Written by `make scenarios`.

In the pictures each bar is the log of a replica over its offsets, and each colour a leader epoch.
What is hatched is not in the log of the best leader. The mark below a bar is the high watermark; a
line there means that the files prove only this range. A dotted bar has no leader epochs (Kafka
before 0.11).
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What the program says about a scenario.

    Attributes:
        verdict: how the copies relate.
        picture: the lanes as SVG.
        proved: the output up to the candidates, without the lanes, and all findings if it has them.
        unknown: what the files leave open.
        advice: the rest of the output; empty if there is nothing to do.
    """

    verdict: str
    picture: str
    proved: str
    unknown: tuple[str, ...]
    advice: str


def told(scenario: Scenario) -> Told:
    """Run ``replica-diff`` on the scenario, and divide what it prints.

    Where all copies are equal, ``--verbose`` lists the findings that are only information.
    """
    options = [] if scenario.rule is None else ["--rule", scenario.rule]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        scenario.write(Path(scenario.name))
        audit = kafkalog_reader.open(scenario.name).diff("t", 0, rule=scenario.rule)
        if audit.verdict is Verdict.CONSISTENT:
            options += ["--topic", "t", "--verbose"]
        ended = CliRunner().invoke(replica_diff, [scenario.name, *options], standalone_mode=False)
        if ended.exception is not None:
            raise ended.exception
        output = _without(ended.stdout, lane_lines(lanes_of(audit), columns=_COLUMNS))
        listed = "".join(_ALL_FINDINGS.findall(output))
        output = _ALL_FINDINGS.sub("", output)
        candidates = _text(election_lines(audit, _COLUMNS))
        unknown = _text(not_known_lines(audit, _COLUMNS))
        if unknown and unknown in output:
            proved, _, advice = output.partition(unknown)
        elif candidates and candidates in output:
            before, _, advice = output.partition(candidates)
            proved = before + candidates
        else:
            proved, *rest = re.split(r"^(?=  What to do:$)", output, flags=re.MULTILINE)
            advice = "".join(rest)
        return Told(
            verdict=audit.verdict.value.replace("-", " "),
            picture=lanes_svg(audit),
            proved=_tidy(proved + listed),
            unknown=not_known(audit) if unknown in output else (),
            advice=_tidy(advice),
        )


def _without(output: str, lines: Iterable[Line]) -> str:
    before, _, after = output.partition(_text(lines))
    return before + after


def _text(lines: Iterable[Line]) -> str:
    return "".join(f"{plain(line)}\n" for line in lines)


def _tidy(output: str) -> str:
    """Without blank lines at the edges, double ones inside, and the indentation of all lines."""
    lines = [line.rstrip() for line in output.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", textwrap.dedent("\n".join(lines)).strip("\n"))


def gallery() -> tuple[str, dict[str, str]]:
    """The page, and the pictures by the names of their files."""
    everything = {name: told(scenario) for name, scenario in SCENARIOS.items()}
    page = "\n".join(_lines(everything))
    return page, {f"{name}.svg": each.picture for name, each in everything.items()}


def _lines(everything: dict[str, Told]) -> Iterator[str]:
    yield _HEAD
    for name, scenario in SCENARIOS.items():
        if name in FAMILIES:
            yield f"\n**{FAMILIES[name]}**\n"
        yield f"- [{scenario.says}](#{name}): {everything[name].verdict}"
    for name, scenario in SCENARIOS.items():
        if name in FAMILIES:
            yield f"\n## {FAMILIES[name]}"
        yield from _section(scenario, everything[name])


def _section(scenario: Scenario, each: Told) -> Iterator[str]:
    yield f'\n<a id="{scenario.name}"></a>\n\n### {scenario.says}\n'
    yield f"{textwrap.fill(scenario.story, 100)}\n"
    alternative = f"The copies of t-0 by offset in scenario {scenario.name}"
    yield f'<img src="{PICTURES.name}/{scenario.name}.svg" width="720" alt="{alternative}">\n'
    yield f"**What the files prove**\n\n```text\n{each.proved}\n```\n"
    unknown = [text for text in (*each.unknown, scenario.not_in_files) if text]
    if unknown:
        yield "**What they cannot prove**\n"
        yield from (f"- {text}" for text in unknown)
        yield ""
    if each.advice:
        yield f"**What to do**\n\n```text\n{each.advice}\n```"
    else:
        yield "**What to do**: `replica-diff` advises nothing."


def main() -> None:
    """Write the page and the pictures, and remove those of scenarios that are gone."""
    page, pictures = gallery()
    PATH.write_text(page)
    PICTURES.mkdir(exist_ok=True)
    for path in PICTURES.iterdir():
        if path.name not in pictures:
            path.unlink()
    for name, picture in pictures.items():
        (PICTURES / name).write_text(picture)


if __name__ == "__main__":
    main()
