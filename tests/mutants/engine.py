"""Breaks guards of the engine's transactions one at a time; a test must fail for each.

``python -m tests.mutants.engine [NAME...]``

The first seven are the guard removals of the store-level model. Each fault is made in a copy
of the package; its test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

GUARDS = "cases/test_protocol_guards.py::test_"
LATE = "cases/test_protocol_leases.py::test_"
DRAINS = "cases/test_protocol_drains.py::test_"
EARLY = "cases/test_protocol_scenarios.py::test_"
FATES = "cases/test_protocol_fates.py::test_"
SEALS = "cases/test_protocol_checkpoints.py::test_"
COMPARE = "comparing.py"

MODEL = (
    Fault(
        "GEpoch",
        COMPARE,
        '    yield modified_at(codec.key("epoch", job.name), job.revision)\n'
        "    yield from unclaimed(view, proposal)\n",
        "    yield from unclaimed(view, proposal)\n",
        GUARDS + "commit_compares_the_epoch_record",
    ),
    Fault(
        "GLeaf",
        COMPARE,
        "    yield from unclaimed(view, proposal)\n",
        "",
        GUARDS + "commit_compares_that_claims_are_free",
    ),
    Fault(
        "GLive",
        COMPARE,
        "    yield from alive(view, plan)\n",
        "",
        GUARDS + "commit_compares_the_heartbeats",
    ),
    Fault(
        "GSealPhase",
        COMPARE,
        "    yield from _epoch(view, event, facts)\n    yield absent(codec.seal_key(",
        "    yield absent(codec.seal_key(",
        GUARDS + "seal_compares_the_phase",
    ),
    Fault(
        "GSealToken",
        "repairs.py",
        '        return Refused(event.action, "running")\n'
        "    if not guards.token_current(job, event, rules):\n",
        '        return Refused(event.action, "running")\n    if False:\n',
        GUARDS + "seal_compares_the_token",
    ),
    Fault(
        "GRun",
        COMPARE,
        "    yield from _epoch(view, event, facts)\n"
        "    yield _whole(facts.name)\n"
        "    base = view.jobs",
        "    yield _whole(facts.name)\n    base = view.jobs",
        GUARDS + "run_compares_the_epoch_record",
    ),
    Fault(
        "GDetect",
        COMPARE,
        "    yield from _epoch(view, event, facts)\n    yield present(Range",
        "    yield present(Range",
        GUARDS + "detect_compares_the_epoch_record",
    ),
)

OTHERS = (
    Fault(
        "a block around is not looked at",
        COMPARE,
        '            yield absent(codec.key("alloc", around))\n',
        "            pass\n",
        GUARDS + "commit_compares_blocks_around_and_within",
    ),
    Fault(
        "a block within is not looked at",
        COMPARE,
        '        yield absent(Range.prefix(codec.key("alloc", path)))\n',
        '        yield absent(codec.key("alloc", path))\n',
        GUARDS + "commit_compares_blocks_around_and_within",
    ),
    Fault(
        "many hosts are not compared",
        COMPARE,
        '        yield absent(Range.prefix(codec.key("down", path)))\n',
        "        pass\n",
        GUARDS + "more_hosts_are_compared_by_block",
    ),
    Fault(
        "heartbeats that fit are compared by block",
        COMPARE,
        "product((_hosts_alive, _none_down), (",
        "product((_none_down,), (",
        GUARDS + "commit_compares_as_many_heartbeats_as_fit",
    ),
    Fault(
        "suspect hosts are claimed",
        COMPARE,
        "    yield from _trusted(view, plan if draining else plan & ~alloc)\n",
        "",
        GUARDS + "commit_compares_the_verdicts",
    ),
    Fault(
        "a drain keeps suspect hosts",
        COMPARE,
        "    yield from _trusted(view, plan if draining else plan & ~alloc)\n",
        "    yield from _trusted(view, plan & ~alloc)\n",
        GUARDS + "a_drain_keeps_no_host_that_is_suspect_by_now",
    ),
    Fault(
        "a withdrawn verdict is not seen",
        COMPARE,
        "    for host in view.layout.hosts_of(left):\n",
        "    for host in view.layout.hosts_of(0):\n",
        GUARDS + "a_withdrawn_verdict_pins_the_leaf",
    ),
    Fault(
        "a broken job runs",
        COMPARE,
        "    yield _whole(facts.name)\n    base = view.jobs",
        "    base = view.jobs",
        GUARDS + "run_compares_that_nobody_died",
    ),
    Fault(
        "a job runs from a manifest that is gone",
        COMPARE,
        "        yield _sealed(view, event, base)\n",
        "        pass\n",
        SEALS + "24_a_manifest_goes_while_restore_reads_it",
    ),
    Fault(
        "a death does not look at owners",
        COMPARE,
        "    yield modified_at(codec.OWNERS, view.owners)\n"
        "    for host in view.layout.hosts_of(event.leaves):\n",
        "    for host in view.layout.hosts_of(event.leaves):\n",
        GUARDS + "fail_compares_the_owners",
    ),
    Fault(
        "a death does not look at the heartbeat",
        COMPARE,
        "        yield created_at(heartbeat, beat.incarnation if beat else 0)\n",
        "        pass\n",
        GUARDS + "fail_compares_the_heartbeat",
    ),
    Fault(
        "no repair goes first",
        COMPARE,
        "        yield modified_at(codec.REPAIRS, view.repairs)\n",
        "        pass\n",
        GUARDS + "a_repair_that_begins_stops_what_is_no_repair",
    ),
    Fault(
        "another manifest is not looked at",
        COMPARE,
        "Relation.LESS, view.revision + 1",
        "Relation.LESS, view.revision + 99",
        GUARDS + "a_lost_manifest_compares_what_else_there_is",
    ),
    Fault(
        "a withdrawal does not look at its host",
        COMPARE,
        '        yield modified_at(codec.key("host", host), known)\n',
        "        pass\n",
        GUARDS + "a_withdrawn_verdict_compares_its_host",
    ),
    Fault(
        "a withdrawal leaves its host as it was",
        "preparing.py",
        "        if before.live & after.live & layout.host_mask(host):\n",
        "        if False:\n",
        GUARDS + "a_late_copy_of_a_verdict_does_not_outlive_its_withdrawal",
    ),
    Fault(
        "a lost manifest leaves no record",
        "preparing.py",
        '        return [Put(key, codec.manifest_bytes(Manifest(None, "", facts.nonce, True)))]\n',
        "        return [Delete(key)]\n",
        GUARDS + "a_late_copy_of_a_seal_does_not_outlive_its_loss",
    ),
    Fault(
        "a heartbeat is begun whatever is there",
        "agents.py",
        "        if self.store.transaction([absent(heartbeat)], [begin]).succeeded:\n",
        "        if self.store.transaction([], [begin]).succeeded:\n",
        GUARDS + "a_heartbeat_that_lands_late_is_kept_or_ended",
    ),
    Fault(
        "a boot goes on with the heartbeat before",
        "agents.py",
        "            self.store.transaction([same], [Delete(heartbeat)])\n",
        "            self.store.transaction([same], [Delete(heartbeat + b'x')])\n",
        GUARDS + "a_host_that_boots_within_its_lease_is_another_incarnation",
    ),
    Fault(
        "a prune needs no witness",
        COMPARE,
        "        yield _sealed(view, event, facts.witness)\n",
        "        pass\n",
        SEALS + "24_old_manifests_are_pruned",
    ),
    Fault(
        "a prune does not look at the epoch record",
        COMPARE,
        "    yield from _epoch(view, event, facts)\n"
        "    yield _sealed(view, event, (event.manifest, facts.step))\n"
        "    job = view",
        "    yield _sealed(view, event, (event.manifest, facts.step))\n    job = view",
        SEALS + "24_a_prune_is_overtaken_by_a_repair",
    ),
    Fault(
        "an epoch loses all its manifests unseen",
        COMPARE,
        "        yield _sealed(view, event, max(others))\n",
        "        pass\n",
        GUARDS + "a_lost_manifest_compares_that_its_epoch_keeps_one",
    ),
    Fault(
        "a fence frees what it did not see",
        COMPARE,
        '            yield modified_at(codec.key("alloc", block.path), block.revision)\n',
        "            pass\n",
        GUARDS + "a_fence_compares_its_blocks",
    ),
    Fault(
        "freed leaves are not fenced",
        "blocks.py",
        "    if freed := new.fenced & ~old.fenced:\n",
        "    if freed := 0:\n",
        SEALS + "25_a_freed_leaf_is_claimable_when_its_agent_confirms",
    ),
    Fault(
        "a lost answer is taken for a lost request",
        "committing.py",
        "    if prepared.marker and _mine(prepared, marker):\n        return Fate.APPLIED\n",
        "",
        EARLY + "06_an_applied_commit_whose_answer_is_lost",
    ),
    Fault(
        "a death is told to who does not know of it alone",
        "preparing.py",
        "_of_lost(view, before.live & ~after.live)",
        "_of_lost(view, after.lost & ~before.lost)",
        FATES + "a_death_that_lands_after_a_commit_of_the_same_leaves",
    ),
    Fault(
        "any loss forgets who has loaded",
        "preparing.py",
        "(event.action == Action.LOSE and unread)",
        "event.action == Action.LOSE",
        SEALS + "a_prune_forgets_nobody_s_loading",
    ),
    Fault(
        "a lost base is forgotten while the job runs",
        "preparing.py",
        "event.action == Action.LOSE and job.phase == Phase.RESTORE",
        "event.action == Action.LOSE",
        SEALS + "what_a_job_went_on_from_stays_told",
    ),
    Fault(
        "an agent confirms what it did not look for",
        "client.py",
        "            if (block.holding.uid, block.holding.epoch) <= token:\n",
        "            if True:\n",
        SEALS + "a_confirmation_is_of_what_was_looked_for",
    ),
    Fault(
        "nonces of another life are one's own",
        "client.py",
        "life = uuid4().hex[:16] if life is None else life",
        'life = ""',
        "unit/reformation/test_engine.py::test_the_next_life_of_a_name_knows_its_own",
    ),
    Fault(
        "a marker that went with its job is taken for one that never was",
        "committing.py",
        "    return Fate.STALE if _revision(record) != prepared.recorded else None\n",
        "    return None\n",
        FATES + "a_seal_of_a_job_that_ended_before_its_answer",
    ),
    Fault(
        "a lost request is not sent again",
        "committing.py",
        "            if fate is None:\n                continue\n",
        "            fate = fate or Fate.UNKNOWN\n",
        EARLY + "07_a_commit_that_was_lost_on_its_way",
    ),
    Fault(
        "another incarnation is the same host",
        "detector.py",
        "            elif beat.incarnation != incarnation:\n",
        "            elif beat.incarnation < incarnation:\n",
        LATE + "26_a_lease_flaps_before_the_engine_looks",
    ),
    Fault(
        "mass expiry is believed",
        "detector.py",
        "        if len(missing) > self.damping.hosts:\n",
        "        if len(missing) < self.damping.hosts:\n",
        LATE + "29_a_mass_expiry_is_waited_for",
    ),
    Fault(
        "every job is repaired at once",
        "engine.py",
        "(most is None or under_repair < most)",
        "(most is None or most)",
        LATE + "29_a_mass_expiry_is_waited_for",
    ),
    Fault(
        "the oldest manifest is restored",
        "observing.py",
        "for one in reversed(self.seals) if",
        "for one in self.seals if",
        SEALS + "23_manifests_are_ordered_by_epoch_then_step",
    ),
    Fault(
        "steps are ordered as texts without zeros",
        "codec.py",
        'f"{step:020}"',
        'f"{step}"',
        "unit/reformation/test_codec.py::test_keys_of_manifests_are_in_order",
    ),
    Fault(
        "a later version is read as ours",
        "codec.py",
        '    if isinstance(value, dict) and value.get("v", VERSION) != VERSION:\n',
        "    if isinstance(value, bytes):\n",
        DRAINS + "42_records_of_a_later_engine",
    ),
)

TABLE = Table("phalanx_core/reformation", "tests", (*MODEL, *OTHERS))

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
