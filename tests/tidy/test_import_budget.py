"""What `import phalanx_core` may load."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "numba ortools matplotlib typer rich yaml hypothesis ClusterShell pytest pyarrow"
)


def test_import_loads_nothing_heavy() -> None:
    """Placement needs numpy and cffi alone, whatever else is installed."""
    program = (
        "import sys, phalanx_core\n"
        f"print(*[name for name in {HEAVY.split()} if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == []
