"""Exit codes, and which error ends the program with which."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator

from phalanx_core.errors import InvariantBroken, PhalanxError, SaveError

DONE = 0
REFUSED = 1
WRONG_INPUT = 2
STATE_UNUSABLE = 3
BROKEN = 70
OUTPUT_UNWRITABLE = 74
INTERRUPTED = 130

HELP = (
    "Exit codes: 0 all placed and repaired; 1 something was refused, and why is "
    "printed; 2 wrong usage or input; 3 the state file cannot be used, or another run "
    "uses it; 70 a fault of this program; 74 the output cannot be written; "
    "130 interrupted."
)

SCHEDULE_HELP = (
    "Exit codes: 0 done, whoever waits; 1 a job can never run or a repair was refused, and "
    "why is printed; 2 wrong usage or input; 3 the state file cannot be used, or another "
    "run uses it; 70 a fault of this program; 74 the output cannot be written; "
    "130 interrupted."
)

ROUND_HELP = (
    "Exit codes: 0 done, whoever is left out; 2 wrong usage or input; 70 a fault of this "
    "program; 74 the output cannot be written; 130 interrupted."
)

MODEL_HELP = (
    "Exit codes: 0 done; 2 wrong usage or input; 70 a fault of this program; 74 the output "
    "cannot be written; 130 interrupted."
)

REPRODUCE_HELP = (
    "Exit codes: 0 every figure matches, or differs as is stated; 1 one that should match "
    "does not; 2 wrong usage or input; 70 a fault of this program; 74 the output cannot "
    "be written; 130 interrupted."
)

VERIFY_HELP = (
    "Exit codes: 0 every property holds; 1 one is violated, and how is printed; 2 wrong "
    "usage; 70 a fault of this program; 74 the output cannot be written; 130 interrupted."
)

HISTORY_HELP = (
    "Exit codes: 0 every line is a legal step; 1 one is not, and why is printed; 2 wrong "
    "usage or a file that cannot be read; 70 a fault of this program; 74 the output "
    "cannot be written; 130 interrupted."
)


class OutputFault(Exception):
    """Standard output takes no more, for a reason other than an absent reader."""


class FileFault(Exception):
    """An output file cannot be written; the message names it."""


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Turn what goes wrong while writing standard output into ``OutputFault``.

    Raises
    ------
    OutputFault
        With the reason of the system.
    BrokenPipeError
        If the reader has left.
    """
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "reason", "")
        raise OutputFault(str(reason).partition("\n")[0]) from None


def escaped(text: str, kept: str = "") -> str:
    r"""Text whose control characters are written as Python would, but for ``kept``.

    Examples
    --------
    >>> escaped("a\x1b[31m")
    'a\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in kept else ascii(sign)[1:-1]
        for sign in text
    )


def guarded(command: Callable[[], int]) -> int:
    """Run a command; an error becomes one line on stderr and an exit code.

    Examples
    --------
    >>> guarded(lambda: DONE)
    0
    """
    try:
        return command()
    except InvariantBroken as error:
        say(f"broken invariant {error}: please report this")
        return BROKEN
    except SaveError as error:
        say(str(error))
        return STATE_UNUSABLE
    except PhalanxError as error:
        say(str(error))
        return WRONG_INPUT
    except BrokenPipeError:
        _silence()
        return DONE
    except OutputFault as error:
        _silence()
        say(f"standard output cannot be written: {error}")
        return OUTPUT_UNWRITABLE
    except FileFault as error:
        say(str(error))
        return OUTPUT_UNWRITABLE
    except KeyboardInterrupt as error:
        say(": ".join(("interrupted", *map(str, error.args))))
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        say("a fault of this program, not of its input: please report this")
        return BROKEN


@contextlib.contextmanager
def before_saving() -> Iterator[None]:
    """Where an interrupt comes before anything is saved or printed, it says so.

    Raises
    ------
    KeyboardInterrupt
        With that sentence, if the block was interrupted.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was saved") from None


@contextlib.contextmanager
def after_saving(path: str | None) -> Iterator[None]:
    """Where an interrupt comes when a state file is complete, it says so.

    Raises
    ------
    KeyboardInterrupt
        With that sentence, if the block was interrupted and there is a path.
    """
    try:
        yield
    except KeyboardInterrupt:
        told = () if path is None else (f"{path} is saved",)
        raise KeyboardInterrupt(*told) from None


def say(message: str) -> None:
    """One line on stderr."""
    with contextlib.suppress(OSError):
        print(f"phalanx: {escaped(message)}", file=sys.stderr)


def _silence() -> None:
    """Let Python flush to nowhere at exit: it would complain once more."""
    # A stream without a descriptor belongs to somebody who embeds the program.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
