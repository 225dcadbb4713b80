"""Breaks reliability one line at a time; a named test must fail for each.

``python -m tests.mutants.reliability [NAME...]``
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

PLAIN = "test_simulation.py::test_a_plain_simulation_finds_the_same"
CLOSED = "test_simulation.py::test_the_mean_is_that_of_the_closed_form"
BROKEN = "test_simulation.py::test_failures_may_break_off_recoveries"
NORMAL = "test_simulation.py::test_a_normal_recovery_is_drawn_anew_while_it_is_none"
STREAM = "test_streams.py::test_the_stream_is_the_published_one"
INTEGRAL = "test_renewal.py::test_the_closed_form_is_the_integral"

KERNELS = (
    Fault(
        "floor to the grid dropped",
        "kernels.py",
        "np.floor(up / interval) * interval)",
        "(up / interval) * interval)",
        CLOSED,
    ),
    Fault(
        "the checkpoint after the failure kept",
        "kernels.py",
        "min(up, np.floor(up / interval) * interval)",
        "np.ceil(up / interval) * interval",
        CLOSED,
    ),
    Fault(
        "more kept than there was",
        "kernels.py",
        "min(up, np.floor(up / interval) * interval)",
        "np.floor(up / interval) * interval",
        "test_simulation.py::test_ratios_at_any_times",
    ),
    Fault(
        "what runs at the horizon lost",
        "kernels.py",
        "return kept + (horizon - clock), failures",
        "return kept, failures",
        "test_simulation.py::test_what_runs_at_the_horizon_counts_in_full",
    ),
    Fault(
        "the last cycle runs past the horizon",
        "kernels.py",
        "return kept + (horizon - clock), failures",
        "return kept + up, failures",
        PLAIN,
    ),
    Fault(
        "the last cycle cut at the grid",
        "kernels.py",
        "return kept + (horizon - clock), failures",
        "return kept + np.floor((horizon - clock) / interval) * interval, failures",
        PLAIN,
    ),
    Fault(
        "a failure after the horizon counted",
        "kernels.py",
        "return kept + (horizon - clock), failures",
        "return kept + (horizon - clock), failures + 1",
        "test_simulation.py::test_a_horizon_that_ends_in_a_recovery",
    ),
    Fault(
        "recovery takes no time",
        "kernels.py",
        "        clock += spent\n",
        "",
        CLOSED,
    ),
    Fault(
        "stream not keyed by run",
        "kernels.py",
        "begun(seed, first + at)",
        "begun(seed, first)",
        "test_streams.py::test_runs_have_streams_of_their_own",
    ),
    Fault(
        "stream keyed by place, not run",
        "kernels.py",
        "begun(seed, first + at)",
        "begun(seed, at)",
        "test_streams.py::test_parts_of_a_campaign_are_the_campaign",
    ),
    Fault(
        "stream not keyed by seed",
        "kernels.py",
        "begun(seed, first + at)",
        "begun(0, first + at)",
        "test_streams.py::test_runs_have_streams_of_their_own",
    ),
    Fault(
        "one state for all words",
        "kernels.py",
        "    second, word = mixed(word)\n",
        "    second, word = mixed(np.uint64(seed))\n",
        STREAM,
    ),
    Fault(
        "a rotation by another number",
        "kernels.py",
        "rotated(fourth, 45)",
        "rotated(fourth, 44)",
        STREAM,
    ),
    Fault(
        "zero among the uniform numbers",
        "kernels.py",
        "(float(np.int64(word >> np.uint64(11))) + 1.0)",
        "float(np.int64(word >> np.uint64(11)))",
        STREAM,
    ),
    Fault(
        "no tail of exponential numbers",
        "kernels.py",
        "return EXPONENTIAL_END - log(share), state",
        "return EXPONENTIAL_END, state",
        "test_ziggurat.py::test_numbers_of_the_tail",
    ),
    Fault(
        "no tail of normal numbers",
        "kernels.py",
        "            return NORMAL_END + beyond, state\n",
        "            return NORMAL_END, state\n",
        "test_ziggurat.py::test_numbers_of_the_tail",
    ),
    Fault(
        "a tail on one side",
        "kernels.py",
        "(beyond if steps > 0 else -beyond)",
        "beyond",
        "test_ziggurat.py::test_numbers_of_the_tail",
    ),
    Fault(
        "every number of a layer taken",
        "kernels.py",
        "if steps < EXPONENTIAL_SURE[layer]:",
        "if layer != np.uint64(0) or steps < EXPONENTIAL_SURE[layer]:",
        "test_ziggurat.py::test_numbers_have_their_distribution",
    ),
    Fault(
        "only what is sure taken",
        "kernels.py",
        "        if low + (high - low) * share < exp(-0.5 * found * found):\n",
        "        if low + (high - low) * share < 0.0:\n",
        "test_ziggurat.py::test_numbers_have_their_distribution",
    ),
    Fault(
        "the bits of the layer used twice",
        "kernels.py",
        "steps = np.int64(word >> np.uint64(11)) - NORMAL_STEPS",
        "steps = np.int64((word << np.uint64(53)) >> np.uint64(11)) - NORMAL_STEPS",
        "test_ziggurat.py::test_numbers_have_their_distribution",
    ),
    Fault(
        "negative recovery kept",
        "kernels.py",
        "        if seconds > 0.0:\n",
        "        if seconds != 0.0:\n",
        NORMAL,
    ),
    Fault(
        "negative recovery made none",
        "kernels.py",
        "        if seconds > 0.0:\n            return seconds, state\n",
        "        return max(0.0, seconds), state\n",
        NORMAL,
    ),
    Fault(
        "deviation for variance",
        "kernels.py",
        "mean + deviation * found",
        "mean + deviation * deviation * found",
        NORMAL,
    ),
    Fault(
        "the first observed recovery never drawn",
        "kernels.py",
        "int(share * given.size)",
        "1 + int(share * (given.size - 1))",
        "test_simulation.py::test_observed_recoveries_are_drawn_alike",
    ),
    Fault(
        "failure in recovery ignored",
        "kernels.py",
        "        if breaks:\n",
        "        if breaks and horizon < 0.0:\n",
        BROKEN,
    ),
    Fault(
        "failure in recovery costs nothing",
        "kernels.py",
        "        spent += fails\n",
        "        spent += 0.0 * fails\n",
        BROKEN,
    ),
    Fault(
        "failure in recovery not counted",
        "kernels.py",
        "            failures += more\n",
        "",
        BROKEN,
    ),
    Fault(
        "failures in recovery go on past the horizon",
        "kernels.py",
        "        if spent >= left:\n            return spent, failures, state\n        failures += 1\n",
        "        failures += 1\n        if spent >= 2.0 * left:\n"
        "            return spent, failures, state\n",
        "test_simulation.py::test_recoveries_that_never_end_end_with_the_horizon",
    ),
)

CALLS = (
    Fault(
        "overhead applied twice",
        "simulation.py",
        "kept * (1 - overhead)",
        "kept * (1 - overhead) ** 2",
        CLOSED,
    ),
    Fault(
        "overhead not applied",
        "simulation.py",
        "kept * (1 - overhead)",
        "kept",
        CLOSED,
    ),
    Fault(
        "every step of progress begins anew",
        "simulation.py",
        "run_all(first + begin, seed,",
        "run_all(first, seed,",
        "test_simulation.py::test_progress_is_told",
    ),
    Fault(
        "the last step of progress told as whole",
        "simulation.py",
        "progress(kept[part].size)",
        "progress(step)",
        "test_simulation.py::test_progress_is_told",
    ),
    Fault(
        "runs beyond the last number",
        "simulation.py",
        "0, RUN_MAX + 1 - count)",
        "0, RUN_MAX)",
        "test_simulation.py::test_wrong_input_is_named",
    ),
    Fault(
        "an error of the runs, not of their mean",
        "simulation.py",
        "self.ettr.std(ddof=1) / sqrt(self.ettr.size)",
        "self.ettr.std(ddof=1)",
        "test_simulation.py::test_the_confidence_interval_covers",
    ),
    Fault(
        "a one-sided interval",
        "simulation.py",
        "NORMAL_95 = 1.959963984540054",
        "NORMAL_95 = 1.2815515655446004",
        "test_simulation.py::test_the_confidence_interval_covers",
    ),
)

MODELS = (
    Fault(
        "checkpoints kept to the failure",
        "renewal.py",
        "* up * _kept(interval / time))",
        "* up)",
        INTEGRAL,
    ),
    Fault(
        "overhead twice in the closed form",
        "renewal.py",
        "_scalar((1 - share) * up",
        "_scalar((1 - share) ** 2 * up",
        INTEGRAL,
    ),
    Fault(
        "recovery not counted",
        "renewal.py",
        "up = 1 / (1 + recovery / time)",
        "up = 1 / (1 + 0 * recovery / time)",
        INTEGRAL,
    ),
    Fault(
        "a whole interval lost",
        "renewal.py",
        "* (1 - share) - interval / 4",
        "* (1 - share) - interval / 2",
        "test_renewal.py::test_the_first_order_form_is_equation_3",
    ),
    Fault(
        "infinity over infinity",
        "renewal.py",
        "x = np.minimum(np.asarray(intervals, np.float64), 800.0)",
        "x = np.asarray(intervals, np.float64)",
        "test_renewal.py::test_a_ratio_at_any_times",
    ),
    Fault(
        "a recovery below none",
        "renewal.py",
        "np.where(found >= 0, found, np.nan)",
        "found",
        "test_renewal.py::test_nan_where_no_value_gives_as_much",
    ),
    Fault(
        "an interval of nothing",
        "renewal.py",
        "np.where(low > 0, low * time, np.nan)",
        "low * time",
        "test_renewal.py::test_nan_where_no_value_gives_as_much",
    ),
    Fault(
        "overhead forgotten by an inverse",
        "renewal.py",
        "(1 + recovery / time) / (1 - share))",
        "(1 + recovery / time))",
        "test_renewal.py::test_the_inverses_invert",
    ),
    Fault(
        "minutes for hours",
        "renewal.py",
        "hours * 3600.0 / count",
        "hours * 60.0 / count",
        "test_renewal.py::test_the_first_order_form_is_equation_3",
    ),
    Fault(
        "Young's interval for the best",
        "intervals.py",
        "BestInterval(low * time,",
        "BestInterval((root + cost) * time,",
        "test_intervals.py::test_no_interval_is_better",
    ),
    Fault(
        "Young without the checkpoint",
        "intervals.py",
        "(root + cost) * time, daly",
        "root * time, daly",
        "test_intervals.py::test_youngs_and_dalys_formulas",
    ),
    Fault(
        "Daly to first order",
        "intervals.py",
        "(1 + sqrt(half) / 3 + half / 9)",
        "(1 + sqrt(half) / 3)",
        "test_intervals.py::test_youngs_and_dalys_formulas",
    ),
    Fault(
        "a spare counted that the failure needs",
        "spares.py",
        "(under_repair < wanted)",
        "(under_repair <= wanted)",
        "test_spares.py::test_the_simulation_finds_the_same",
    ),
    Fault(
        "the failing host under repair",
        "spares.py",
        "np.arange(fails.size) - repaired",
        "np.arange(fails.size) + 1 - repaired",
        "test_spares.py::test_hosts_under_repair_are_counted_before_the_failure",
    ),
    Fault(
        "a cold start counted",
        "spares.py",
        "- repaired)[warm:]",
        "- repaired)[:-warm]",
        "test_spares.py::test_the_simulation_starts_warm",
    ),
    Fault(
        "one spare too few",
        "spares.py",
        "enumerate(sums, start=1)",
        "enumerate(sums, start=0)",
        "test_spares.py::test_the_fewest_spares",
    ),
    Fault(
        "factorials dropped",
        "spares.py",
        "- load - lgamma(n + 1))",
        "- load)",
        "test_spares.py::test_probabilities_are_sums_of_poissons_terms",
    ),
    Fault(
        "spares found the wrong way round",
        "advice.py",
        "found * self.recovery.total_s + (1 - found)",
        "(1 - found) * self.recovery.total_s + found",
        "test_advice.py::test_today",
    ),
    Fault(
        "gains of the whole ratio",
        "advice.py",
        "ratio, ratio - today)",
        "ratio, ratio)",
        "test_advice.py::test_remedies",
    ),
    Fault(
        "spares taken away",
        "advice.py",
        "max(needed, held)",
        "needed",
        "test_advice.py::test_more_spares_than_asked_for",
    ),
    Fault(
        "a GPU's failures for a host's",
        "advice.py",
        "mtbf_s(fleet.gpus_per_host,",
        "mtbf_s(1,",
        "test_advice.py::test_levels_of_spares",
    ),
    Fault(
        "items that follow their mapping",
        "budget.py",
        '"items", MappingProxyType(found))',
        '"items", MappingProxyType(self.items))',
        "test_budget.py::test_it_does_not_follow_its_mapping",
    ),
)


TABLE = Table(
    "phalanx_core/reliability",
    "tests/unit/reliability",
    (*KERNELS, *CALLS, *MODELS),
)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
