"""Programs that run in an installation nobody can write to, and without a home.

As in a container with a read-only root: no compiled file can be kept anywhere.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Variables that name places where Python or Numba could keep what they compile.
CACHES = ("NUMBA_CACHE_DIR", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
# Each program begins so: what it shows would mean nothing in a place it can write to.
CHECKED = """
import os, sys
import phalanx_core
folder = os.path.dirname(phalanx_core.__file__)
for place in (folder, os.path.dirname(os.environ["HOME"])):
    if os.access(place, os.W_OK):
        sys.exit(f"{place} can be written to")
if not folder.startswith(os.environ["PYTHONPATH"]):
    sys.exit(f"{folder} is not the copy")
"""


def _obey_modes() -> None:
    """In a child before its program starts: root loses its right to ignore file modes.

    Another user would do as well, but may not reach the interpreter.
    """
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@contextmanager
def installed(package: Path) -> Iterator[Path]:
    """A copy of a package, without caches, in a folder that cannot be written to."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "site"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, folder / package.name, ignore=ignored)
        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            yield folder
        finally:
            for path in paths:
                if path.is_dir():
                    path.chmod(0o755)


def run(folder: Path, program: str, given: str = "") -> str:
    """What a program prints that imports from such a folder; it must end well."""
    environment = {key: os.environ[key] for key in os.environ if key not in CACHES}
    environment |= {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder / "nobody"),
    }
    answer = subprocess.run(
        [sys.executable, "-c", program],
        input=given,
        cwd="/",
        env=environment,
        preexec_fn=_obey_modes,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise RuntimeError(f"exit status {answer.returncode}: {answer.stderr}")
    return answer.stdout
