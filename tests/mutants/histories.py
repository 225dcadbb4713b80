"""Breaks the validator of histories one line at a time; a test must fail for each.

``python -m tests.mutants.histories [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

LEGAL = "test_history.py::test_a_repair_is_legal"
BAD = "test_history.py::test_the_first_bad_line"
ABORT = "test_history.py::test_an_abort_tells_its_guard"
FLOORS = "test_random_history.py::test_every_transition_is_legal_and_no_action_is_rare"

VALIDATOR = (
    Fault(
        "numbers may be skipped",
        "history.py",
        "        if number != self.transitions + 1:\n",
        "        if number <= self.transitions:\n",
        BAD,
    ),
    Fault(
        "printed rules for every history",
        "history.py",
        "transition(self.records, event, self.rules)",
        "transition(self.records, event, Rules())",
        LEGAL,
    ),
    Fault(
        "what is left out is taken for told",
        "history.py",
        "            else was\n",
        "            else now\n",
        BAD,
    ),
    Fault(
        "what is told is believed",
        "history.py",
        "    if given == now:\n        return\n    shown",
        "    if given == now or told:\n        return\n    shown",
        BAD,
    ),
    Fault(
        "jobs are not compared",
        "history.py",
        "    if given == now:\n        return\n    if given is None:",
        "    if given is not None:\n        return\n    if given is None:",
        BAD,
    ),
    Fault(
        "unknown fields pass",
        "history.py",
        '        if key not in MASKS and key not in ("failures", "jobs"):\n',
        "        if key in ():\n",
        BAD,
    ),
    Fault(
        "the records stay where they are",
        "history.py",
        "        self.records = records\n        self.transitions",
        "        self.transitions",
        LEGAL,
    ),
    Fault(
        "a bad line is passed over",
        "history.py",
        "*_told(error, line))\n            break\n",
        "*_told(error, line))\n            continue\n",
        "test_history.py::test_nothing_after_a_bad_line_is_read",
    ),
    Fault(
        "a cut line is no more than damaged",
        "history.py",
        '    if error.kind == "json" and not newline:\n',
        '    if error.kind == "cut" and not newline:\n',
        BAD,
    ),
    Fault(
        "the first records may be anything",
        "history.py",
        '            raise BadLine("header", f"records break {error}") from None\n',
        "            pass\n",
        BAD,
    ),
    Fault(
        "lines without end",
        "history.py",
        "    while line := file.readline(size_max):\n",
        "    while line := file.readline():\n",
        "test_history.py::test_lines_are_bounded",
    ),
    Fault(
        "every plan counts as dead",
        "history.py",
        "job.plan & ~records.live != 0",
        "job.plan & records.live != 0",
        LEGAL,
    ),
    Fault(
        "aborts without their guard",
        "history.py",
        "self.aborts[commit_refusal(records, event.job, self.rules)] += 1",
        'self.aborts["free_or_mine"] += 1',
        ABORT,
    ),
    Fault(
        "masks of any length",
        "history_lines.py",
        "    if mask >> bits:\n",
        "    if mask < 0:\n",
        BAD,
    ),
    Fault(
        "keys may come twice",
        "history_lines.py",
        "    if len(found) < len(pairs):\n",
        "    if len(found) > len(pairs):\n",
        BAD,
    ),
    Fault(
        "true is a number",
        "history_lines.py",
        "    if not is_whole(value):\n",
        "    if not isinstance(value, int) or value < 0:\n",
        BAD,
    ),
    Fault(
        "epochs of any size",
        "history_lines.py",
        '        _whole(fields["epoch"], f"{where}.epoch", kind, EPOCH_MAX),\n',
        '        _whole(fields["epoch"], f"{where}.epoch", kind, None),\n',
        BAD,
    ),
    Fault(
        "jobs that are not there",
        "history_lines.py",
        "    if job >= known and (action > Action.TRUST or job):\n",
        "    if job > known and (action > Action.TRUST or job):\n",
        BAD,
    ),
    Fault(
        "deep nesting ends the validator",
        "history_lines.py",
        "    except (UnicodeDecodeError, RecursionError, ValueError) as error:\n",
        "    except (UnicodeDecodeError, ValueError) as error:\n",
        BAD,
    ),
    Fault(
        "leaves die anywhere",
        "random_history.py",
        "    under = planned if draw.random.random() < 0.7 else owned\n",
        "    under = 0\n",
        FLOORS,
    ),
    Fault(
        "common actions stay common",
        "random_history.py",
        "key=lambda one: draw.random.random() * counts[one]",
        "key=lambda one: draw.random.random()",
        FLOORS,
    ),
)

TABLE = Table("phalanx_core/verification", "tests/unit/verification", VALIDATOR)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
