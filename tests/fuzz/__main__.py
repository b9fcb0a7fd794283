"""``python -m tests.fuzz``: every target for its share of the time, each in its own process.

It uses atheris, which is guided by coverage, if it is installed, and plain mutations otherwise. An
input that makes a target fail is kept as a file; ``python -m tests.fuzz --again TARGET FILE`` runs
it alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

ADDRESS_SPACE: Final = 4 << 30
"""Memory limit in bytes, of which mappings of libraries take more than 1 GiB."""
RESIDENT_MIB: Final = 768
SECONDS: Final = 600.0


def main() -> int:
    """Parse the arguments; run all targets, or one target in this process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="in all")
    parser.add_argument("--rounds", type=int, help="inputs a target, plain mutations only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("atheris", "mutation"), default=_best_engine())
    parser.add_argument("--target", help="only this one")
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "FILE"))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    logging.getLogger("kafkalog_reader").addHandler(logging.NullHandler())
    logging.getLogger("kafkalog_reader").propagate = False
    if asked.again:
        from tests.fuzz.targets import TARGETS

        TARGETS[asked.again[0]](Path(asked.again[1]).read_bytes())
        return 0
    asked.crashes.mkdir(parents=True, exist_ok=True)
    if asked.child:
        return _with_atheris(asked) if asked.engine == "atheris" else _with_mutations(asked)
    return _all_targets(asked)


def _best_engine() -> str:
    return "mutation" if importlib.util.find_spec("atheris") is None else "atheris"


def _all_targets(asked: argparse.Namespace) -> int:
    from tests.fuzz.targets import TARGETS

    names = [asked.target] if asked.target else list(TARGETS)
    click.echo(f"{asked.engine}: {len(names)} targets, {asked.seconds:.0f} s in all")
    failed = []
    for name in names:
        command = [
            sys.executable, "-m", "tests.fuzz", "--child", "--target", name,
            "--engine", asked.engine, "--seconds", str(asked.seconds / len(names)),
            "--seed", str(asked.seed), "--crashes", str(asked.crashes),
        ]  # fmt: skip
        if asked.rounds is not None:
            command += ["--rounds", str(asked.rounds)]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    click.echo(f"failed: {', '.join(failed)}" if failed else "no crash, no hang")
    return 1 if failed else 0


def _with_mutations(asked: argparse.Namespace) -> int:
    from tests.fuzz.mutation import FoundCrashError, fuzz

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    try:
        done = fuzz(asked.target, seed=asked.seed, rounds=asked.rounds, seconds=asked.seconds)
    except FoundCrashError as crash:
        file = asked.crashes / f"{asked.target}-crash"
        file.write_bytes(crash.content)
        click.echo(f"{asked.target}: {crash.__cause__!r}\n  again: --again {asked.target} {file}")
        raise
    click.echo(f"{asked.target}: {done:,} inputs")
    return 0


def _with_atheris(asked: argparse.Namespace) -> int:
    import atheris

    with atheris.instrument_imports(include=["kafkalog_reader"]):
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.corpus import seeds

    corpus = Path(tempfile.mkdtemp(prefix="kafkalog-corpus-"))
    for number, seed in enumerate(seeds(asked.target)):
        (corpus / f"{number:04}").write_bytes(seed)
    atheris.Setup(
        [
            "fuzz", str(corpus), f"-max_total_time={int(asked.seconds)}", f"-seed={asked.seed}",
            "-timeout=20", f"-rss_limit_mb={RESIDENT_MIB}", "-max_len=65536", "-verbosity=0",
            "-print_final_stats=1", f"-artifact_prefix={asked.crashes / asked.target}-",
        ],
        TARGETS[asked.target],
    )  # fmt: skip
    atheris.Fuzz()  # ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main())
