"""The unreduced search: every state of a small scope, one by one, in the native core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

from phalanx_core import native
from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest, InvariantBroken
from phalanx_core.native import ffi, lib
from phalanx_core.verification.unreduced_result import (
    STAGES,
    Counterexample,
    Exploration,
    Progress,
    Verdict,
)
from phalanx_core.verification.unreduced_scope import (
    ACTIONS,
    PROPERTIES,
    Scope,
    State,
    Step,
    core_scope,
    core_state,
    state_of,
    step_of,
)

# Between two looks at the callback and at Ctrl-C: some tenths of a second.
SLICE_STATES = 1 << 18
BYTES_MAX = 8 << 30
REFORM_LIVE = PROPERTIES.index("ReformLive")


class Search:
    """A search that goes on in slices, of one thread; :func:`explore` does all of them.

    Parameters
    ----------
    scope
        What is searched.
    liveness
        Whether ReformLive and ESR are judged too.
    bytes_max
        Of all arrays, at least 1.

    Raises
    ------
    InvalidRequest
        If ``bytes_max`` is no such number, or too few for any state.
    MemoryError
        If the system has no more.

    Examples
    --------
    >>> search = Search(Scope(1, 2, 1))
    >>> search.run()
    True
    >>> [step.action for step in search.successors(next(search.states()))]
    ['Fail', 'Fail', 'Seal']
    """

    def __init__(
        self, scope: Scope, *, liveness: bool = True, bytes_max: int = BYTES_MAX
    ) -> None:
        if not is_whole(bytes_max) or not 0 < bytes_max < 1 << 64:
            raise InvalidRequest(f"search: bytes_max {bytes_max!r}: at least 1")
        given = core_scope(scope)
        given.liveness, given.bytes_max = int(liveness), bytes_max
        out = ffi.new("phx_verify **")
        status = lib.phx_verify_new(given, out)
        if status == native.GAVE_UP:
            raise InvalidRequest(
                f"search: bytes_max {bytes_max}: too few for any state"
            )
        native.check(status, f"search of {scope}")
        self.scope = scope
        self._core = ffi.gc(out[0], lib.phx_verify_free)
        self._told = ffi.new("phx_verify_told *")
        self._tell()

    def _tell(self) -> None:
        lib.phx_verify_tell(self._core, self._told)

    @property
    def told(self) -> Any:
        """Counts so far, a ``phx_verify_told``."""
        return self._told[0]

    def run(self, states: int = SLICE_STATES) -> bool:
        """Go on for about so many states.

        Returns
        -------
        bool
            False where there is no room for more, see :class:`Verdict`: what was found
            stays.

        Raises
        ------
        MemoryError
            If the system has no more; what was found stays.
        """
        status = lib.phx_verify_run(self._core, states)
        self._tell()
        if status == native.GAVE_UP:
            return False
        native.check(status, "search")
        return True

    @property
    def done(self) -> bool:
        """Whether every property is judged."""
        return bool(self.told.stage == lib.PHX_VERIFY_DONE)

    def states(self) -> Iterator[State]:
        """All states so far, in breadth-first order."""
        out = ffi.new("phx_verify_state *")
        for index in range(self.told.distinct):
            native.check(lib.phx_verify_at(self._core, index, out), f"state {index}")
            yield state_of(out, self.scope.jobs)

    def successors(self, state: State) -> list[Step]:
        """Every step from a state of the scope."""
        room = self.scope.leaves + self.scope.jobs * ((1 << self.scope.leaves) + 4)
        steps, count = ffi.new("phx_verify_step[]", room), ffi.new("uint32_t *")
        status = lib.phx_verify_next(self._core, core_state(state), steps, room, count)
        native.check(status, "successors")
        return [step_of(steps[at], self.scope.jobs) for at in range(count[0])]

    def counterexample(self, name: str, job: int = 0) -> Counterexample | None:
        """A shortest run that violates a property, or None where none was found.

        Raises
        ------
        InvalidRequest
            If there is no property of that name.

        Notes
        -----
        Predecessors are not stored: one level is expanded again for each step.
        """
        if name not in PROPERTIES:
            raise InvalidRequest(f"property {name!r}: one of {', '.join(PROPERTIES)}")
        room = int(self.told.depth) + 1
        steps = ffi.new("phx_verify_step[]", room)
        count, loop = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        status = lib.phx_verify_path(
            self._core, PROPERTIES.index(name), job, steps, room, count, loop
        )
        if status == native.MISFIT:
            return None
        native.check(status, f"counterexample of {name}")
        path = tuple(step_of(steps[at], self.scope.jobs) for at in range(count[0]))
        whose = job if name == PROPERTIES[REFORM_LIVE] else None
        return Counterexample(name, whose, path, int(loop[0]))

    def validate(self) -> None:
        """Recompute every invariant of the search's own arrays; O(states).

        Raises
        ------
        InvariantBroken
            With the tag of the invariant that does not hold.
        """
        reason = ffi.new("const char **")
        if lib.phx_verify_validate(self._core, reason) != native.OK:
            tag, _, text = ffi.string(reason[0]).decode().partition(": ")
            raise InvariantBroken(tag, text)

    def result(self, ended: Verdict | None = None) -> Exploration:
        """What was found; ``ended`` where it was ended before it was done."""
        told = self.told
        found = []
        for at, name in enumerate(PROPERTIES):
            if told.violated >> at & 1:
                jobs = range(self.scope.jobs) if at == REFORM_LIVE else range(1)
                runs = [self.counterexample(name, job) for job in jobs]
                found += [run for run in runs if run is not None]
        return Exploration(
            scope=self.scope,
            verdict=ended or (Verdict.VIOLATED if found else Verdict.HOLDS),
            initial=int(told.initial),
            generated=int(told.generated),
            distinct=int(told.distinct),
            depth=int(told.depth),
            steps=MappingProxyType(dict(zip(ACTIONS, told.steps, strict=True))),
            components=int(told.components),
            largest=int(told.largest),
            endless=int(told.endless),
            bytes_peak=int(told.bytes_peak),
            counterexamples=tuple(found),
        )


class _Watch:
    """Asks a callback between slices."""

    def __init__(self, progress: Callable[[Progress], object]) -> None:
        self._progress = progress
        self._last = (STAGES[0], 0, time.perf_counter())

    def wants_more(self, told: Any) -> bool:
        """False where the callback returned False."""
        stage, expanded = STAGES[told.stage], int(told.expanded)
        now = time.perf_counter()
        was_stage, was, before = self._last
        since = expanded - was if stage == was_stage and expanded >= was else expanded
        rate = since / max(now - before, 1e-9)
        self._last = (stage, expanded, now)
        look = Progress(stage, expanded, int(told.distinct), rate)
        return self._progress(look) is not False


def explore(
    scope: Scope,
    *,
    liveness: bool = True,
    bytes_max: int = BYTES_MAX,
    progress: Callable[[Progress], object] | None = None,
    slice_states: int = SLICE_STATES,
) -> Exploration:
    """Visit every state of a scope, and judge every property.

    Parameters
    ----------
    scope
        What is searched.
    liveness
        Whether ReformLive of each job and ESR (``<>[] Healthy``) are judged, under weak
        fairness of Detect, Plan, Commit, Abort and Restore of each job.
    bytes_max
        Bound on the bytes of all arrays; 8 to 16 bytes a state, 7 to 21 for its place in
        the table, 4 for liveness.
    progress
        Called after every ``slice_states`` states; where it returns False the search stops.
    slice_states
        At least 1. Ctrl-C is answered as often.

    Returns
    -------
    Exploration

    Raises
    ------
    InvalidRequest
        If ``bytes_max`` or ``slice_states`` is below 1, or bytes suffice for no state.
    MemoryError
        If the system has no more.

    Notes
    -----
    O(generated states) time. Counts are those of TLC: initial states count, so do Seals
    that change nothing; Plan counts once a subset, Restore once a witness. A broken state
    or step ends the search at once; liveness is judged on the whole graph. Source: the
    Phalanx paper, Figure 2 and section 6.

    Examples
    --------
    >>> found = explore(Scope(2, 6, 2))
    >>> found.generated, found.distinct, found.depth, found.verdict.value
    (120000, 43070, 13, 'holds')
    >>> from phalanx_core.verification.unreduced_scope import Rule
    >>> stuck = explore(Scope(2, 7, 2, Rule.FIXED_SIZE, start=(0x07, 0x38)))
    >>> print(stuck.counterexamples[0])
    ReformLive of job 0 is violated:
       1 Init(leaves 0,1,2,3,4,5,6)
       2 Fail(leaves 0)
       3 Fail(leaves 1)
       4 Detect(job 0; leaves 0,1; epoch 0)
      ... and nothing more
    """
    if not is_whole(slice_states) or slice_states < 1:
        raise InvalidRequest(f"explore: slice_states {slice_states!r}: at least 1")
    search = Search(scope, liveness=liveness, bytes_max=bytes_max)
    watch = None if progress is None else _Watch(progress)
    while not search.done:
        if not search.run(slice_states):
            return search.result(Verdict.OUT_OF_ROOM)
        if watch is not None and not watch.wants_more(search.told):
            return search.result(Verdict.STOPPED)
    return search.result()
