"""Many gangs in one call, named by handles and not by keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, OwnershipError
from phalanx_core.native import NONE, ffi, lib
from phalanx_core.placement.gang import AIMS, RULES, Gang
from phalanx_core.placement.keys import Handle
from phalanx_core.placement.limits import IntArray
from phalanx_core.placement.state import State

HandleArray = NDArray[np.int64]
_SLOTS = 0xFFFFFFFF


class Batch(State):
    """The part of a planner that takes batches; see :class:`Planner`."""

    __slots__ = ()

    def place_many(
        self, ranks: ArrayLike, gang: Gang
    ) -> tuple[HandleArray, IntArray, HandleArray, IntArray]:
        """Place gangs of one shape one after the other, in one native call.

        Parameters
        ----------
        ranks
            Ranks of each gang, shape (gangs,): integers, multiples of the group.
        gang
            The shape; its own ``ranks`` does not matter, and it has no limits.

        Returns
        -------
        handles : int64, shape (gangs,)
            For :meth:`release_many`; -1 where a gang did not fit.
        levels : int32, shape (gangs,)
            Lowest level that holds the gang, or -1.
        offsets : int64, shape (gangs + 1,)
            The leaves of gang i are ``leaves[offsets[i]:offsets[i + 1]]``.
        leaves : int32
            Leaf ids in rank order.

        Raises
        ------
        InvalidRequest
            If a number is not above 0 or no multiple of the group; nothing is placed.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> handles, levels, offsets, leaves = planner.place_many([4, 3, 2], Gang(1))
        >>> levels.tolist(), leaves[offsets[1] : offsets[2]].tolist()
        ([1, 1, -1], [4, 5, 6])
        """
        with self._inside:
            shape = self._shape(gang)
            sizes = _sizes(ranks, gang)
            count = sizes.size
            handles, levels = np.empty(count, np.int64), np.empty(count, np.int32)
            offsets = np.zeros(count + 1, np.int64)
            room = min(int(sizes.sum(dtype=np.int64)), self._frame.leaf_count)
            leaves = np.empty(room, np.int32)
            status = lib.phx_place_many(
                self._core,
                shape,
                native.words(sizes),
                count,
                ffi.from_buffer("int64_t[]", handles),
                ffi.from_buffer("int32_t[]", levels),
                ffi.from_buffer("int64_t[]", offsets),
                ffi.from_buffer("int32_t[]", leaves),
            )
            native.check(status, "place_many")
            handles[handles >= 0] |= self._outside.salt
            leaves = leaves[: offsets[-1]]
            if not self._frame.tree.identity:
                leaves = self._frame.leaf_ids(leaves)
            return handles, levels, offsets, leaves

    def _shape(self, gang: Gang) -> Any:
        compiled = self._frame.compile(gang, self._core)
        if compiled[2] is not None:
            raise InvalidRequest(
                f"{gang!r}: place_many takes no limits, slices, templates or parts"
            )
        group_level, within, prefer = self._frame.levels(gang)
        return ffi.new(
            "phx_gang *",
            (
                gang.group,
                gang.group,
                group_level,
                NONE if within is None else within,
                NONE if prefer is None else prefer,
                AIMS.index(gang.aim),
                RULES.index(gang.rule),
            ),
        )

    def release_many(self, handles: ArrayLike) -> None:
        """Release gangs of :meth:`place_many`, all or none of them.

        Parameters
        ----------
        handles
            int64, shape (gangs,), none -1 and none twice.

        Raises
        ------
        OwnershipError
            If a handle was released before or never given.
        InvalidRequest
            If they are no integers.
        """
        with self._inside:
            given = _handles(handles)
            own, kept = given, self._outside.handles
            if (self._hit or kept or self._outside.salt) and given.size:
                stale = self._stale(given)
                if stale is not None:
                    raise OwnershipError(f"release_many: {stale}")
                self._fence_many(given)
                own = np.array([h for h in given.tolist() if h not in kept], np.int64)
                own ^= self._outside.salt
            pointer = ffi.from_buffer("int64_t[]", own)
            if lib.phx_release_many(self._core, pointer, own.size):
                raise OwnershipError(f"release_many: {self._stale(given)}")
            for handle in given.tolist() if kept else ():
                self._release_kept(handle)

    def _release_kept(self, handle: int) -> None:
        """Release a gang from before a sync, which the core takes for a job's."""
        entry = self._outside.handles.pop(handle, None)
        if entry is not None:
            native.check(lib.phx_release(self._core, entry._slot), "release_many")
            self._names[entry._slot] = None

    def _slot_of(self, handle: int) -> int:
        kept = self._outside.handles.get(handle)
        return handle & _SLOTS if kept is None else kept._slot

    def _fence_many(self, given: HandleArray) -> None:
        for handle in given.tolist():
            slot = self._slot_of(handle)
            if slot in self._hit:
                self._fence_down(slot, Handle(handle))

    def _stale(self, given: HandleArray) -> str | None:
        """The first handle that a batch must not name, and why."""
        seen = set()
        for handle in given.tolist():
            if handle in seen:
                return f"handle {handle} is listed twice"
            slot, core = handle & _SLOTS, self._core
            own = handle ^ self._outside.salt
            known = handle >= 0 and lib.phx_handle(core, slot) == own
            unnamed = known and lib.phx_gang_is_unnamed(core, slot)
            if not unnamed and handle not in self._outside.handles:
                return f"handle {handle} was released before, or never given"
            seen.add(handle)
        return None


def _sizes(ranks: ArrayLike, gang: Gang) -> NDArray[np.uint32]:
    sizes = np.asarray(ranks)
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu"):
        raise InvalidRequest(
            f"place_many: ranks of shape {sizes.shape} and dtype {sizes.dtype}; "
            "a row of integers is needed"
        )
    if sizes.size and not (
        int(sizes.min()) >= 1
        and int(sizes.max()) < 2**31
        and (gang.group == 1 or not (sizes.astype(np.int64) % gang.group).any())
    ):
        row = sizes.astype(np.int64)
        bad = (row < 1) | (row % gang.group != 0) | (row >= 2**31)
        at = int(np.argmax(bad))
        raise InvalidRequest(
            f"place_many: ranks[{at}] is {sizes[at]}; a multiple of group {gang.group} "
            "above 0"
        )
    return np.ascontiguousarray(sizes, np.uint32)


def _handles(handles: ArrayLike) -> HandleArray:
    given = np.asarray(handles)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidRequest(
            f"release_many: handles of shape {given.shape} and dtype {given.dtype}; "
            "a row of int64 is needed"
        )
    return np.ascontiguousarray(given, np.int64)
