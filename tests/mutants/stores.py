"""Breaks the protocol's stores one text at a time; a test must fail for each.

``python -m tests.mutants.stores [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

MEMORY = "test_memory.py::TestMemoryStore::"
SQLITE = "test_sqlite.py::TestSqliteStore::"
FILE = "test_sqlite.py::"
LINK = "test_faults.py::"
PROCESSES = "test_processes.py::"

REQUESTS = (
    Fault(
        "a missing key has an empty value",
        "requests.py",
        "    return compare.field is not Field.VALUE and bool(relation(0, compare.value))\n",
        '    none = b"" if compare.field is Field.VALUE else 0\n'
        "    return bool(relation(none, compare.value))\n",
        MEMORY + "test_compares_of_what_is_not_there",
    ),
    Fault(
        "a range compare asks the first key alone",
        "requests.py",
        "        found = True\n",
        "        return True\n",
        MEMORY + "test_a_range_compare_speaks_of_every_key",
    ),
    Fault(
        "a full list is too long",
        "requests.py",
        "        if len(given) > limits.operations:\n",
        "        if len(given) >= limits.operations:\n",
        MEMORY + "test_all_lists_may_be_full",
    ),
    Fault(
        "values of compares weigh nothing",
        "requests.py",
        '            raise InvalidRequest(f"compares[{at}].value is {value!r}: it must be bytes")\n        return size + len(value)\n',
        '            raise InvalidRequest(f"compares[{at}].value is {value!r}: it must be bytes")\n        return size\n',
        MEMORY + "test_bytes_are_limited_by_request",
    ),
    Fault(
        "a key may be put and deleted",
        "requests.py",
        "        _check_written_once(operations, name)\n",
        "",
        MEMORY + "test_wrong_transactions_are_refused",
    ),
    Fault(
        "a prefix ends after its last byte",
        "operations.py",
        "kept[:-1] + bytes([kept[-1] + 1])",
        'kept + b"\\xff"',
        MEMORY + "test_ranges_are_half_open_and_in_order",
    ),
)

REFERENCE = (
    Fault(
        "a range has its end",
        "memory.py",
        "bisect_left(self._keys, where.end, first)",
        "bisect_left(self._keys, where.end, first) + 1",
        MEMORY + "test_ranges_are_half_open_and_in_order",
    ),
    Fault(
        "nothing done is a revision",
        "memory.py",
        "        if len(self._changes) > before:\n            self._revision = revision\n",
        "        self._revision = revision\n",
        MEMORY + "test_what_changes_nothing_is_no_revision",
    ),
    Fault(
        "the other branch needs its leases",
        "memory.py",
        "        for operation in branch:\n",
        "        for operation in (*then, *otherwise):\n",
        MEMORY + "test_leases_of_the_other_branch_do_not_matter",
    ),
    Fault(
        "a lease ends a moment late",
        "memory.py",
        "if h.end_s <= now)",
        "if h.end_s < now)",
        MEMORY + "test_keys_end_with_their_lease",
    ),
    Fault(
        "keeping alive adds up",
        "memory.py",
        "        held.end_s = self._now() + held.ttl_s\n",
        "        held.end_s += held.ttl_s\n",
        MEMORY + "test_a_lease_kept_alive_goes_on",
    ),
    Fault(
        "each key of a lease is a revision",
        "memory.py",
        "            self._delete(key, self._revision + 1)\n"
        "        self._revision += bool(keys)\n",
        "            self._delete(key, self._revision + 1)\n"
        "            self._revision += 1\n",
        MEMORY + "test_keys_end_with_their_lease",
    ),
    Fault(
        "a key keeps its first lease",
        "memory.py",
        "            self._held[before.lease].keys.discard(put.key)\n",
        "            pass\n",
        MEMORY + "test_a_put_gives_a_key_another_lease",
    ),
    Fault(
        "a watch tells its last revision again",
        "memory.py",
        "max(self._revision, self._store._revision + 1)",
        "max(self._revision, self._store._revision)",
        MEMORY + "test_a_watch_tells_what_comes",
    ),
    Fault(
        "a watch hides what was compacted",
        "memory.py",
        "        self._check_kept(revision)\n        if revision > self._revision:\n            return",
        "        if revision > self._revision:\n            return",
        MEMORY + "test_compaction_under_a_watch_is_told",
    ),
    Fault(
        "a watch does not see leases end",
        "memory.py",
        "        self._settle()\n        self._check_kept(revision)\n        if revision > self",
        "        self._check_kept(revision)\n        if revision > self",
        MEMORY + "test_a_watch_alone_sees_that_a_lease_is_over",
    ),
    Fault(
        "compaction forgets what is there",
        "memory.py",
        "            del versions[: last + (not versions[last].version)]\n",
        "            del versions[: last + 1]\n",
        MEMORY + "test_compaction_forgets_the_past_alone",
    ),
    Fault(
        "compaction forgets its own revision",
        "memory.py",
        "        del self._changes[: self._first_change(revision)]\n",
        "        del self._changes[: self._first_change(revision + 1)]\n",
        MEMORY + "test_a_deletion_at_the_compacted_revision_is_told",
    ),
    Fault(
        "compaction takes what is later",
        "memory.py",
        "            if last < 0:  # all of it is later\n                continue\n",
        "",
        MEMORY + "test_compaction_keeps_all_that_is_later",
    ),
    Fault(
        "a key made again goes on counting",
        "memory.py",
        "return versions[-1] if versions and versions[-1].version else None",
        "return versions[-1] if versions else None",
        "test_twin.py::TestMemoryTwin",
    ),
)

DURABLE = (
    Fault(
        "commits are not synchronised",
        "schema.py",
        "synchronous = FULL",
        "synchronous = OFF",
        FILE + "test_durability_is_asked_for",
    ),
    Fault(
        "the lock comes with the first write",
        "sqlite.py",
        '        self._begin("BEGIN IMMEDIATE")\n        try:\n            over',
        '        self._begin("BEGIN")\n        try:\n            over',
        PROCESSES + "test_processes_count_and_claim_as_one",
    ),
    Fault(
        "each put is a commit",
        "rows.py",
        "        self._note(item)\n",
        "        self._note(item)\n"
        '        self._sql("COMMIT")\n'
        '        self._sql("BEGIN IMMEDIATE")\n',
        PROCESSES + "test_what_was_answered_outlives_a_kill",
    ),
    Fault(
        "answered before it is committed",
        "sqlite.py",
        "            self._sql(statement)\n"
        "        except sqlite3.Error as error:\n"
        "            raise fault_of(self.path, error) from error\n"
        "\n"
        "    def _commit(self) -> None:\n"
        "        try:\n"
        '            self._sql("COMMIT")\n',
        "            if not self._connection.in_transaction:\n"
        "                self._sql(statement)\n"
        "        except sqlite3.Error as error:\n"
        "            raise fault_of(self.path, error) from error\n"
        "\n"
        "    def _commit(self) -> None:\n"
        "        try:\n"
        "            if self._revision() % 4 == 0:\n"
        '                self._sql("COMMIT")\n',
        PROCESSES + "test_what_was_answered_outlives_a_kill",
    ),
    Fault(
        "an error of the disk is certain",
        "sqlite.py",
        "            raise Ambiguous(f",
        "            raise Unavailable(f",
        FILE + "test_an_error_in_the_commit_is_ambiguous",
    ),
    Fault(
        "an error undoes nothing",
        "sqlite.py",
        "        except BaseException as error:\n            self._undo()\n",
        "        except BaseException as error:\n            self._commit()\n",
        FILE + "test_an_error_before_the_commit_undoes_all",
    ),
    Fault(
        "a refusal brings leases back",
        "sqlite.py",
        "                self._commit()\n"
        '                self._begin("BEGIN IMMEDIATE")\n'
        "            yield\n",
        "                pass\n            yield\n",
        FILE + "test_leases_that_are_over_end_though_the_request_is_refused",
    ),
    Fault(
        "a read does not end leases",
        "sqlite.py",
        "                self._end_over()\n",
        "                pass\n",
        SQLITE + "test_keys_end_with_their_lease",
    ),
    Fault(
        "changes of a revision come by key",
        "sqlite.py",
        '"ORDER BY revision, place"',
        '"ORDER BY revision, key"',
        SQLITE + "test_order_is_of_revisions_then_of_operations",
    ),
    Fault(
        "compaction takes what can be read",
        "sqlite.py",
        '(version = 0 OR "\n',
        '(version >= 0 OR "\n',
        SQLITE + "test_compaction_forgets_the_past_alone",
    ),
    Fault(
        "any file is made a store",
        "schema.py",
        "    if application or version or tables:\n",
        "    if application or version:\n",
        FILE + "test_other_files_are_refused_and_left_alone",
    ),
)

LINKS = (
    Fault(
        "a lost answer is a lost request",
        "faults.py",
        '                request()\n            self._note(method, "answer lost")\n',
        '                pass\n            self._note(method, "answer lost")\n',
        LINK + "test_a_lost_answer_is_ambiguous_though_applied",
    ),
    Fault(
        "a delay is none",
        "faults.py",
        "if sent.due <= call]",
        "if sent.due]",
        LINK + "test_a_delayed_write_arrives_after_so_many_calls",
    ),
    Fault(
        "delayed writes keep their order",
        "faults.py",
        "        for sent in sorted(due, key=lambda sent: sent.due):\n",
        "        for sent in due and self._under_way[:1]:\n",
        LINK + "test_delayed_writes_overtake_each_other",
    ),
    Fault(
        "a duplicate is sent once",
        "faults.py",
        "            answer = request()\n            self._under_way.append(sent)\n",
        "            answer = request()\n",
        LINK + "test_a_duplicate_is_applied_again_after_so_many_calls",
    ),
    Fault(
        "a stale read is fresh",
        "faults.py",
        "now.revision - fault.amount)",
        "now.revision)",
        LINK + "test_a_stale_read_is_of_an_earlier_revision",
    ),
    Fault(
        "a new leader knows how old leases are",
        "faults.py",
        "                self._store.keep_alive(lease)\n",
        "                pass\n",
        LINK + "test_a_new_leader_starts_leases_anew",
    ),
    Fault(
        "a broken watch heals",
        "faults.py",
        "            self._broken = True\n",
        "            pass\n",
        LINK + "test_a_broken_watch_loses_nothing",
    ),
    Fault(
        "an ambiguous write is sent again",
        "faults.py",
        '        raise Ambiguous(f"no answer to {what}")\n',
        "        return request()\n",
        LINK + "test_a_lost_request_is_ambiguous_and_never_applied",
    ),
)

TABLE = Table(
    "phalanx_core/reformation/stores",
    "tests/unit/reformation/stores",
    (*REQUESTS, *REFERENCE, *DURABLE, *LINKS),
)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
