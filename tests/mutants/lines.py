"""Breaks the package one text at a time, in a copy; a named test must fail for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    """One text of one module replaced, and the test that must see it."""

    name: str
    file: str
    sound: str
    faulty: str
    test: str


@dataclass(frozen=True)
class Table:
    """Faults of modules of one folder, whose tests are in another."""

    modules: str
    tests: str
    faults: Sequence[Fault]

    def tried(self, names: list[str]) -> int:
        """Try the faults of these names, or all; 1 if one survives."""
        wanted = [one for one in self.faults if not names or one.name in names]
        left = []
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            ignored = shutil.ignore_patterns("__pycache__")
            for part in ("phalanx_core", "tests"):
                shutil.copytree(ROOT / part, copy / part, ignore=ignored)
            shutil.copy(ROOT / "pyproject.toml", copy)
            for test in dict.fromkeys(fault.test for fault in wanted):
                if not self._passes(copy, test):
                    raise RuntimeError(f"{test} fails without a fault")
            for fault in wanted:
                alive = self._survives(copy, fault)
                left += [fault.name] if alive else []
                print(
                    f"{'SURVIVES' if alive else 'killed':<9} {fault.name}", flush=True
                )
        print(f"{len(wanted) - len(left)} of {len(wanted)} faults killed")
        return 1 if left else 0

    def _passes(self, copy: Path, test: str) -> bool:
        """Whether a test passes with the package of the copy."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", f"{self.tests}/{test}"]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        # A text of the same length within the same second would pass for the old one.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command += ["-p", "no:cacheprovider", "-p", "no:randomly"]
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, check=False
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{test}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.returncode == 0

    def _survives(self, copy: Path, fault: Fault) -> bool:
        """Whether a fault's test passes with it."""
        path = copy / self.modules / fault.file
        text = path.read_text("utf-8")
        if text.count(fault.sound) != 1:
            raise RuntimeError(f"{fault.name}: {fault.file} has not this text once")
        path.write_text(text.replace(fault.sound, fault.faulty), "utf-8")
        try:
            return self._passes(copy, fault.test)
        finally:
            path.write_text(text, "utf-8")
