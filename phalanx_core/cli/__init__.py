"""The command line, ``phalanx``; nothing is loaded before a command runs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``phalanx`` program; ends the process with its exit code."""
    try:
        from phalanx_core.cli.app import run

        sys.exit(run(sys.argv[1:]))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("phalanx_core"):
            raise
        print(
            f"phalanx: the command line needs the package {error.name}: "
            "pip install 'phalanx_core[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("phalanx: interrupted", file=sys.stderr)
        sys.exit(130)
