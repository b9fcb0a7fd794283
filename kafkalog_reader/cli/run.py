"""Runs commands: exit status, one-line errors, warnings, Ctrl-C, closed pipes."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
import signal
import sys
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from kafkalog_reader.errors import KafkaLogError, OptionError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CLEAN: Final = 0
FOUND: Final = 1
"""Something at or above ``--fail-on`` was found."""
TROUBLE: Final = 2
"""Wrong usage, or unreadable or damaged input: there is no result."""
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
"""128 + SIGPIPE, as for any Unix command whose reader has closed the pipe."""

LOGGERS: Final = ("kafkalog_reader", "spark_datasource")
_OF_WRITING: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF)
WARNINGS_REMEMBERED: Final = 10_000
WARNINGS_OF_A_KIND: Final = 3
"""Written without ``--verbose``."""


@dataclass(slots=True)
class Session:
    """What a command reports to ``run``; the ``obj`` of click's root context."""

    verbose: bool = False
    how_far: Callable[[], str] | None = None
    """Returns how far the command came, as the end of a sentence; called after Ctrl-C."""


def session() -> Session:
    """The session of the running command."""
    return click.get_current_context().find_root().ensure_object(Session)


def _remember_verbose(_context: click.Context, _option: click.Parameter, value: bool) -> bool:
    if value:
        session().verbose = True
    return value


def verbose_option(
    help_text: str = "Show the traceback of an error.",
    *,
    expose_value: bool = False,
    is_eager: bool = False,
) -> Callable[[Any], Any]:
    """The option ``--verbose``; with ``expose_value`` the command gets it as ``verbose``."""
    return click.option(
        "--verbose",
        is_flag=True,
        callback=_remember_verbose,
        expose_value=expose_value,
        is_eager=is_eager,
        help=help_text,
    )


def run(command: click.Command, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command as the whole program; never returns.

    Args:
        command: returns its exit status; None means 0.
        arguments: without the program's name; None for ``sys.argv[1:]``.
    """
    _open_closed_streams()
    sys.meta_path.insert(0, WithoutPandas())
    ended = status(command, arguments)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback while the interpreter ends
    if "duckdb" not in sys.modules:  # it would list everything that is left as leaked
        gc.freeze()  # no garbage collection of memory that the end of the process frees: 40 ms
    sys.exit(ended)


def _open_closed_streams() -> None:
    """Open the null device for streams that the caller closed (``2>&-``).

    Otherwise a file that is opened later would get the number of such a stream. Writing to a closed
    standard output is an error, as for any Unix command.
    """
    for number, access in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, access)  # gets the lowest free number
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


class WithoutPandas:
    """Hides pandas: if it is installed, ``pa.array`` imports it, which costs 0.15 s."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise for pandas; leave everything else to other finders."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not used here", name=fullname)


def status(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; errors become one line on standard error."""
    current = Session()
    with _warnings_on_stderr(current):
        try:
            if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # of cli.scripts
                signal.signal(signal.SIGINT, signal.default_int_handler)
            found = _outcome(command, arguments, current)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return TROUBLE
        except click.ClickException as error:
            _say(_usage(error), current)
            return TROUBLE
        except OptionError as error:
            _say(error.spelled(f"--{error.option.replace('_', '-')}"), current)
            return TROUBLE
        except KafkaLogError as error:
            _say(str(error), current)
            for note in getattr(error, "__notes__", ()):
                click.echo(note, err=True)
            return TROUBLE
        except BrokenPipeError:
            _give_up_stdout()
            return PIPE_CLOSED
        except OSError as error:
            if error.errno in _OF_WRITING:
                _give_up_stdout()
            _say(_os_error(error), current)
            return TROUBLE
        except KeyboardInterrupt:
            return _interrupted(current)
        except Exception as error:
            # Allowed only here: a bug must not end with status 1, which means "found".
            _say(f"unexpected {type(error).__name__}: {error}. {_advice()}", current)
            return TROUBLE
        return found


def _outcome(command: click.Command, arguments: Sequence[str] | None, current: Session) -> int:
    name = command.name or ""
    if f"_{name}_COMPLETE".replace("-", "_").upper() in os.environ:
        command.main(prog_name=name)  # click answers the shell, and exits
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Not command.main: that turns a closed pipe into exit status 1, which means "found".
    try:
        with command.make_context(name, given, obj=current) as context:
            outcome = command.invoke(context)
    except click.exceptions.Exit as end:  # --help, --version
        outcome = end.exit_code
    return outcome if isinstance(outcome, int) else CLEAN


def _advice() -> str:
    from kafkalog_reader.kernel.build import rebuild_advice  # not every command needs the kernel

    advice = rebuild_advice() or "this is a bug: please report it with the output of --verbose"
    return advice[0].upper() + advice[1:]


def _say(problem: str, current: Session) -> None:
    if current.verbose:
        traceback.print_exc()
    click.echo(f"error: {shown(problem)}", err=True)


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    stop = "" if message.endswith((".", "?")) else "."
    return f"{message}{stop} See `{context.command_path} --help`."


def _os_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason}"
    return f"cannot write: {reason}" if error.errno in _OF_WRITING else reason


def _give_up_stdout() -> None:
    """Redirect output that is still to be flushed to the null device."""
    with contextlib.suppress(OSError, ValueError):  # replaced by something that is not a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(
            nowhere, sys.stdout.fileno()
        )  # or Python reports an error when it flushes at its end
        os.close(nowhere)


def _interrupted(current: Session) -> int:
    so_far = current.how_far() if current.how_far is not None else ""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    click.echo(f"\ninterrupted{': ' if so_far else ''}{so_far}", err=True)  # below the ^C
    return INTERRUPTED


class _WarningLines(logging.Handler):
    """Writes each warning of the library once, as ``warning: ...``; of many of a kind the first."""

    def __init__(self, current: Session) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()
        self._kinds: Counter[object] = Counter()
        self._current = current

    def emit(self, record: logging.LogRecord) -> None:
        message = shown(record.getMessage())
        if message in self._said:
            return
        if len(self._said) < WARNINGS_REMEMBERED:
            self._said.add(message)
        self._kinds[record.msg] += 1
        if self._current.verbose or self._kinds[record.msg] <= WARNINGS_OF_A_KIND:
            click.echo(f"{record.levelname.lower()}: {message}", err=True)

    def count_others(self) -> None:
        """Say how many warnings were not written."""
        others = sum(max(count - WARNINGS_OF_A_KIND, 0) for count in self._kinds.values())
        if others and not self._current.verbose:
            click.echo(f"warning: {others:,} more like these (--verbose)", err=True)


@contextlib.contextmanager
def _warnings_on_stderr(current: Session) -> Iterator[None]:
    handler = _WarningLines(current)
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(handler)
        handler.count_others()
