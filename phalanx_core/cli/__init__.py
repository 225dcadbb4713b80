"""The command line, ``phalanx``; nothing is loaded before a command runs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``phalanx`` program; ends the process with its exit code."""
    from phalanx_core.cli.app import run

    sys.exit(run(sys.argv[1:]))
