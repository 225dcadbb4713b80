"""Breaks the scheduler one line at a time; a test must fail for each.

``python -m tests.mutants.scheduling [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

UNIT = "unit/scheduling/test_"
HISTORIES = "properties/test_scheduler_machine.py::test_histories_keep_every_promise"
BOUND = "properties/test_scheduler_machine.py::test_nobody_waits_beyond_the_bound"
TURNS = "properties/test_scheduler_owed.py::test_the_most_owed_get_the_leases"
SAVED = UNIT + "saving.py::test_a_loaded_scheduler_is_the_same"

LEASES = (
    Fault(
        "a lease goes on at its end",
        "lease.py",
        "return now >= self.end_s",
        "return now > self.end_s",
        UNIT + "committing.py::test_a_lease_ends_exactly_at_its_end",
    ),
    Fault(
        "a renewed job starts anew, by worth",
        "valuing.py",
        "        if same and round.keep(record, kept):\n",
        "        if same and not record.holds and round.keep(record, kept):\n",
        UNIT + "valuing.py::test_a_renewed_job_stays_where_it_is",
    ),
    Fault(
        "a renewed job starts anew, by what is owed",
        "owing.py",
        "        if record.holds and round.keep(record, Kept(Why.RENEWED)):\n",
        "        if not record.holds and round.keep(record, Kept(Why.RENEWED)):\n",
        UNIT + "owing.py::test_a_renewal_in_place_is_no_cold_start",
    ),
    Fault(
        "the most owed gives way first",
        "owing.py",
        "for at in order[::-1] if",
        "for at in order if",
        UNIT + "owing.py::test_the_least_owed_gives_way_first",
    ),
    Fault(
        "columns of jobs that left count",
        "valuing.py",
        "width = max(len(one.types) for one in jobs)",
        "width = round.table.goodput.shape[1]",
        UNIT + "saving.py::test_a_job_that_left_leaves_nothing_behind",
    ),
    Fault(
        "limits of memory are forgotten",
        "saving.py",
        '"memory": scheduler._feasible.memory_bytes,',
        '"memory": {},',
        UNIT + "saving.py::test_limits_of_memory_are_saved",
    ),
    Fault(
        "a signal cuts a round short",
        "scheduler.py",
        "interrupt = uninterrupted(take_over)",
        "interrupt = take_over()",
        UNIT + "turn.py::test_a_signal_waits_for_the_round",
    ),
    Fault(
        "a round that was cut short goes on",
        "scheduler.py",
        "                self._broken = told\n",
        "                pass\n",
        UNIT + "turn.py::test_a_round_that_is_cut_short_is_the_last",
    ),
    Fault(
        "a second caller is let in",
        "turn.py",
        "        with self._inside:\n",
        "        if True:\n",
        UNIT + "turn.py::test_a_second_caller_is_refused",
    ),
    Fault(
        "a renewal is a cold start",
        "committing.py",
        "                record.leases += 1\n            actions.append(\n",
        "                record.leases += 1\n                record.begin(20.0)\n"
        "            actions.append(\n",
        UNIT + "owing.py::test_a_renewal_in_place_is_no_cold_start",
    ),
    Fault(
        "no checkpoint at a renewal",
        "committing.py",
        "checkpoint=renewed,",
        "checkpoint=False,",
        UNIT + "committing.py::test_a_lease_ends_exactly_at_its_end",
    ),
    Fault(
        "a checkpoint of a broken job",
        "committing.py",
        "checkpoint=why is not Why.BROKEN,",
        "checkpoint=True,",
        HISTORIES,
    ),
    Fault(
        "progress is not lost",
        "records.py",
        "        self.progress_s = self.saved_s\n",
        "",
        UNIT
        + "events.py::test_progress_since_the_last_snapshot_is_lost_at_the_release",
    ),
    Fault(
        "a snapshot saves nothing",
        "records.py",
        "        self.saved_s = self.progress_s\n",
        "",
        UNIT
        + "events.py::test_progress_since_the_last_snapshot_is_lost_at_the_release",
    ),
    Fault(
        "a failed start begins the waiting anew",
        "events.py",
        "            record.waiting_since_s = since\n",
        "            pass\n",
        UNIT + "events.py::test_a_job_that_could_not_start_waits_as_before",
    ),
)

RELEASES = (
    Fault(
        "releases before stops",
        "committing.py",
        "actions = [*self._stopped(), *self._released(), *self._started()]",
        "actions = [*self._stopped(), *self._started(), *self._released()]",
        UNIT + "decision.py::test_actions_are_listed_by_kind_then_by_submission",
    ),
    Fault(
        "leaves that are not released are given away",
        "committing.py",
        "        if not self.at_once:\n            self._wait_for_leaves()\n",
        "",
        UNIT
        + "committing.py::test_leaves_of_a_stopped_job_are_nobodys_before_its_release",
    ),
    Fault(
        "who could start elsewhere waits",
        "committing.py",
        "        self._elsewhere(late)\n",
        "",
        UNIT
        + "committing.py::test_who_would_wait_starts_on_free_leaves_that_are_as_near",
    ),
    Fault(
        "who could start elsewhere starts anywhere",
        "committing.py",
        "isinstance(found, Placement) and found.level <= planned.level:",
        "isinstance(found, Placement):",
        UNIT + "committing.py::test_who_would_be_farther_apart_waits",
    ),
    Fault(
        "lost leaves are not restored",
        "whatif.py",
        "        if fenced:\n",
        "        if not fenced and job is None:\n",
        UNIT + "whatif.py::test_lost_leaves_are_not_taken_back_but_restored",
    ),
    Fault(
        "a cancelled job waits",
        "committing.py",
        "if job in self.stops and (record.closed or not self.at_once):",
        "if job in self.stops and not self.at_once:",
        UNIT + "committing.py::test_the_last_word_on_a_cancelled_job_is_its_release",
    ),
    Fault(
        "a release is told again",
        "scheduler.py",
        "            self._freed = []\n            self._dirty = False\n",
        "            self._dirty = False\n",
        UNIT + "committing.py::test_a_release_is_told_once",
    ),
    Fault(
        "the last submitted comes first",
        "round.py",
        "    return sorted(records, key=_sequence)\n",
        "    return sorted(records, key=_sequence, reverse=True)\n",
        HISTORIES,
    ),
)

REPAIRS = (
    Fault(
        "who leaves is repaired",
        "repairing.py",
        "if is_running(records[job]) and job not in round.stopped",
        "if is_running(records[job])",
        UNIT + "repairing.py::test_a_cancelled_job_is_not_repaired_first",
    ),
    Fault(
        "who leaves is drained",
        "repairing.py",
        "    leaves = _of_movable(round, type, leaves)\n",
        "",
        UNIT + "repairing.py::test_a_stopping_job_is_not_drained",
    ),
    Fault(
        "a move is no cold start",
        "committing.py",
        "            record.begin(record.request.cold_start_s)\n",
        "",
        UNIT
        + "committing.py::test_a_move_loses_what_no_checkpoint_has_and_is_a_cold_start",
    ),
    Fault(
        "a heal does not end a drain",
        "leaves.py",
        "                self._draining[type].pop(leaf, None)\n",
        "                pass\n",
        HISTORIES,
    ),
)

CHOICES = (
    Fault(
        "a lease is not charged in advance",
        "owing.py",
        "            options.lease_s,\n            self.place,\n",
        "            0.0,\n            self.place,\n",
        UNIT + "owing.py::test_a_lease_is_charged_before_the_next_is_given",
    ),
    Fault(
        "jobs are owed alike",
        "owing.py",
        "            ratio=ratio,\n",
        "            ratio=0 * ratio,\n",
        TURNS,
    ),
    Fault(
        "what was cut is chosen again",
        "valuing.py",
        "    return np.where(unfit, np.nan, worth)\n",
        "    return worth\n",
        UNIT + "valuing.py::test_what_the_topology_cannot_hold_is_cut_and_solved_again",
    ),
    Fault(
        "one choice more",
        "valuing.py",
        "    for _ in range(round.options.repairs + 1):\n",
        "    for _ in range(round.options.repairs + 2):\n",
        UNIT + "valuing.py::test_cuts_are_bounded",
    ),
    Fault(
        "budgets bind nobody",
        "valuing.py",
        "quota = np.maximum(budgets - _taken(round), 0)",
        "quota = budgets + 1000",
        UNIT + "valuing.py::test_what_no_budget_covers_is_borrowed",
    ),
    Fault(
        "what is held is not of the budget",
        "valuing.py",
        "quota = np.maximum(budgets - _taken(round), 0)",
        "quota = budgets",
        HISTORIES,
    ),
    Fault(
        "starts out of turn are in no budget",
        "valuing.py",
        "        if started is not None:\n            column = columns",
        "        if started is not None and started.why is not Why.OVERDUE:\n"
        "            column = columns",
        UNIT + "valuing.py::test_who_waited_too_long_is_in_the_budgets_once",
    ),
    Fault(
        "what is borrowed is told to be renewed",
        "valuing.py",
        "Kept(Why.BORROWED if beyond else Why.RENEWED)",
        "Kept(Why.RENEWED)",
        HISTORIES,
    ),
    Fault(
        "memory filters nothing",
        "feasible.py",
        "if has is None or way.memory_bytes <= has:",
        "if has is None or way.memory_bytes >= 0:",
        UNIT + "feasible.py::test_memory_filters_and_says_why",
    ),
    Fault(
        "what can never run waits for room",
        "feasible.py",
        "answer.code is MisfitCode.TOO_LARGE:",
        "answer.code is None:",
        UNIT + "feasible.py::test_what_no_host_could_hold_is_infeasible_and_waits",
    ),
    Fault(
        "shares are of what is free alone",
        "scheduler.py",
        "usable = _available(self.planners) + held",
        "usable = _available(self.planners)",
        UNIT + "scheduler.py::test_shares_are_of_what_is_usable",
    ),
)

WAITING = (
    Fault(
        "free leaves are not held",
        "reserving.py",
        "    planner.cordon(free)\n",
        "",
        UNIT + "reserving.py::test_free_leaves_are_held_too",
    ),
    Fault(
        "held leaves are leased for a whole lease",
        "reserving.py",
        "Kept(Why.RESERVED, until, text)",
        "Kept(Why.RESERVED, None, text)",
        UNIT + "reserving.py::test_a_job_that_waited_too_long_gets_leaves_held",
    ),
    Fault(
        "who cannot run now takes a reservation",
        "reserving.py",
        " and left and self._reserves(record):\n                left -= 1\n",
        " and left:\n                self._reserves(record)\n                left -= 1\n",
        UNIT + "reserving.py::test_a_job_that_cannot_run_now_holds_no_reservation",
    ),
    Fault(
        "leaves that are free the soonest are not sought",
        "soonest.py",
        "while enough - too_few > 1:",
        "while enough < too_few:",
        UNIT + "reserving.py::test_the_fewest_leases_that_must_end_decide_when",
    ),
    Fault(
        "who waited least comes first",
        "reserving.py",
        "key=lambda one: (one.waiting_since_s, one.sequence)",
        "key=lambda one: (-one.waiting_since_s, one.sequence)",
        BOUND,
    ),
    Fault(
        "nothing is held",
        "reserving.py",
        "if not self._starts(record) and left and self._reserves(record):",
        "if not self._starts(record) and left < 0:",
        BOUND,
    ),
    Fault(
        "the important yield first",
        "reserving.py",
        "return record.request.priority, -owed,",
        "return -record.request.priority, -owed,",
        UNIT + "reserving.py::test_who_yields_to_the_overdue_is_of_the_lowest_priority",
    ),
    Fault(
        "held leaves serve who waits for a stop",
        "committing.py",
        "        if not self.at_once:\n            self._wait_for_leaves()\n"
        "        for type, leaves in round.closed.items():\n"
        "            round.whatif.of(type).uncordon(leaves)\n",
        "        for type, leaves in round.closed.items():\n"
        "            round.whatif.of(type).uncordon(leaves)\n"
        "        if not self.at_once:\n            self._wait_for_leaves()\n",
        UNIT + "committing.py::test_leaves_held_for_another_do_not_serve_who_waits",
    ),
)

EVICTIONS = (
    Fault(
        "other tenants are evicted",
        "evicting.py",
        "if one.request.tenant == record.request.tenant\n",
        "if one.request.tenant is not None\n",
        UNIT + "evicting.py::test_no_job_of_another_tenant_is_evicted",
    ),
    Fault(
        "evicted before the window",
        "evicting.py",
        "return rule.first_s[0] <= age < rule.first_s[1]",
        "return age < rule.first_s[1]",
        UNIT + "evicting.py::test_a_first_lease_may_end_within_its_window",
    ),
    Fault(
        "evicted at the end of the window",
        "evicting.py",
        "return rule.first_s[0] <= age < rule.first_s[1]",
        "return rule.first_s[0] <= age <= rule.first_s[1]",
        UNIT + "evicting.py::test_a_first_lease_may_end_within_its_window",
    ),
    Fault(
        "a renewed lease has the window of a first",
        "evicting.py",
        "        return age < rule.renewed_s\n",
        "        return rule.first_s[0] <= age < rule.first_s[1]\n",
        UNIT + "evicting.py::test_a_renewed_lease_may_end_at_first",
    ),
    Fault(
        "urgent ones evict last",
        "evicting.py",
        "key=lambda one: not one.request.urgent",
        "key=lambda one: one.request.urgent",
        UNIT + "evicting.py::test_urgent_jobs_evict_first",
    ),
    Fault(
        "urgent ones are evicted",
        "evicting.py",
        "            and not one.request.urgent\n",
        "",
        UNIT + "evicting.py::test_urgent_jobs_evict_and_are_not_evicted",
    ),
    Fault(
        "evicted for what is worth too little",
        "evicting.py",
        "    return [at for at in ways if row[at] >= round.options.idle]\n",
        "    return ways\n",
        UNIT + "evicting.py::test_nobody_is_evicted_for_what_is_worth_too_little",
    ),
    Fault(
        "who just moved is evicted",
        "evicting.py",
        "    return moved.union(round.kept).union(\n",
        "    return set(round.kept).union(\n",
        UNIT + "evicting.py::test_a_job_that_moves_is_not_evicted_in_the_same_round",
    ),
    Fault(
        "held leaves are taken by eviction",
        "evicting.py",
        "        if np.isin(_leaves(round, one), held.get(one.type, none)).any()\n",
        "        if held.get(one.type, none) is None\n",
        UNIT + "evicting.py::test_leaves_held_for_another_are_not_taken_by_eviction",
    ),
)

STATE = (
    Fault(
        "a refused job leaves its tenant",
        "events.py",
        "                ledger.remove_tenant(request.tenant, ledger.now)\n",
        "                pass\n",
        UNIT + "events.py::test_a_job_that_is_refused_brings_no_tenant",
    ),
    Fault(
        "a round is tried on the planners themselves",
        "whatif.py",
        "self._planners[type].clone()",
        "self._planners[type]",
        UNIT + "whatif.py::test_nothing_happens_before_it_is_accepted",
    ),
    Fault(
        "turns are not loaded",
        "saving.py",
        'scheduler._sequence = int(body["sequence"])',
        "scheduler._sequence = 0",
        SAVED,
    ),
    Fault(
        "releases are not loaded",
        "saving.py",
        '        for job, type, leaves in body["freed"]\n',
        '        for job, type, leaves in body["freed"][:0]\n',
        SAVED,
    ),
    Fault(
        "drains are not loaded",
        "saving.py",
        'dict.fromkeys(body["draining"][type])',
        "{}",
        SAVED,
    ),
    Fault(
        "times make decisions differ",
        "decision.py",
        "            self.checkpoint,\n            self.leaves.tobytes(),\n",
        "            self.checkpoint,\n            self.lease_end_s,\n"
        "            self.leaves.tobytes(),\n",
        UNIT + "decision.py::test_times_and_worths_are_no_part_of_equality",
    ),
)

TABLE = Table(
    "phalanx_core/scheduling",
    "tests",
    (*LEASES, *RELEASES, *REPAIRS, *CHOICES, *WAITING, *EVICTIONS, *STATE),
)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
