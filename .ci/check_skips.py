"""Print every skipped test; fail on one that the list of allowed skips does not name."""

from __future__ import annotations

import sys
from pathlib import Path


def main(report: Path, allowed: Path) -> int:
    """Compare the report of ``pytest --skip-report`` with the allowed prefixes."""
    entries = [line.partition("#") for line in allowed.read_text().splitlines()]
    prefixes = [prefix.strip() for prefix, _, reason in entries if reason.strip()]
    prefixes = [prefix for prefix in prefixes if prefix]
    refused = 0
    for line in report.read_text().splitlines():
        test, _, reason = line.partition("\t")
        known = any(test.startswith(prefix) for prefix in prefixes)
        refused += not known
        print(f"{'allowed' if known else 'NOT ON THE LIST'}: {test}: {reason}")
    if refused:
        print(f"{refused} skipped tests are not in {allowed}", file=sys.stderr)
    return min(refused, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
