"""The console scripts. Before the command runs, Ctrl-C ends them like any Unix command.

Otherwise, before ``run`` handles Ctrl-C, the interpreter would print the traceback of an import.
"""

import os
import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # an ignored signal stays ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# numpy's linear algebra is not used, but its threads would spin for a tenth of a second.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def kafkalog() -> None:
    """The console script ``kafkalog``."""
    from kafkalog_reader.cli.main import main

    main()


def replica_diff() -> None:
    """The console script ``replica-diff``."""
    from kafkalog_reader.cli.replica_diff import main

    main()
