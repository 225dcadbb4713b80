"""The protocol's specifications in TLA+, and the configurations to check them with TLC."""

from __future__ import annotations

from importlib.resources import files


def specifications() -> dict[str, str]:
    """Texts of the modules and configurations, by file name.

    Returns
    -------
    ``Printed.tla`` is the transition system of Figure 2, its fixes as switches;
    ``Hardened.tla`` is the hardened protocol as a store sees it; each ``.cfg`` says in its
    first lines what it finds.

    Examples
    --------
    >>> texts = specifications()
    >>> texts["Printed_2_7_2.cfg"].splitlines()[0][7:]
    "paper's first scope: 3,146,990 generated, 834,050 distinct, depth 13; all hold."
    """
    folder = files("phalanx_core.verification") / "tla"
    found = sorted(folder.iterdir(), key=lambda entry: entry.name)
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in found
        if entry.name.endswith((".tla", ".cfg"))
    }
