"""Folded host lists as Slurm writes them: ``dgx[01-03,07],login``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(.*?)([0-9]+)")
# Slurm and its peers keep the number of a range in 64 bits.
DIGITS_MAX = 18


def fold(names: Iterable[str]) -> str:
    """Names, each once, as one list of ranges, in natural order.

    Notes
    -----
    O(names log names). Only the number at a name's end is folded; numbers padded with
    zeros fold with their like, as "[08-10]" means two digits each.

    Examples
    --------
    >>> fold(["n8", "n9", "n10", "m01", "m02", "login"])
    'login,m[01-02],n[8-10]'
    """
    split = {name: _NUMBERED.fullmatch(name) for name in dict.fromkeys(names)}
    padded = {
        (match[1], len(match[2]))
        for match in split.values()
        if match and match[2][0] == "0" and match[2] != "0"
    }
    groups: dict[tuple[str, int], list[int]] = {}
    words: dict[tuple[str, int], str] = {}
    for name, match in split.items():
        if match is None or len(match[2]) > DIGITS_MAX:
            words[name, -1] = name
            continue
        width = len(match[2])
        key = (match[1], width if (match[1], width) in padded else 0)
        groups.setdefault(key, []).append(int(match[2]))
    for (stem, width), numbers in groups.items():
        words[stem, width] = stem + _ranges(sorted(numbers), width)
    return ",".join(words[key] for key in sorted(words))


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which n9 comes before n10.

    Examples
    --------
    >>> sorted(["n10", "n9", "m11"], key=natural)
    ['m11', 'n9', 'n10']
    """
    return [
        (0, int(part), part) if part.isdigit() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    ]


def _ranges(numbers: list[int], width: int) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [
        f"{low:0{width}}" if low == high else f"{low:0{width}}-{high:0{width}}"
        for low, high in runs
    ]
    bare = len(words) == 1 and runs[0][0] == runs[0][1]
    return words[0] if bare else f"[{','.join(words)}]"
