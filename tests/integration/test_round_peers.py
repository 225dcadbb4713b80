"""Benchmarks of rounds compare equal answers only, and do without missing peers."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from bench.budgets import checks_of
from bench.drawn import IDLE, SHAPES, Round, drawn_rounds
from bench.round_peers import PEERS, PeerResult, PeersDisagree, check
from bench.rounds import beside
from phalanx_core import Assignment, solve

TUNED = PEERS["cp-sat-tuned"]  # needs nothing that is not a dependency


def solved(given: Round) -> Assignment:
    """Our answer to a round."""
    return solve(given.utility, given.demand, given.capacity, idle=IDLE)


@pytest.mark.parametrize("name", ["A14", "B40"])
def test_the_tuned_peer_finds_our_optimum(name: str) -> None:
    """On rounds of both small shapes, to the bits that both work with."""
    for given in drawn_rounds(SHAPES[name], 5, 3):
        answer = TUNED.ask(given, 10.0)
        assert answer.proven
        check(given, solved(given), answer, TUNED.label, TUNED.tolerance)


def refused(given: Round, theirs: PeerResult) -> str:
    """Why a comparison is refused."""
    with pytest.raises(PeersDisagree) as caught:
        check(given, solved(given), theirs, "peer", 1e-6)
    return str(caught.value)


def test_answers_that_differ_are_refused() -> None:
    """One that does not fit, one that is no optimum, and one above the bound."""
    given = drawn_rounds(SHAPES["A14"], 5, 1)[0]
    nothing = np.full(14, -1)
    idle = PeerResult(0.0, 0.0, nothing, given.value(nothing), True)
    assert "not the optimum that it claims" in refused(given, idle)
    check(given, solved(given), replace(idle, proven=False), "peer", 1e-6)
    assert "above the proven bound" in refused(given, replace(idle, objective=1e9))
    all_of_it = np.nanargmax(given.utility, axis=1)
    large = replace(idle, choice=all_of_it, objective=given.value(all_of_it))
    assert "does not fit" in refused(given, large)


def test_a_missing_peer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is measured all the same, and budgets that need the peer are left out."""
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    given = drawn_rounds(SHAPES["A14"], 5, 1)
    ours = (given, [1e5], [solved(given[0])])
    row = beside("solve/A14/glpk", PEERS["glpk"], ours, 1.0)
    assert "bench" in row["missing"]
    assert row["ours"]["median"] == 1e5
    assert "theirs" not in row
    assert checks_of([row]) == []
