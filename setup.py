"""Build the decoding kernel where a C compiler is to be had; KAFKALOG_KERNEL says how firmly."""

import os
import sys
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler, get_python_inc
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

KERNEL = os.environ.get("KAFKALOG_KERNEL") or "auto"  # compiled | interpreted | auto
SOURCES = Path("kafkalog_reader/kernel")
MANUAL = sorted(map(str, Path("man/man1").glob("*.1")))
"""Written by ``make man``; an installation puts them where ``man`` looks for commands on PATH."""
SHARED = "kafkalog_reader.kernel._cyutility"
"""Cython's own code for memory views: built once, not once for each module of the kernel."""
DEPENDENCIES = [
    "backports.zstd>=1; python_version < '3.14'",  # later Pythons bring it
    "click>=8.1",
    "construct>=2.10.69",
    "crcmod>=1.7",
    "isal>=1.6",
    "lz4>=4.3",
    "numpy>=1.26",
    "pyarrow>=18",
    "rich>=13",
]
INTERPRETED = ["crc32c>=2.4", "cython>=3.1"]
"""What stands for C where Python itself runs the kernel's sources."""


def compiles() -> bool:
    """Whether a C compiler and Python's headers are here: a program of one line is compiled."""
    compiler = new_compiler()
    customize_compiler(compiler)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "probe.c")
        source.write_text("#include <Python.h>\n")
        try:
            compiler.compile([str(source)], output_dir=scratch, include_dirs=[get_python_inc()])
        except CompileError:
            return False
    return True


def is_compiled() -> bool:
    """Whether this installation compiles the kernel."""
    if KERNEL not in ("compiled", "interpreted", "auto"):
        raise SystemExit(f"KAFKALOG_KERNEL={KERNEL}: write compiled, interpreted or auto")
    if KERNEL == "auto" and not compiles():
        print("no C compiler: the kernel will run interpreted, far slower", file=sys.stderr)  # noqa: T201
        return False
    return KERNEL != "interpreted"


def kernel_extensions() -> list[Extension]:
    extensions: list[Extension] = cythonize(
        [
            Extension("*", [str(SOURCES / "*_cy.py")]),
            Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"]),
        ],
        language_level="3",
        annotate=False,
        shared_utility_qualified_name=SHARED,
    )
    for extension in extensions:  # set here, because cythonize drops it
        extension.depends = [*extension.depends, *map(str, SOURCES.glob("*.h"))]
        extension.include_dirs = [str(SOURCES)]
        # No -march=native: the wheel may run on another machine than the one that built it.
        # No debugging information: it takes a third of the compiler's time.
        optimization = "-O1" if extension.name == SHARED else "-O3"
        extension.extra_compile_args = [optimization, "-g0"]
    return extensions


class BuildInParallel(build_ext):
    """As many compilers at once as there are cores."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or len(os.sched_getaffinity(0))


compiled = is_compiled()
setup(
    cmdclass={"build_ext": BuildInParallel},
    data_files=[("share/man/man1", MANUAL)],
    ext_modules=kernel_extensions() if compiled else [],
    install_requires=DEPENDENCIES if compiled else [*DEPENDENCIES, *INTERPRETED],
)
