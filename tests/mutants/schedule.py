"""Breaks what ``phalanx schedule`` adds to the scheduler; a test must fail for each.

``python -m tests.mutants.schedule [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

TWIN = "test_embedder.py::test_it_is_its_slow_twin"
ENDS = "test_embedder.py::test_a_job_ends_after_its_cold_start_and_its_work"
LOSES = "test_embedder.py::test_a_failure_takes_back_what_no_checkpoint_has"
KEEPS = "test_embedder.py::test_a_failure_goes_back_to_the_end_of_the_last_lease"
SAVED = "test_embedder.py::test_it_goes_on_where_it_was_saved"
WORTH = "test_worths.py::test_what_is_chosen_is_worth_the_objective"
GOODPUT = "test_workload_file.py::test_goodput_of_each_configuration"
BREAKS = "test_workload_file.py::test_what_breaks_a_rule_is_named"
INTERRUPT = "test_exits.py::test_an_interrupt_says_what_was_saved"
ANSWERED = "test_happenings.py::test_rounds_answer_everything"

PLAYED = (
    Fault(
        "a start costs nothing",
        "embedder.py",
        "            played.ready_s = now + entry.cold_start_s\n",
        "            played.ready_s = now\n",
        ENDS,
    ),
    Fault(
        "a failure loses nothing",
        "embedder.py",
        "            played.done_s = played.saved_s\n",
        "            pass\n",
        LOSES,
    ),
    Fault(
        "a checkpoint saves nothing",
        "embedder.py",
        "            played.saved_s = played.done_s\n",
        "            pass\n",
        KEEPS,
    ),
    Fault(
        "a checkpoint of a renewed lease is not told",
        "embedder.py",
        "            if action.checkpoint:\n"
        "                self.scheduler.checkpointed(name)\n",
        "            if action.checkpoint:\n",
        TWIN,
    ),
    Fault(
        "a checkpoint takes no time",
        "embedder.py",
        "max(played.ready_s, now) + entry.checkpoint_s",
        "max(played.ready_s, now)",
        "test_embedder.py::test_a_renewed_lease_costs_its_checkpoint",
    ),
    Fault(
        "the broken work on",
        "embedder.py",
        "status.state is JobState.RUNNING and name not in broken",
        "status.state is JobState.RUNNING",
        "test_embedder.py::test_nobody_works_while_broken",
    ),
    Fault(
        "every configuration is as fast",
        "embedder.py",
        "ways[status.configuration].goodput / ways[0].goodput",
        "ways[0].goodput / ways[0].goodput",
        "test_embedder.py::test_a_smaller_configuration_takes_longer",
    ),
    Fault(
        "arrivals before ends",
        "embedder.py",
        "            if end_s <= first and job is not None:\n"
        "                self._end(job)\n"
        "            elif come_s <= first:\n"
        "                self._come(*self._coming.pop(0))\n",
        "            if come_s <= first:\n"
        "                self._come(*self._coming.pop(0))\n"
        "            elif end_s <= first and job is not None:\n"
        "                self._end(job)\n",
        "test_embedder.py::test_who_ends_leaves_before_who_comes",
    ),
    Fault(
        "old processes stay",
        "embedder.py",
        "        else:\n            self.scheduler.fenced(name)\n",
        "",
        TWIN,
    ),
    Fault(
        "a resumed run forgets what was done",
        "embedder.py",
        "self.played = {name: Played(**one) for",
        "self.played = {name: Played() for",
        SAVED,
    ),
)

TOLD = (
    Fault(
        "worth without the time waited",
        "worths.py",
        "now - job.waiting_since_s",
        "0.0",
        WORTH,
    ),
    Fault(
        "worth without what is lost by a change",
        "worths.py",
        "np.array([one.configuration for one in jobs], np.int64)",
        "np.full(len(jobs), -1, np.int64)",
        WORTH,
    ),
    Fault(
        "a size that is not named is one",
        "workload_file.py",
        "{size: found[size] for size in sizes if size in found}",
        "{size: found.get(size, 1.0) for size in sizes}",
        GOODPUT,
    ),
    Fault(
        "configurations inherit nothing",
        "workload_file.py",
        "check_gang(where, name, {**gang, **own})",
        "check_gang(where, name, own)",
        GOODPUT,
    ),
    Fault(
        "what stands beside the list wins",
        "workload_file.py",
        "{**gang, **own}",
        "{**own, **gang}",
        GOODPUT,
    ),
    Fault(
        "a key twice on one line is taken",
        "yaml_file.py",
        "if key in keys:",
        "if keys.get(key, line) != line:",
        "test_jobs_file.py::test_what_is_wrong_is_named",
    ),
    Fault(
        "keys are the same by their text alone",
        "yaml_file.py",
        "key = _key(yaml, event)",
        "key = event.value",
        BREAKS,
    ),
    Fault(
        "numbers have no bounds",
        "fields.py",
        "if not least <= value <= most:",
        "if False:",
        BREAKS,
    ),
    Fault(
        "seconds have no bound",
        "fields.py",
        "SECONDS = (0.0, 1e12)",
        "SECONDS = (0.0, inf)",
        "test_workload_file.py::test_seconds_have_a_bound",
    ),
    Fault(
        "a bound is not taken itself",
        "fields.py",
        "if not least <= value <= most:",
        "if not least < value < most:",
        "test_workload_file.py::test_the_bounds_themselves_are_taken",
    ),
    Fault(
        "a model may tell what a file may not",
        "workload_asks.py",
        "        check_bounds(f",
        "        (lambda *_: None)(f",
        "test_workload_asks.py::test_a_goodput_that_no_sum_holds_is_named",
    ),
    Fault(
        "an interrupt is silent",
        "exits.py",
        'say(": ".join(("interrupted", *map(str, error.args))))',
        "pass",
        INTERRUPT,
    ),
    Fault(
        "an interrupt does not say what was saved",
        "exits.py",
        '": ".join(("interrupted", *map(str, error.args)))',
        '"interrupted"',
        INTERRUPT,
    ),
    Fault(
        "a state that is none is saved",
        "exits.py",
        "told = () if path is None else",
        "told =",
        INTERRUPT,
    ),
    Fault(
        "what YAML takes for a text is advised",
        "fields.py",
        "e{power_sign or '+'}{power}",
        "e{power_sign}{power}",
        "test_workload_file.py::test_what_is_advised_is_a_number",
    ),
    Fault(
        "a whole number is advised with an exponent",
        "fields.py",
        'f"{whole_meant(value)}"',
        'f"{number_meant(value)}"',
        BREAKS,
    ),
    Fault(
        "a model's numbers have no bounds",
        "goodput_model.py",
        "if is_number(value) and value > 0:",
        "if False:",
        "test_workload_file.py::test_what_is_wrong_with_a_model_is_named",
    ),
    Fault(
        "a model warns",
        "goodput_model.py",
        'np.errstate(all="ignore")',
        'np.errstate(all="warn")',
        "test_workload_asks.py::test_a_model_beyond_the_doubles_warns_of_nothing",
    ),
    Fault(
        "what the scheduler refuses names nobody",
        "embedder.py",
        'raise InvalidRequest(f"{entry.where}: {error}") from None',
        "raise",
        "test_embedder.py::test_what_the_scheduler_refuses_names_file_and_job",
    ),
    Fault(
        "rounds go on past the last second",
        "happenings.py",
        "if times[-1] > TIME_MAX:",
        "if False:",
        "test_happenings.py::test_rounds_end_before_the_last_second",
    ),
    Fault(
        "a size has two goodputs",
        "workload_file.py",
        "if int(at) in found:",
        "if False:",
        BREAKS,
    ),
    Fault(
        "hosts of all types count",
        "goodput_model.py",
        "[np.asarray(topology.type_of) == code]",
        "[np.asarray(topology.type_of) >= 0]",
        "test_workload_asks.py::test_the_fewest_hosts_are_those_of_the_type",
    ),
    Fault(
        "a round too few",
        "happenings.py",
        "times[-1] < last.at_s and",
        "times[-1] + round_s <= last.at_s and",
        ANSWERED,
    ),
    Fault(
        "happenings in the order of the command line",
        "happenings.py",
        "return sorted(found, key=lambda one: one.at_s)",
        "return found",
        "test_happenings.py::test_order_is_of_time_and_then_of_the_command_line",
    ),
)

TABLE = Table("phalanx_core/cli", "tests/unit/cli", (*PLAYED, *TOLD))

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
