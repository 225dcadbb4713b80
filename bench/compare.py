"""Compares two reports of ``bench.run --json`` by ratio: python bench/compare.py A B."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def medians(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Rows with times of a report, by name and size."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return {
        (row["row"], row.get("leaves", 0)): row
        for row in report["rows"]
        if "ours" in row
    }


def main() -> int:
    """Print median and p99 of both reports, and the second over the first."""
    if len(sys.argv) != 3:
        print("usage: python bench/compare.py BEFORE.json AFTER.json", file=sys.stderr)
        return 2
    before, after = (medians(Path(word)) for word in sys.argv[1:])
    print(
        f"{'row':32} {'leaves':>8} {'before':>10} {'after':>10} {'ratio':>6} {'p99':>6}"
    )
    for key in before:
        if key not in after:
            continue
        old, new = before[key], after[key]
        ratios = [
            new["ours"][name] / old["ours"][name] if old["ours"][name] else 0.0
            for name in ("median", "p99")
        ]
        same = (
            "" if old.get("checksum") == new.get("checksum") else "  decisions differ"
        )
        print(
            f"{key[0]:32} {key[1]:8} {old['ours']['median']:10.1f} "
            f"{new['ours']['median']:10.1f} {ratios[0]:6.2f} {ratios[1]:6.2f}{same}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
