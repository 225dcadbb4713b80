"""What a refusal says."""

from __future__ import annotations

import json

from phalanx_core import Gang, Misfit, MisfitCode, Planner, Spares, Topology

RACKS = Topology.from_spec("rack:2 host:4 gpu:2")


def crowded() -> Planner:
    """Rack 0: a job on 0-1, 2 down, 4 suspect, 5 cordoned, 7 quarantined."""
    planner = Planner(RACKS, spares=Spares("rack"))
    planner.adopt("a", Gang(2), [0, 1])
    planner.adopt("gone", Gang(1), [7])
    planner.fail([2, 7])
    planner.release("gone")
    planner.suspect([4])
    planner.cordon([5])
    return planner


def test_reason_counts_what_is_in_the_way() -> None:
    """One sentence with level, best domain and every kind of loss."""
    planner = crowded()
    planner.adopt("b", Gang(6), range(8, 14))
    refused = planner.fits(Gang(3, within="rack"))
    assert isinstance(refused, Misfit)
    assert not refused
    assert refused.code is MisfitCode.CAPACITY
    assert refused.reason == (
        "no rack has 3 available gpus: best rack-0 has 2; 2 held by jobs, "
        "1 quarantined, 1 down, 1 suspect, 1 cordoned"
    )
    assert str(refused) == refused.reason
    assert refused.proven


def test_each_code_has_its_sentence() -> None:
    """Too large, limited, too few leaves, too few whole groups, no aligned block."""
    planner = Planner(RACKS)
    told = planner.fits(Gang(9, within="rack")).reason
    assert told == "no rack could ever hold 9 gpus: best rack-0 has 8"
    told = planner.fits(Gang(4, group=4, group_level="host")).reason
    assert told == (
        "no cluster could ever hold 4 gpus in groups of 4 per host: best cluster has 16"
    )
    told = planner.fits(Gang(4), limits={"cluster": [3]}).reason
    assert told == (
        "limits leave no cluster with room for 4 gpus: best cluster may take 3 of its "
        "16 available; without limits it fits"
    )
    for leaf in range(0, 16, 2):
        planner.adopt(leaf, Gang(1), [leaf])
    told = planner.fits(Gang(4, group=2)).reason
    assert told == (
        "no cluster has 4 gpus in groups of 2 per host: best cluster has whole groups "
        "for 0 of its 8 available; 8 held by jobs"
    )
    buddy = Planner(RACKS, alignment="buddy")
    buddy.adopt("x", Gang(1), [0])
    buddy.adopt("y", Gang(1), [8])
    refused = buddy.fits(Gang(8))
    assert refused.code is MisfitCode.ALIGNMENT
    assert refused.reason.startswith("no cluster has an aligned block of 8 gpus")


def test_records_go_up_the_levels() -> None:
    """One record a level from the start of the search, with names and counts."""
    refused = crowded().fits(Gang(9))
    assert refused.code is MisfitCode.CAPACITY
    assert [record.level for record in refused.records] == ["cluster"]
    record = refused.records[0]
    assert (record.domains, record.best, record.leaves) == (1, "cluster", 16)
    assert (record.available, record.owned, record.spare) == (8, 2, 2)
    told = json.loads(json.dumps(refused.to_dict()))
    assert told["code"] == "CAPACITY"
    assert told["records"][0]["quarantined"] == 1


def test_a_misfit_keeps_what_it_saw() -> None:
    """The reason is made on use, from values of the call."""
    planner = crowded()
    refused = planner.fits(Gang(9))
    planner.heal(range(16))
    planner.fenced("gone")
    planner.release("a")
    assert refused.reason == (
        "no cluster has 9 available gpus: best cluster has 8; 2 held by jobs, 2 spare, "
        "1 quarantined, 1 down, 1 suspect, 1 cordoned"
    )
