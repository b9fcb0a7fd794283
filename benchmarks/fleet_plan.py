"""Plans a read of a fleet in a process of its own and prints the time and memory."""

from __future__ import annotations

import json
import logging
import pickle
import resource
import sys
import time

from kafkalog_reader import registry
from kafkalog_reader.io.discovery import discover
from spark_datasource.options import parse_options
from spark_datasource.planning import plan


def main(directory: str, table: str) -> None:
    """Print seconds, tasks and the process's peak memory in bytes as JSON."""
    logging.disable(logging.WARNING)  # one for each copy that lacks records
    start, processor = time.perf_counter(), time.process_time()
    request = parse_options({"path": directory, "table": table}).request
    tasks = plan(registry.table(table), discover([directory]), request)
    pickled = sum(len(pickle.dumps(task)) for task in tasks)
    answer = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "tasks": len(tasks),
        "pickled": pickled,
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
