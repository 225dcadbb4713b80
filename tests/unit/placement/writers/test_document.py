"""The JSON document of a placement and of a repair."""

from __future__ import annotations

import json

from hypothesis import given

from phalanx_core import Gang, Placement, Planner, Topology
from phalanx_core.placement.writers import write
from tests.unit.placement.writers.gangs import anyhow, cluster, where


@given(anyhow())
def test_every_rank_is_told(placement: Placement) -> None:
    """Host and leaf of each rank."""
    told = json.loads(write(placement, "json", "a"))
    row = {
        rank: (host["host"], int(leaf.rpartition("-")[2]))
        for host in told["hosts"]
        for rank, leaf in zip(host["ranks"], host["leaves"], strict=True)
    }
    assert [row[rank] for rank in range(told["ranks"])] == where(placement)
    assert (told["level"], told["domain"]) == (
        placement.level_name,
        placement.domain_name,
    )


def test_text_of_a_placement() -> None:
    """A line a field and a line a host."""
    planner = Planner(cluster(["n1", "n2"], 2))
    placement = planner.place("llm", Gang(3))
    assert write(placement, "json", "llm") == (
        "{\n"
        '  "job": "llm",\n'
        '  "ranks": 3,\n'
        '  "group": 1,\n'
        '  "level": "rack",\n'
        '  "domain": "r0",\n'
        '  "hosts": [\n'
        '    {"host": "n1", "ranks": [0, 1], "leaves": ["n1/gpu-0", "n1/gpu-1"]},\n'
        '    {"host": "n2", "ranks": [2], "leaves": ["n2/gpu-0"]}\n'
        "  ]\n"
        "}\n"
    )


def test_text_of_a_partial_repair() -> None:
    """What moved, and which rank found no leaf."""
    planner = Planner(cluster(["n1", "n2"], 2))
    planner.place(7, Gang(3))
    planner.fail([0, 1])
    repair = planner.replan(7, partial=True)
    assert write(repair, "json") == (
        "{\n"
        '  "job": 7,\n'
        '  "ranks": 3,\n'
        '  "group": 1,\n'
        '  "level": "rack",\n'
        '  "domain": "r0",\n'
        '  "hosts": [\n'
        '    {"host": "n2", "ranks": [0, 2], "leaves": ["n2/gpu-1", "n2/gpu-0"]},\n'
        '    {"host": "n1", "ranks": [1], "leaves": ["n1/gpu-1"]}\n'
        "  ],\n"
        '  "moves": [\n'
        '    {"rank": 0, "from": "n1/gpu-0", "to": "n2/gpu-1"}\n'
        "  ],\n"
        '  "spares_used": 0,\n'
        '  "unresolved": [1]\n'
        "}\n"
    )


def test_names_that_json_escapes() -> None:
    """Any name is a JSON text; a leaf without a host has none."""
    names = ['a"\n', "b\\"]
    topology = Topology.from_labels(["host", "all"], [["h\t", None], [0, 0]], names)
    placement = Planner(topology).place("\u2028", Gang(2))
    told = json.loads(write(placement, "json", "\u2028"))
    assert told["job"] == "\u2028"
    assert told["hosts"] == [
        {"host": "h\t", "ranks": [0], "leaves": ['a"\n']},
        {"host": None, "ranks": [1], "leaves": ["b\\"]},
    ]
