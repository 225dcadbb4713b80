"""Exit codes, and which error ends the program with which."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from phalanx_core.errors import InvariantBroken, PhalanxError, SaveError

DONE = 0
REFUSED = 1
WRONG_INPUT = 2
STATE_UNUSABLE = 3
BROKEN = 70
INTERRUPTED = 130

HELP = (
    "Exit codes: 0 all placed and repaired; 1 something was refused, and why is "
    "printed; 2 wrong usage or input; 3 the state file cannot be used; "
    "70 a fault of this program."
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
        _say(f"broken invariant {error}: please report this")
        return BROKEN
    except SaveError as error:
        _say(str(error))
        return STATE_UNUSABLE
    except PhalanxError as error:
        _say(str(error))
        return WRONG_INPUT
    except BrokenPipeError:
        # The reader of a pipe may leave early; Python would complain once more at exit.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        _say("a fault of this program, not of its input: please report this")
        return BROKEN


def _say(message: str) -> None:
    print(f"phalanx: {message}", file=sys.stderr)
