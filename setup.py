"""Build the decoding kernel where a C compiler is to be had; KAFKALOG_KERNEL says how firmly."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup

KERNEL = os.environ.get("KAFKALOG_KERNEL") or "auto"  # compiled | interpreted | auto
SPARK = ["pyspark>=4.0,<4.4"]
TEST = [
    "aiokafka", "confluent-kafka", "duckdb", "hypothesis", "jsonschema", "polars", "pyroute2",
    "pytest>=8",
]  # fmt: skip
NOTEBOOK = ["ipykernel", "matplotlib", "nbclient", "nbformat"]
DEVELOPMENT = ["mypy", "ruff"]


def kernel_extensions() -> list[Extension]:
    if KERNEL == "interpreted":
        return []
    if KERNEL not in ("compiled", "auto"):
        raise SystemExit(f"KAFKALOG_KERNEL={KERNEL}: write compiled, interpreted or auto")
    extensions: list[Extension] = cythonize(
        "kafkalog_reader/kernel/*_cy.py", language_level="3", annotate=False
    )
    for extension in extensions:  # set here, because cythonize drops it
        extension.optional = KERNEL == "auto"  # forgives a missing C compiler, nothing else
        extension.depends = [
            *extension.depends,
            *map(str, Path("kafkalog_reader/kernel").glob("*.h")),
        ]
        extension.include_dirs = ["kafkalog_reader/kernel"]
        # No -march=native: the wheel may run on another machine than the one that built it.
        extension.extra_compile_args = ["-O3"]
    return extensions


setup(
    name="kafkalog",
    version="0.1.0",
    description="Read, query and audit what Kafka brokers keep on disk, from Spark and the shell",
    long_description=open("README.md", encoding="utf-8").read()  # noqa: PTH123, SIM115
    if os.path.exists("README.md")  # noqa: PTH110
    else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(
        include=["kafkalog_reader", "kafkalog_reader.*", "spark_datasource", "spark_datasource.*"]
    ),
    py_modules=["pyspark_kafkalog"] if os.path.exists("pyspark_kafkalog.py") else [],  # noqa: PTH110
    package_data={
        "kafkalog_reader": ["py.typed"],
        "kafkalog_reader.format": ["*.pxd"],
        "kafkalog_reader.kernel": ["*.h", "*.pxd"],
        "spark_datasource": ["py.typed"],
    },
    ext_modules=kernel_extensions(),
    install_requires=[
        "pyarrow>=18",
        "numpy>=1.26",
        "cython>=3.1",
        "zstandard>=0.22",
        'backports.zstd>=1; python_version < "3.14"',  # later Pythons bring the same as _zstd
        "lz4>=4.3",
        "isal>=1.6",
        "cramjam>=2.8",
        "crc32c>=2.4",
        "crcmod>=1.7",
        "construct>=2.10.69",
        "click>=8.1",
        "rich>=13",
    ],
    extras_require={
        "spark": SPARK,
        "notebook": [*SPARK, *NOTEBOOK],
        "test": [*SPARK, *NOTEBOOK, *TEST],
        "dev": [*SPARK, *NOTEBOOK, *TEST, *DEVELOPMENT],
    },
    entry_points={
        "console_scripts": [
            "kafkalog = kafkalog_reader.cli.scripts:kafkalog",
            "replica-diff = kafkalog_reader.cli.scripts:replica_diff",
        ]
    },
    zip_safe=False,
)
