"""Builds every named fault of the core and shows that its named test kills it.

``python tests/mutants/run.py``          all faults, C cases, then the Python twin
``python tests/mutants/run.py --short``  all faults, C cases only

A fault is killed when its test fails and the same test passes without the fault.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"

# The C case (tests/c/test_rules.c) that each fault must fail.
KILLERS = {
    "SKIPPED_SUMMARY": "far_block_is_found",
    "WRONG_ANCESTOR": "level_is_the_common_domain",
    "QUARANTINE_FREED": "taken_leaves_are_quarantined",
    "FOREIGN_SPARE": "spare_of_the_own_domain_only",
    "OWNER_KEPT": "release_forgets_the_owner",
    "PHANTOM_COUNTED": "phantom_serves_nothing",
    "LAST_TIE": "ties_go_to_the_lower_address",
    "LIMIT_IGNORED": "limits_above_hosts_bind",
    "SURVIVOR_MOVED": "survivors_stay",
    "GROUP_ROUNDING": "groups_are_whole",
    "SLICE_IGNORED": "slices_are_whole",
    "SLICE_STRAYS": "slices_stay_in_the_one_around",
    "UNEVEN": "a_spread_gang_is_even",
    "LAZY_REFILL": "spares_are_refilled",
    "CORDON_PLACED": "cordoned_leaves_are_not_placed_on",
}


def known_faults() -> list[str]:
    """The faults that csrc/mutants.h declares, in its order."""
    text = (ROOT / "csrc" / "mutants.h").read_text()
    return re.findall(r"#ifndef PHX_MUTANT_(\w+) ", text)


def build(fault: str | None) -> Path:
    """Compiles the rule cases with one fault, or with none."""
    program = BUILD / (fault or "sound")
    flags = ["-O1", "-std=c11", "-Icsrc"] + ([f"-DPHX_MUTANT_{fault}"] if fault else [])
    sources = [str(path) for path in sorted((ROOT / "csrc").glob("*.c"))]
    command = ["gcc", *flags, *sources, "tests/c/test_rules.c", "-o", str(program)]
    subprocess.run(command, check=True, cwd=ROOT)
    return program


def passes(program: Path, case: str) -> bool:
    """Whether one case passes; a crash or a hang is a failure."""
    try:
        done = subprocess.run([program, case], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def twin_kills(fault: str) -> bool:
    """Whether the campaign against the enumerating twin fails on a faulty extension."""
    tree = BUILD / f"tree-{fault}"
    environment = dict(os.environ, PHALANX_MUTANT=fault)
    built = subprocess.run(
        [".ci/variant", f"mutant-{fault}", str(tree)], cwd=ROOT, env=environment
    )
    if built.returncode != 0:
        raise SystemExit(f"mutants: building the extension with {fault} failed")
    command = [sys.executable, "-m", "tests.properties.campaign"]
    command += ["--operations", "4000", "--seed", "0"]
    campaign = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if "no module named" in campaign.stderr.lower() or "usage:" in campaign.stderr:
        raise SystemExit(f"mutants: the campaign did not run\n{campaign.stderr}")
    # So few operations miss some floors; only a difference or a broken invariant counts.
    return "DIFFERENCE" in campaign.stdout or "Traceback" in campaign.stderr


def main() -> int:
    """Runs every fault and prints one line each; 1 when a fault survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="C cases only")
    short = parser.parse_args().short
    faults = known_faults()
    if sorted(faults) != sorted(KILLERS):
        print("mutants: csrc/mutants.h and KILLERS name different faults")
        return 1
    BUILD.mkdir(parents=True, exist_ok=True)
    sound = build(None)
    survivors = []
    for fault in faults:
        case = KILLERS[fault]
        killed = passes(sound, case) and not passes(build(fault), case)
        twin = (
            "" if short else f", twin {'kills' if twin_kills(fault) else 'misses'} it"
        )
        print(
            f"mutant {fault:<17} {'killed' if killed else 'SURVIVES'} by {case}{twin}"
        )
        survivors += [] if killed else [fault]
    print(f"mutants: {len(faults) - len(survivors)} killed, {len(survivors)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
