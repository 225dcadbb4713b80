"""Breaks the ledger and the sweep one line at a time; a named test must fail for each.

``python -m tests.mutants.fairness [NAME...]``
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

ENDED = "test_ledger.py::test_an_ended_job_takes_no_part"
WINDOWED = "test_ledger.py::test_a_window_is_the_current_bucket_and_whole_ones_before"
QUOTAS = "test_ledger.py::test_quotas_follow_capacity_and_tenants"
LEASES = "test_ledger.py::test_a_lease_of_other_than_the_demand"
WEIGHTS = "test_ledger.py::test_a_weight_changes"
REFUSED = "test_refusals.py::test_a_refused_event_changes_nothing"
LOADED = "test_ledger_twin.py::test_a_long_history_goes_on_bit_for_bit"
WAYS = "test_ledger_twin.py::test_every_way_of_reading_a_log"
EXACT = "test_entitlements.py::test_it_is_the_twin_in_fractions"
LONGER = "test_entitlements.py::test_a_longer_trace_is_the_twin"

EVENTS = (
    Fault(
        "an ended job's weight left in",
        "ledger.py",
        "        home.demand -= row.demand\n        home.weigh(-row.weight)\n",
        "        home.demand -= row.demand\n",
        ENDED,
    ),
    Fault(
        "an ended job's demand left in",
        "ledger.py",
        "        home.demand -= row.demand\n",
        "",
        ENDED,
    ),
    Fault(
        "a failed job is finished",
        "ledger.py",
        "self._end(job, now, JobState.FAILED)",
        "self._end(job, now, JobState.FINISHED)",
        ENDED,
    ),
    Fault(
        "the lease of an ended job goes on",
        "ledger.py",
        "        if row.state is RUNNING:\n            self._lease(row, now, 0)\n",
        "",
        ENDED,
    ),
    Fault(
        "the dues of an ended job since the last reading lost",
        "ledger.py",
        "row.demand, row.weight))\n        row.join = 0\n",
        "row.demand, row.weight))\n            home.segments.pop()\n        row.join = 0\n",
        ENDED,
    ),
    Fault(
        "quotas stay where the capacity changes",
        "ledger.py",
        "        self._capacity = capacity\n        self._requote()\n",
        "        self._capacity = capacity\n",
        QUOTAS,
    ),
    Fault(
        "quotas stay where a tenant goes",
        "ledger.py",
        "        del self._tenants[tenant]\n        self._requote()\n",
        "        del self._tenants[tenant]\n",
        QUOTAS,
    ),
    Fault(
        "a resize keeps the allocation",
        "ledger.py",
        "        if running:\n            self._lease(row, now, gpus)\n",
        "",
        LEASES,
    ),
    Fault(
        "a resize keeps the tenant's demand",
        "ledger.py",
        "        home.demand += demand - row.demand\n",
        "",
        LEASES,
    ),
    Fault(
        "GPUs given at the start ignored",
        "ledger.py",
        'row.demand if gpus is None else count_of("gpus", gpus)',
        "row.demand",
        LEASES,
    ),
    Fault(
        "what came before a new weight lost",
        "ledger.py",
        "row.demand, row.weight))\n        row.join = leave\n",
        "row.demand, row.weight))\n            home.segments.pop()\n"
        "        row.join = leave\n",
        WEIGHTS,
    ),
    Fault(
        "a new job is due what was before it",
        "ledger.py",
        "        row.join = home.log(now)\n",
        "        row.join = 0 * home.log(now)\n",
        "test_ledger_twin.py::test_it_is_the_twin",
    ),
    Fault(
        "an event before the last accepted",
        "changes.py",
        "    if now < last:\n",
        "    if now < -TIME_MAX:\n",
        REFUSED,
    ),
    Fault(
        "time that is not a number accepted",
        "ledger.py",
        "type(now) is float and self._now <= now <= TIME_MAX",
        "type(now) is float and not now < self._now",
        REFUSED,
    ),
    Fault(
        "time passes before the job is looked up",
        "ledger.py",
        "        row = running_row(self._jobs, job)\n        self._move(now)\n",
        "        self._move(now)\n        row = running_row(self._jobs, job)\n",
        REFUSED,
    ),
    Fault(
        "a pending job may be stopped",
        "changes.py",
        "row.state is not JobState.RUNNING",
        "row.state is JobState.FINISHED",
        REFUSED,
    ),
    Fault(
        "True is job 1",
        "changes.py",
        "row = jobs.get(job) if kind is str or kind is int else None",
        "row = jobs.get(job) if not isinstance(job, list) else None",
        "test_refusals.py::test_no_key_is_taken_for_another",
    ),
    Fault(
        "leases not added up",
        "ledger.py",
        "        self._leased.step(now, self._leased.rate + more)\n",
        "",
        ENDED,
    ),
    Fault(
        "what forgotten jobs were given forgotten",
        "ledger.py",
        "        self._forgotten = added(*self._forgotten, account.service)\n",
        "",
        "test_ledger.py::test_ended_accounts_stay_until_forgotten",
    ),
    Fault(
        "what removed tenants were given forgotten",
        "ledger.py",
        "        self._removed = added(*self._removed, row.lifetime_service(now))\n",
        "",
        "test_ledger.py::test_a_tenant_that_comes_again_begins_anew",
    ),
    Fault(
        "logs filled by new jobs kept",
        "ledger.py",
        "        if row.join >= LOG_MAX:\n",
        "        if row.join >= 2**40:\n",
        "test_ledger.py::test_a_full_log_is_read",
    ),
    Fault(
        "logs filled by jobs that end kept",
        "ledger.py",
        "        home.share(now)\n        if len(home.segments) >= LOG_MAX:\n"
        "            settle(home, now)\n\n",
        "        home.share(now)\n\n",
        "test_ledger.py::test_a_full_log_is_read",
    ),
    Fault(
        "logs filled by jobs that change kept",
        "ledger.py",
        "        row.demand, row.weight = demand, weight\n        home.share(now)\n"
        "        if len(home.segments) >= LOG_MAX:\n            settle(home, now)\n",
        "        row.demand, row.weight = demand, weight\n        home.share(now)\n",
        "test_ledger.py::test_a_full_log_is_read",
    ),
    Fault(
        "logs filled by quotas kept",
        "books.py",
        "if row.log(self._now) >= LOG_MAX:",
        "if row.log(self._now) >= 2**40:",
        "test_ledger.py::test_a_full_log_is_read",
    ),
    Fault(
        "logs filled by buckets kept",
        "books.py",
        "if len(tenant.spans) >= LOG_MAX:",
        "if len(tenant.spans) >= 2**40:",
        "test_ledger.py::test_a_full_log_is_read",
    ),
    Fault(
        "an account that does not count since its last event",
        "rows.py",
        "        more = self.rate * (now - self.since)\n",
        "        more = 0.0 * (now - self.since)\n",
        "test_ledger.py::test_the_walk_through_of_two_hosts",
    ),
)

ROWS = (
    Fault(
        "a window of one bucket less",
        "rows.py",
        "deque(maxlen=buckets)",
        "deque(maxlen=buckets - 1)",
        WINDOWED,
    ),
    Fault(
        "a window of one bucket more",
        "rows.py",
        "deque(maxlen=buckets)",
        "deque(maxlen=buckets + 1)",
        WINDOWED,
    ),
    Fault(
        "a bucket holds its end",
        "ledger.py",
        "if now >= self._bucket_end:",
        "if now > self._bucket_end:",
        WINDOWED,
    ),
    Fault(
        "buckets in which nothing happens lost",
        "rows.py",
        "min(whole, closed.maxlen or 0)",
        "min(whole, 1)",
        "test_ledger.py::test_a_long_advance_over_empty_buckets",
    ),
    Fault(
        "buckets begin at 0",
        "books.py",
        "bucket = floor((now - start) / size)",
        "start, bucket = 0.0, floor(now / size)",
        WINDOWED,
    ),
    Fault(
        "a tenant is due more than its quota",
        "rows.py",
        "if self.by_demand and self.demand < quota:",
        "if self.by_demand:",
        ENDED,
    ),
    Fault(
        "a quota where the demand is due",
        "rows.py",
        "if self.by_demand and self.demand < quota:",
        "if self.by_demand and not self.jobs:",
        "test_ledger.py::test_what_a_tenant_is_due",
    ),
    Fault(
        "a job is due only while its tenant runs",
        "rows.py",
        "if span > 0.0 and self.jobs:",
        "if span > 0.0 and self.jobs and self.service.rate:",
        WEIGHTS,
    ),
    Fault(
        "rounding of the weights kept",
        "rows.py",
        "        self.light += (high - (total - back)) + (change - back)\n",
        "",
        "test_ledger.py::test_heavy_weights_leave_nothing_behind",
    ),
    Fault(
        "rounding of integrals lost",
        "rows.py",
        "            self.low += (high - (total - back)) + (more - back)\n",
        "",
        "test_ledger.py::test_small_leases_after_large_ones_keep_their_digits",
    ),
    Fault(
        "nothing is due where nothing was given",
        "accounts.py",
        "return inf if service > 0.0 else 0.0",
        "return inf",
        "test_ledger.py::test_ratios",
    ),
)

READING = (
    Fault(
        "a log read twice",
        "settling.py",
        "    tenant.spans, tenant.levels, tenant.segments = [], [], []\n",
        "    tenant.segments = []\n",
        "test_ledger_twin.py::test_asking_changes_nothing",
    ),
    Fault(
        "jobs that came since the last reading left out",
        "settling.py",
        "        if 0 < row.join < pieces\n",
        "        if pieces < row.join < 0\n",
        "test_ledger_twin.py::test_it_is_the_twin",
    ),
    Fault(
        "weights ignored by arrays",
        "settling.py",
        "levels * weights[:, None]",
        "levels * np.ones_like(weights)[:, None]",
        WAYS,
    ),
    Fault(
        "weights ignored after the kernel",
        "settling.py",
        "demands * found[:, 0] + weights * found[:, 1]",
        "demands * found[:, 0] + found[:, 1]",
        WAYS,
    ),
    Fault(
        "an account from an old log",
        "books.py",
        "        settle(row.tenant, self._now)\n        return self._account(row)\n",
        "        return self._account(row)\n",
        ENDED,
    ),
    Fault(
        "low halves not saved",
        "saving.py",
        "return [one.rate, one.since, one.high, one.low]",
        "return [one.rate, one.since, one.high, 0.0]",
        LOADED,
    ),
    Fault(
        "the digest not looked at",
        "saving.py",
        'if not body.endswith(b"\\n") or sha256(body[:-1]).hexdigest() != digest:',
        'if not body.endswith(b"\\n") or not digest:',
        "test_refusals.py::test_damaged_bytes_are_refused",
    ),
    Fault(
        "a loaded ledger not checked",
        "saving.py",
        "        validate(books)\n",
        "",
        "test_refusals.py::test_a_save_that_does_not_add_up_is_refused",
    ),
)

SWEEP = (
    Fault(
        "compensation dropped",
        "kernels.py",
        "return total, low + ((high - (total - back)) + (more - back))",
        "return total, low",
        "test_entitlements.py::test_a_short_job_after_a_long_history",
    ),
    Fault(
        "the rest of a difference taken for dues",
        "kernels.py",
        "return found if found > NOISE * high else 0.0",
        "return found",
        "test_entitlements.py::test_who_is_due_nothing_is_due_0",
    ),
    Fault(
        "what runs at a level counted for θ at it",
        "kernels.py",
        "    if at <= rank:\n        # What",
        "    if at <= rank + 1:\n        # What",
        EXACT,
    ),
    Fault(
        "what runs at a level not counted above it",
        "kernels.py",
        "    if at <= rank:\n        # What",
        "    if at < rank:\n        # What",
        EXACT,
    ),
    Fault(
        "the run not put into the tree",
        "kernels.py",
        "    at = rank + 1\n    while at <= size:\n",
        "    at = size + 1\n    while at <= size:\n",
        LONGER,
    ),
    Fault(
        "sums up to one θ less",
        "kernels.py",
        "    row = rank + 1\n",
        "    row = rank\n",
        LONGER,
    ),
    Fault(
        "the way up one too short",
        "kernels.py",
        "high = min(size, low + step - 1)",
        "high = min(size - 1, low + step - 1)",
        "test_entitlements.py::test_a_rank_is_found_from_anywhere",
    ),
    Fault(
        "the way down ends at 1",
        "kernels.py",
        "low = max(0, high - step + 1)",
        "low = max(1, high - step + 1)",
        "test_entitlements.py::test_a_rank_is_found_from_anywhere",
    ),
    Fault(
        "the first quotas hold for ever",
        "kernels.py",
        "min(quota[change - 1], wanted",
        "min(quota[0], wanted",
        "test_entitlements.py::test_quotas_change",
    ),
    Fault(
        "a demand above the quota is due",
        "kernels.py",
        "min(quota[change - 1], wanted if by_demand else np.inf)",
        "wanted if by_demand else quota[change - 1]",
        LONGER,
    ),
    Fault(
        "one tenant's crowd for all",
        "kernels.py",
        "(since, quotas[home])",
        "(since, quotas[0])",
        "test_entitlements.py::test_tenants_do_not_touch_each_other",
    ),
    Fault(
        "a mark used twice at once",
        "kernels.py",
        "mark = free[active - 1]",
        "mark = free[0]",
        LONGER,
    ),
    Fault(
        "sums of few raised one too far",
        "kernels.py",
        "lift(tree[0, :rank], tree[1, :rank]",
        "lift(tree[0, : rank + 1], tree[1, : rank + 1]",
        EXACT,
    ),
    Fault(
        "sums of few above a level not raised",
        "kernels.py",
        "        lift(tree[2, rank:], tree[3, rank:], run[4], run[5])\n",
        "",
        EXACT,
    ),
    Fault(
        "what runs not counted for few",
        "kernels.py",
        "            full, full_low = plus(full, full_low + run[3], run[2])\n",
        "            full_low += 0.0\n",
        EXACT,
    ),
    Fault(
        "compensation dropped for few",
        "kernels.py",
        "low[at] += ((old - (total - back)) + (more - back)) + more_low",
        "low[at] += more_low",
        "test_entitlements.py::test_a_short_job_among_levels_that_come_and_go",
    ),
    Fault(
        "jobs in their own order taken for sorted",
        "batch.py",
        "if (values[1:] >= values[:-1]).all():",
        "if values.size:",
        "test_entitlements.py::test_order_does_not_matter",
    ),
    Fault(
        "an end before the submission accepted",
        "batch.py",
        "    early = ends < submits\n",
        "    early = ends < submits - 10\n",
        "test_entitlements.py::test_wrong_input_is_named",
    ),
)


TABLE = Table(
    "phalanx_core/fairness",
    "tests/unit/fairness",
    (*EVENTS, *ROWS, *READING, *SWEEP),
)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
