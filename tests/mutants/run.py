"""Builds every named fault of the core and shows that its named test kills it.

``python tests/mutants/run.py``          all faults, C cases, then the Python twin
``python tests/mutants/run.py --short``  all faults, C cases only

A fault is killed when its test fails and the same test passes without the fault. Only sources
that a fault stands in, or in a header of theirs, are compiled for it.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
CORE = sorted((ROOT / "csrc").glob("*.c"))
INCLUDE = re.compile(r'^#include "([\w.]+)"', re.MULTILINE)

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
    "UNPINNED": "test_verify survivors_are_pinned",
    "RESTORED_ONCE": "test_verify counts_are_those_of_tlc",
    "STUTTER_UNCOUNTED": "test_verify counts_are_those_of_tlc",
    "COLLISION_EQUAL": "test_verify counts_are_those_of_tlc",
    "UNBOUNDED": "test_verify bytes_are_bounded",
    "LAST_STUCK": "test_verify a_counterexample_is_a_shortest",
    "DISABLED_IGNORED": "test_verify a_lost_commit_is_stuck_without_abort",
    "SINGLES_IGNORED": "test_verify a_lost_commit_is_stuck_without_abort",
    "OWED_IGNORED": "test_verify a_loop_that_owes_an_action_is_none",
}


def known_faults() -> list[str]:
    """The faults that csrc/mutants.h declares, in its order."""
    text = (ROOT / "csrc" / "mutants.h").read_text()
    return re.findall(r"#ifndef PHX_MUTANT_(\w+) ", text)


def compiled(source: Path, fault: str | None = None) -> Path:
    """The object of a source with one fault, or with none."""
    made = BUILD / (fault or "sound") / f"{source.stem}.o"
    made.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-O1", "-std=c11", "-Icsrc"] + ([f"-DPHX_MUTANT_{fault}"] if fault else [])
    command = ["gcc", *flags, "-c", str(source), "-o", str(made)]
    subprocess.run(command, check=True, cwd=ROOT)
    return made


def with_headers(source: Path) -> set[Path]:
    """A source and every header of ours that it includes, on whatever way."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            beside = [path.parent, ROOT / "csrc"]
            waiting += [
                header
                for name in INCLUDE.findall(path.read_text())
                for folder in beside
                if (header := folder / name).exists()
            ]
    return found


@functools.cache
def mentions(source: Path) -> frozenset[str]:
    """The faults that make another object of a source."""
    texts = [
        path.read_text() for path in with_headers(source) if path.name != "mutants.h"
    ]
    return frozenset(re.findall(r"\bPHX_MUTANT_(\w+)", "\n".join(texts)))


def linked(cases: str, fault: str | None = None) -> Path:
    """A file of cases with one fault, or with none; sources without it as they were."""
    objects = [
        compiled(source, fault)
        if fault in mentions(source)
        else BUILD / "sound" / f"{source.stem}.o"
        for source in [*CORE, ROOT / "tests" / "c" / f"{cases}.c"]
    ]
    program = BUILD / (fault or "sound") / cases
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", *map(str, objects), "-lm", "-o", str(program)]
    subprocess.run(command, check=True, cwd=ROOT)
    return program


def killer(fault: str) -> tuple[str, str]:
    """File and name of the case that a fault must fail."""
    cases, _, case = KILLERS[fault].rpartition(" ")
    return cases or "test_rules", case


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


def verdict(fault: str, short: bool) -> tuple[str, bool]:
    """What is said of a fault, and whether it is killed."""
    cases, case = killer(fault)
    killed = not passes(linked(cases, fault), case)
    line = f"mutant {fault:<18} {'killed' if killed else 'SURVIVES'} by {case}"
    if not short:
        line += f", twin {'kills' if twin_kills(fault) else 'misses'} it"
    return line, killed


def main() -> int:
    """Runs every fault and prints one line each; 1 when a fault survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="C cases only")
    short = parser.parse_args().short
    faults = known_faults()
    if sorted(faults) != sorted(KILLERS):
        print("mutants: csrc/mutants.h and KILLERS name different faults")
        return 1
    named = sorted({killer(fault) for fault in faults})
    files = sorted({cases for cases, _ in named})
    survivors = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(
            pool.map(
                compiled, [*CORE, *(ROOT / f"tests/c/{cases}.c" for cases in files)]
            )
        )
        sound = dict(zip(files, pool.map(linked, files), strict=True))
        passed = pool.map(lambda at: passes(sound[at[0]], at[1]), named)
        for (cases, case), holds in zip(named, passed, strict=True):
            if not holds:
                print(f"mutants: {cases} {case} fails without a fault")
                return 1
        for line, killed in pool.map(lambda fault: verdict(fault, short), faults):
            print(line, flush=True)
            survivors += not killed
    print(f"mutants: {len(faults) - survivors} killed, {survivors} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
