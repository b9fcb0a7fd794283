"""Plans a fleet in a process of its own and prints the time and memory."""

from __future__ import annotations

import json
import pickle
import resource
import sys
import time

from kafkalog_reader import registry
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.planning import plan


def main(directory: str) -> None:
    """Print seconds, tasks and the process's peak memory in bytes as JSON."""
    start = time.perf_counter()
    tasks = plan(registry.table("elections"), discover([directory]), ReadRequest())
    pickled = sum(len(pickle.dumps(task)) for task in tasks)
    answer = {
        "seconds": time.perf_counter() - start,
        "tasks": len(tasks),
        "pickled": pickled,
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
