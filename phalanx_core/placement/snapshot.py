"""Clone, save, load and validate.

A save is one header, a JSON part (jobs, gangs, limits, quarantine, options), the core's
own bytes, and a CRC-32 of all that precedes it. Equal states give equal bytes.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, PhalanxError, SaveError
from phalanx_core.native import lib
from phalanx_core.placement.frame import Frame
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, checked_job
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.results import Moved
from phalanx_core.placement.spares import Spares
from phalanx_core.placement.state import State, in_use
from phalanx_core.topology import Topology
from phalanx_core.topology.keeping import kept_leaf, with_kept

if TYPE_CHECKING:
    from typing import Self

MAGIC = b"PHALANX\x00"
VERSION = 1
# Magic, version, bytes of the JSON part, bytes of the native part.
HEAD = struct.Struct("<8sIQQ")
CHECKSUM = struct.Struct("<I")


class Snapshots(State):
    """The part of a planner that copies and restores it; see :class:`Planner`."""

    __slots__ = ()

    def clone(self) -> Self:
        """An independent copy that shares the topology alone; O(leaves).

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> bool(planner.clone().place("what if", Gang(4))), planner.jobs()
        (True, [])
        """
        with self._inside:
            other = object.__new__(type(self))
            self._copy_to(other)
            return other

    def accept(self, clone: Self) -> None:
        """Take over the state of a clone, which is given up: what it did is done.

        Parameters
        ----------
        clone
            Of this planner by :meth:`clone`, changed since; what this planner did
            meanwhile is lost. Afterwards every call of the clone is refused.

        Raises
        ------
        InvalidRequest
            If it is no other planner on the same topology, type, spares and alignment.
        ConcurrentUse
            If it was accepted before, or another call is inside either.

        Notes
        -----
        O(1).

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> tried = planner.clone()
        >>> _ = tried.place("a", Gang(2)), planner.accept(tried)
        >>> planner.jobs()
        ['a']
        """
        if type(clone) is not type(self) or clone is self:
            raise InvalidRequest(f"accept: clone {clone!r}: a clone of this planner")
        with self._inside:
            if clone._frame is not self._frame:
                raise InvalidRequest("accept: clone: it is of another planner")
            try:
                clone._turn.pop()  # and never given back: the core has one owner
            except IndexError:
                raise in_use() from None
            self._take_over(clone)

    def save(self) -> bytes:
        """The whole state as bytes for :meth:`load`.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> topology = Topology.from_spec("host:2 gpu:2")
        >>> planner = Planner(topology)
        >>> _ = planner.place("a", Gang(2))
        >>> Planner.load(topology, planner.save()).jobs()
        ['a']
        """
        with self._inside:
            core = native.save(self._core)
            text = json.dumps(self._tables(), sort_keys=True, separators=(",", ":"))
        tables = text.encode("ascii")
        body = HEAD.pack(MAGIC, VERSION, len(tables), len(core)) + tables + core
        return body + CHECKSUM.pack(zlib.crc32(body))

    def _tables(self) -> dict[str, Any]:
        frame = self._frame
        jobs = []
        for job, entry in self._jobs.items():
            row: list[Any] = [job, entry._slot, _gang_fields(entry.gang)]
            if entry._limits is not None:
                row.append(_packed_rows(entry._limits.given))
            jobs.append(row)
        fence = sorted(self._fenced_leaves().items())
        more: dict[str, Any] = {}
        outside = self._outside.to_table()
        if outside is not None:
            outside["handles"] = [
                [handle, entry._slot, _gang_fields(entry.gang)]
                for handle, entry in self._outside.handles.items()
            ]
            more["outside"] = outside
        return more | {
            "alignment": frame.alignment,
            "fence": [[at, isinstance(who, Handle), who] for at, who in fence],
            "jobs": jobs,
            "spares": frame.spares_levels,
            "topology": frame.topology.fingerprint.hex(),
            "type": frame.type,
        }

    @classmethod
    def load(cls, topology: Topology, data: bytes) -> Self:
        """A planner as it was saved.

        Parameters
        ----------
        topology
            The same cluster as when it was saved; after a :meth:`sync`, the topology
            that was given to it or ``planner.topology``.
        data
            Bytes of :meth:`save`.

        Raises
        ------
        SaveError
            If the bytes are damaged, foreign, of another version or another topology.
        """
        if not isinstance(topology, Topology):
            raise InvalidRequest(f"topology {topology!r}: a Topology")
        tables, saved = _opened(data)
        topology = _with_kept(topology, tables)
        if tables.get("topology") != topology.fingerprint.hex():
            raise SaveError(
                f"save: made for topology {tables.get('topology')}, not for "
                f"{topology.describe()!r} ({topology.fingerprint.hex()})"
            )
        try:
            frame = _frame(topology, tables)
            other = object.__new__(cls)
            other._start(frame, native.load(frame.core_tree, saved))
            other._read(tables)
            if "outside" in tables:
                other._read_outside(tables["outside"])
            other._check_tables()
        except SaveError:
            raise
        except (PhalanxError, KeyError, TypeError, ValueError, IndexError) as error:
            raise SaveError(f"save: the tables do not fit together: {error}") from error
        return other

    def _read(self, tables: dict[str, Any]) -> None:
        for job, slot, fields, *rows in tables["jobs"]:
            key, gang = checked_job(job), _gang(fields)
            self._frame.compile(gang, self._core)
            limits = None
            if rows:
                given = {int(level): row for level, row in _rows(rows[0]).items()}
                limits = VertexLimits(self._frame, given)
            self._jobs[key] = Moved(slot, gang, limits)
            if not 0 <= slot < self._frame.leaf_count:
                raise SaveError(f"save: job {key!r} has slot {slot}")
            self._set_name(slot, key)
        for at, anonymous, who in tables["fence"]:
            self._fence[at] = Handle(who) if anonymous else checked_job(who)
        states = native.leaf_states(self._core, 0, self._frame.leaf_count)
        held = states & 3 == lib.PHX_JOB
        down = held & ((states >> 2) & 3 == lib.PHX_DOWN)
        self._hit = dict.fromkeys((states[down] >> 8).tolist())

    def _read_outside(self, table: dict[str, Any]) -> None:
        outside = self._outside
        outside.read(table)
        marked = [*outside.barred, *outside.shut]
        if marked and not 0 <= min(marked) <= max(marked) < self._frame.leaf_count:
            raise SaveError(f"save: no leaf at one of the positions {marked}")
        for handle, slot, fields in table["handles"]:
            gang = _gang(fields)
            self._frame.compile(gang, self._core)
            if not 0 <= slot < self._frame.leaf_count:
                raise SaveError(f"save: handle {handle} has slot {slot}")
            outside.handles[int(handle)] = Moved(slot, gang)
            self._set_name(slot, Handle(handle))

    def validate(self) -> None:
        """Recompute every invariant, of the core and of the tables beside it.

        Raises
        ------
        InvariantBroken
            If one does not hold: a bug.
        """
        with self._inside:
            native.validate(self._core)
            self._check_tables()


def _opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The two parts of a save whose length and checksum are right."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise SaveError(f"save: {type(data).__name__} is not bytes")
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise SaveError(f"save: begins with {data[:8]!r}; not a saved planner")
    if len(data) < HEAD.size + CHECKSUM.size:
        raise SaveError(f"save: {len(data)} bytes; the end is missing")
    _, version, table_size, core_size = HEAD.unpack_from(data)
    if version != VERSION:
        raise SaveError(f"save: version {version}; this library reads {VERSION}")
    size = HEAD.size + table_size + core_size + CHECKSUM.size
    if len(data) != size:
        raise SaveError(f"save: {len(data)} bytes; its header says {size}")
    body = data[: -CHECKSUM.size]
    (checksum,) = CHECKSUM.unpack(data[-CHECKSUM.size :])
    if zlib.crc32(body) != checksum:
        raise SaveError(f"save: checksum {zlib.crc32(body):08x}, not {checksum:08x}")
    start = HEAD.size + table_size
    try:
        tables = json.loads(body[HEAD.size : start])
    except ValueError as error:
        raise SaveError(f"save: the tables are no JSON: {error}") from error
    if not isinstance(tables, dict):
        raise SaveError(f"save: the tables are a {type(tables).__name__}")
    return tables, body[start:]


def _with_kept(topology: Topology, tables: dict[str, Any]) -> Topology:
    """The topology a planner had that was synced with this one, if it was."""
    table = tables.get("outside")
    if not isinstance(table, dict) or table.get("base") != topology.fingerprint.hex():
        return topology
    try:
        kept = [kept_leaf(row) for row in table["kept"]]
        return with_kept(topology, kept, tables["type"])
    except (PhalanxError, KeyError, TypeError, ValueError) as error:
        raise SaveError(f"save: the tables do not fit together: {error}") from error


def _frame(topology: Topology, tables: dict[str, Any]) -> Frame:
    levels = tables["spares"]
    spares = None if levels is None else Spares(*levels)
    return Frame(topology, tables["type"], spares, tables["alignment"])


def _gang_fields(gang: Gang) -> dict[str, Any]:
    fields = gang.full.to_dict()
    if gang.full.ranks != gang.ranks:
        fields["template"] = gang.ranks
    if gang.limits is not None:
        # A pair a level: in JSON an index as a key would come back as a text.
        fields["limits"] = [
            [level, _packed_row(row)] for level, row in gang.limits.items()
        ]
    if gang.parts:
        fields["parts"] = [_gang_fields(part) for part in gang.parts]
    return fields


def _gang(fields: dict[str, Any]) -> Gang:
    rows = fields.pop("limits", None)
    limits = None if rows is None else {level: _row(text) for level, text in rows}
    parts = [_gang(part) for part in fields.pop("parts", ())]
    template = fields.pop("template", None)
    gang = Gang(**fields, limits=limits, parts=parts)
    return gang if template is None else gang.at(template)


def _packed_rows(rows: Mapping[int, IntArray]) -> dict[str, str]:
    return {str(level): _packed_row(row) for level, row in rows.items()}


def _rows(texts: dict[str, str]) -> dict[str, IntArray]:
    return {level: _row(text) for level, text in texts.items()}


def _packed_row(row: IntArray) -> str:
    return base64.b64encode(row.astype("<i4").tobytes()).decode("ascii")


def _row(text: str) -> IntArray:
    row = np.frombuffer(base64.b64decode(text, validate=True), "<i4").astype(np.int32)
    if row.size and row.min() < 0:
        raise SaveError(f"save: a limit of {row.min()}")
    row.setflags(write=False)
    return row
