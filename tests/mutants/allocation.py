"""Breaks rounds, rewards, budgets and quotas one line at a time; a named test must fail.

``python -m tests.mutants.allocation [NAME...]``
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

TWIN = "test_allocation.py::test_the_twin_grants_the_same"
CHARGE = "test_allocation.py::test_a_pre_charge_is_of_the_whole_lease"
FIRST = "test_rewards.py::test_who_is_first"
LEVEL = "test_budgets.py::test_budgets_are_the_level_made_whole"
BY_HAND = "test_budgets.py::test_budgets_worked_out_by_hand"
LAST = "test_budgets.py::test_who_is_owed_nothing_comes_last"
TYPES = "test_budgets.py::test_types_are_filled_by_themselves"
QUOTAS = "test_requests.py::test_quotas_worked_out_by_hand"

ROUNDS = (
    Fault(
        "pre-charge skipped",
        "allocation.py",
        "            service[tenant] += given * lease\n",
        "",
        "test_allocation.py::test_every_pre_charge_is_seen",
    ),
    Fault(
        "pre-charge of a round of 60 s",
        "allocation.py",
        "given * lease\n",
        "given * min(lease, 60.0)\n",
        CHARGE,
    ),
    Fault(
        "pre-charge of one GPU",
        "allocation.py",
        "service[tenant] += given * lease",
        "service[tenant] += lease",
        CHARGE,
    ),
    Fault(
        "demand charged, not what was granted",
        "allocation.py",
        "given * lease\n",
        "demands[job] * lease\n",
        "test_allocation.py::test_what_is_granted_is_charged",
    ),
    Fault(
        "entitlement grows with the pre-charge",
        "allocation.py",
        "given * lease\n",
        "given * lease\n            entitled[tenant] += quota[tenant] * lease\n",
        TWIN,
    ),
    Fault(
        "the ratio after a grant not worked out anew",
        "allocation.py",
        "            heapreplace(heap, standing(tenant))",
        "            pass",
        CHARGE,
    ),
    Fault(
        "jobs before tenants",
        "allocation.py",
        "return ratio_of(had, entitled[tenant]), by_quota, tenant",
        "return candidates.ratio[queues[tenant][-1]], by_quota, tenant",
        "test_allocation.py::test_tenants_go_before_jobs",
    ),
    Fault(
        "a job that cannot be placed ends the round",
        "allocation.py",
        "            passed.append(job)\n",
        "            passed.append(job)\n            break\n",
        "test_allocation.py::test_nothing_that_fits_is_left",
    ),
    Fault(
        "a tenant passed over for a job",
        "allocation.py",
        'pass_over == "tenant"):',
        "True):",
        "test_allocation.py::test_jobs_are_passed_over_one_at_a_time",
    ),
    Fault(
        "a job passed over for a tenant",
        "allocation.py",
        'pass_over == "tenant"):',
        "False):",
        "test_allocation.py::test_tenants_are_passed_over_as_printed",
    ),
    Fault(
        "a quota of 0 divides",
        "allocation.py",
        "had / quota[tenant] if quota[tenant] > 0 else inf",
        "had / quota[tenant]",
        "test_allocation.py::test_equal_ratios_go_by_service_over_quota",
    ),
    Fault(
        "a quota of 0 goes first",
        "allocation.py",
        "if quota[tenant] > 0 else inf",
        "if quota[tenant] > 0 else 0.0",
        "test_allocation.py::test_equal_ratios_go_by_service_over_quota",
    ),
    Fault(
        "service over quota forgotten",
        "allocation.py",
        "return ratio_of(had, entitled[tenant]), by_quota, tenant",
        "return ratio_of(had, entitled[tenant]), 0.0 * min(by_quota, 0.0), tenant",
        "test_allocation.py::test_equal_ratios_go_by_service_over_quota",
    ),
    Fault(
        "submission forgotten",
        "allocation.py",
        "by = (candidates.submitted, *",
        "by = (*",
        "test_allocation.py::test_equal_rewards_go_by_submission",
    ),
    Fault(
        "equal jobs the last first",
        "allocation.py",
        "by = (candidates.submitted, *",
        "by = (-np.arange(candidates.tenant.size), candidates.submitted, *",
        "test_allocation.py::test_equal_rewards_go_by_submission",
    ),
    Fault(
        "the last key weighs most",
        "allocation.py",
        "*(-keys.T[::-1])",
        "*(-keys.T)",
        FIRST,
    ),
    Fault(
        "the lowest reward first",
        "allocation.py",
        "*(-keys.T[::-1])",
        "*keys.T[::-1]",
        TWIN,
    ),
    Fault(
        "untried jobs not told",
        "allocation.py",
        "sorted(job for queue in queues for job in queue)",
        "[job for queue in queues[:0] for job in queue]",
        "test_allocation.py::test_tenants_are_passed_over_as_printed",
    ),
    Fault(
        "more granted than asked for",
        "allocation.py",
        "is_whole(given) and given <= demand",
        "is_whole(given)",
        "test_allocation.py::test_what_place_may_not_answer",
    ),
    Fault(
        "nothing over nothing infinite",
        "candidates.py",
        "return inf if had > 0 else 0.0",
        "return inf",
        "test_allocation.py::test_nothing_over_nothing_is_nothing",
    ),
    Fault(
        "something over nothing nothing",
        "candidates.py",
        "return inf if had > 0 else 0.0",
        "return 0.0",
        "test_allocation.py::test_nothing_over_nothing_is_nothing",
    ),
    Fault(
        "candidates that follow their arrays",
        "candidates.py",
        "    return found.copy()\n",
        "    return found\n",
        "test_allocation.py::test_candidates_do_not_follow_their_arrays",
    ),
)
REWARDS = (
    Fault(
        "urgent jobs last",
        "rewards.py",
        "return candidates.urgent.astype(np.float64)",
        "return -candidates.urgent.astype(np.float64)",
        FIRST,
    ),
    Fault(
        "new jobs last",
        "rewards.py",
        "return candidates.never_ran.astype(np.float64)",
        "return -candidates.never_ran.astype(np.float64)",
        FIRST,
    ),
    Fault(
        "few leases first",
        "rewards.py",
        "return candidates.leases.astype(np.float64)",
        "return -candidates.leases.astype(np.float64)",
        FIRST,
    ),
    Fault(
        "long-running jobs all alike",
        "rewards.py",
        "return candidates.leases.astype(np.float64)",
        "return np.minimum(candidates.leases, 1).astype(np.float64)",
        FIRST,
    ),
    Fault(
        "rewards put together backwards",
        "rewards.py",
        "for reward in rewards])",
        "for reward in rewards[::-1]])",
        "test_rewards.py::test_keys_stand_in_order",
    ),
    Fault(
        "a NaN in the second key passes",
        "rewards.py",
        "np.isnan(found).any(axis=1)",
        "np.isnan(found).all(axis=1)",
        "test_rewards.py::test_rewards_that_are_refused",
    ),
)
BUDGETS = (
    Fault(
        "budgets above the claim",
        "budgets.py",
        "min(claim * scale, max(0, top * due - below * had))",
        "max(0, top * due - below * had)",
        LEVEL,
    ),
    Fault(
        "budgets below nothing",
        "budgets.py",
        "max(0, top * due - below * had)",
        "top * due - below * had",
        LEVEL,
    ),
    Fault(
        "the claims met forgotten",
        "budgets.py",
        "full += claims[at] * lease if is_end else 0",
        "full += 0",
        LEVEL,
    ),
    Fault(
        "tenants that have their claim take part",
        "budgets.py",
        "step = -1 if is_end else 1",
        "step = 0 if is_end else 1",
        LEVEL,
    ),
    Fault(
        "the quota of this lease not owed",
        "budgets.py",
        "Fraction(due) + Fraction(quota) * lease)",
        "Fraction(due))",
        BY_HAND,
    ),
    Fault(
        "equal remainders from the end",
        "budgets.py",
        "key=lambda at: -pairs[at][1])",
        "key=lambda at: (-pairs[at][1], -at))",
        BY_HAND,
    ),
    Fault(
        "small remainders first",
        "budgets.py",
        "key=lambda at: -pairs[at][1])",
        "key=lambda at: pairs[at][1])",
        "test_budgets.py::test_the_largest_remainder_is_exact",
    ),
    Fault(
        "remainders dropped",
        "budgets.py",
        "        whole[at] += 1\n",
        "        whole[at] += 0\n",
        LEVEL,
    ),
    Fault(
        "breakpoints in the order of doubles alone",
        "budgets.py",
        "return sorted(found)",
        "return sorted(found, key=lambda one: one[0][0])",
        "test_budgets.py::test_accounts_far_apart",
    ),
    Fault(
        "who is owed nothing first",
        "budgets.py",
        "for due in (True, False):",
        "for due in (False, True):",
        LAST,
    ),
    Fault(
        "who is owed nothing gets nothing",
        "budgets.py",
        "for due in (True, False):",
        "for due in (True,):",
        LAST,
    ),
    Fault(
        "accounts of types not split",
        "budgets.py",
        "split = [(had * count, due * count) for had, due in accounts]",
        "split = [(had * sum(room), due * sum(room)) for had, due in accounts]",
        TYPES,
    ),
    Fault(
        "types share the first one's GPUs",
        "budgets.py",
        "_budgets(split, row, count, lease * sum(room))",
        "_budgets(split, row, room[0], lease * sum(room))",
        TYPES,
    ),
)
REQUESTS = (
    Fault(
        "the least unit dropped",
        "requests.py",
        "has_minimum = units >= len(whole)",
        "has_minimum = False",
        QUOTAS,
    ),
    Fault(
        "the least unit where there are too few",
        "requests.py",
        "has_minimum = units >= len(whole)",
        "has_minimum = True",
        QUOTAS,
    ),
    Fault(
        "the least unit added to the cluster",
        "requests.py",
        "        units -= shares.count(0)\n",
        "",
        QUOTAS,
    ),
    Fault(
        "jobs of a tenant not added up",
        "requests.py",
        "sums.get(tenant, Fraction(0)) + exact",
        "exact",
        "test_requests.py::test_jobs_are_added_up",
    ),
    Fault(
        "ties by the order of the mapping",
        "requests.py",
        "asking = sorted(tenant for tenant, gpus in sums.items() if gpus > 0)",
        "asking = [tenant for tenant, gpus in sums.items() if gpus > 0]",
        "test_requests.py::test_quotas_keep_their_rules",
    ),
    Fault(
        "hosts cut",
        "requests.py",
        "int(capacity) // int(unit)",
        "int(capacity)",
        QUOTAS,
    ),
)


TABLE = Table(
    "phalanx_core/fairness",
    "tests/unit/fairness",
    (*ROUNDS, *REWARDS, *BUDGETS, *REQUESTS),
)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
