"""The only ways in which the package writes to a store, read from its sources."""

from __future__ import annotations

import ast
from pathlib import Path

import phalanx_core.reformation

FOLDER = Path(phalanx_core.reformation.__file__).parent
WRITING = {"transaction", "revoke", "compact"}
# Beside the transitions: what is no part of the protocol's records.
ALLOWED = {
    ("committing.py", "commit"),  # transitions, prepared by way of the pure core
    ("client.py", "_start"),  # the layout, once
    ("client.py", "loaded"),  # the word of workers, compared with their epoch record
    ("engine.py", "_leads"),  # who leads, under a lease
    ("agents.py", "_begun"),  # heartbeats, under a lease
}


def test_every_write_is_a_transition_but_these() -> None:
    """No module sends a transaction but where it is listed here, and why."""
    found = set()
    for path in sorted(FOLDER.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr in WRITING
                ):
                    found.add((path.name, function.name))
    assert found == ALLOWED


def test_transactions_are_prepared_by_transition_alone() -> None:
    """One module makes transitions' transactions, and it asks the pure core for each."""
    makers = {
        path.name
        for path in FOLDER.glob("*.py")
        if "Prepared(" in path.read_text("utf-8").replace("class Prepared", "")
    }
    assert makers == {"preparing.py"}
    source = (FOLDER / "preparing.py").read_text("utf-8")
    tree = ast.parse(source)
    prepare = next(
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and one.name == "prepare"
    )
    calls = [
        call.func.id
        for call in ast.walk(prepare)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    ]
    assert "transition" in calls


TESTS = Path(__file__).resolve().parents[2]
ENGINES = ("Setting(", "Cluster(", "begun(", " Engine(")
# It has no history: its store is closed before it is read.
UNJUDGED = {"test_a_tick_of_a_store_out_of_reach_is_empty"}


def test_every_engine_test_has_its_history_judged() -> None:
    """Whoever makes an engine calls ``sound``, which asks the validator."""
    unjudged = set()
    for path in sorted(TESTS.glob("*/**/test_*.py")):
        text = path.read_text("utf-8")
        if "phalanx_core.reformation" not in text and "protocol_setting" not in text:
            continue
        for function in ast.parse(text).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            source = ast.unparse(function)
            made = any(engine in source for engine in ENGINES)
            if function.name[:5] == "test_" and made and ".sound()" not in source:
                unjudged.add(function.name)
    assert unjudged == UNJUDGED
