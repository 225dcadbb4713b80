"""The specifications and their configurations, read once for every test of them."""

from __future__ import annotations

from phalanx_core.verification.specification import specifications
from tests.unit.verification.tla_reader import Module, configured, read

TEXTS = specifications()
MODULES = {name: read(TEXTS[f"{name}.tla"]) for name in ("Printed", "Hardened")}
CONFIGURATIONS = {
    name.removesuffix(".cfg"): configured(text)
    for name, text in TEXTS.items()
    if name.endswith(".cfg")
}
TEMPORAL = {"ReformLive", "ESR"}
# Rules under the names of the constants of Printed.tla; Abort is an action there.
SWITCHES = {
    "pin_survivors": "PinSurvivors",
    "commit_live": "CommitLive",
    "detect_in_restore": "DetectInRestore",
    "restore_live": "RestoreLive",
    "fixed_gang": "FixedGang",
    "crashes": "Crashes",
    "abort": "Abortable",
}


def module_of(name: str) -> Module:
    """The module that a configuration is of."""
    return MODULES["Hardened" if name.startswith("Hardened") else "Printed"]
