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

# The case that each fault must fail, of tests/c/test_rules.c unless its file is named.
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
    "PART_UNLIMITED": "test_part_rules limits_of_a_part_bind",
    "JOINT_SKIPPED": "test_part_rules tables_find_what_no_order_does",
    "PART_STRAYS": "test_part_rules a_part_stays_in_its_own_domain",
    "PART_LIMITS_SHARED": "test_part_rules each_part_has_its_own_limits",
    "PARTS_UNCHARGED": "test_part_rules other_parts_count_below_limits",
    "PART_FORGOTTEN": "test_part_rules each_part_gets_leaves_of_its_own",
    "PARTS_REORDERED": "test_part_rules ranks_are_numbered_part_after_part",
    "FINEST_FIRST": "test_part_rules the_coarsest_part_goes_first",
    "HALL_SKIPPED": "test_part_rules kinds_share_leaves",
    "DEAL_KEPT": "test_part_rules a_search_that_gives_up_keeps_nothing",
    "LAZY_REFILL": "spares_are_refilled",
    "CORDON_PLACED": "cordoned_leaves_are_not_placed_on",
    "CHOSEN_TWICE": "test_solve dense_is_the_best_there_is",
    "NOTHING_SPENT": "test_solve dense_is_the_best_there_is",
    "LAST_CHOICE": "test_solve ties_of_the_dense_recurrence",
    "FREE_ROW": "test_solve prices_bound_and_mended_answers_fit",
    "OVERFULL": "test_solve prices_bound_and_mended_answers_fit",
    "NARROW_CORE": "test_core pick_leaves_what_an_answer_can_take",
    "NO_GAIN": "test_core search_finds_the_least_loss",
    "FILLED_FREE": "test_rounds filled_in_order_by_what_fits",
    "IDLE_KEPT": "test_rounds build_leaves_out_what_no_answer_takes",
    "HELD_TWICE": "test_rounds held_wins_ties_by_one",
    "CALLERS_ORDER": "test_rounds the_order_of_the_table_does_not_matter",
    "DEMAND_UNMARKED": "test_rounds marks_are_of_demands_too",
    "BASE_FREE": "test_core pick_leaves_what_an_answer_can_take",
    "FREE_START": "test_core unsold_rest_is_lost_from_the_start",
    "WIDE_ROW": "test_core rows_that_leave_32_bits_are_given_up",
    "DROPPED_ROW": "test_core search_finds_the_least_loss",
    "FREE_REST": "test_core search_finds_the_least_loss",
    "LOST_MORE": "test_core search_finds_the_least_loss",
    "LATE_LAYER": "test_core search_finds_the_least_loss",
    "WRONG_SIGN": "test_core search_finds_the_least_loss",
    "WRONG_RESIDUE": "test_core search_finds_the_least_loss",
    "BELOW_FREE": "test_core search_finds_the_least_loss",
    "THINNED_EARLY": "test_thin thinning_keeps_every_answer_that_helps",
    "BASE_THINNED": "test_thin thinning_keeps_every_answer_that_helps",
    "DEALT_BACK": "test_deal jobs_alike_are_served_in_order",
    "DEALT_UNLIKE": "test_deal alike_is_by_what_is_wanted",
    "IDLE_UNCOUNTED": "test_small idle_is_counted",
}


def known_faults() -> list[str]:
    """The faults that csrc/mutants.h declares, in its order."""
    text = (ROOT / "csrc" / "mutants.h").read_text()
    return re.findall(r"#ifndef PHX_MUTANT_(\w+) ", text)


def build(fault: str | None, cases: str) -> Path:
    """Compiles a file of cases with one fault, or with none."""
    program = BUILD / f"{cases}-{fault or 'sound'}"
    flags = ["-O1", "-std=c11", "-Icsrc"] + ([f"-DPHX_MUTANT_{fault}"] if fault else [])
    sources = [str(path) for path in sorted((ROOT / "csrc").glob("*.c"))]
    command = ["gcc", *flags, *sources, f"tests/c/{cases}.c", "-lm", "-o", str(program)]
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
    sound: dict[str, Path] = {}
    survivors = []
    for fault in faults:
        cases, _, case = f"test_rules {KILLERS[fault]}".rpartition(" ")
        cases = cases.rpartition(" ")[2]
        sound[cases] = sound.get(cases) or build(None, cases)
        killed = passes(sound[cases], case) and not passes(build(fault, cases), case)
        twin = (
            "" if short else f", twin {'kills' if twin_kills(fault) else 'misses'} it"
        )
        print(
            f"mutant {fault:<18} {'killed' if killed else 'SURVIVES'} by {case}{twin}"
        )
        survivors += [] if killed else [fault]
    print(f"mutants: {len(faults) - len(survivors)} killed, {len(survivors)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
