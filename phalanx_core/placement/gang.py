"""``Gang``: what must be placed together, and under which constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise, starmap
from operator import index
from typing import Any, NoReturn

import numpy as np

from phalanx_core.checks import shown
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.limits import IntArray, Limits, copied

AIMS = ("near", "fill")
RULES = ("smallest", "fullest", "lowest")
RANKS_MAX = 2**31 - 1

_FIELDS = (
    "ranks",
    "group",
    "group_level",
    "slices",
    "within",
    "prefer",
    "aim",
    "balanced",
    "limits",
    "templates",
    "rule",
    "parts",
)
# What a part leaves to the whole gang.
_WHOLE_ONLY = ("prefer", "aim", "templates", "rule", "parts")
# What a gang of parts may have beside them.
_BESIDE_PARTS = ("ranks", "within", "prefer", "limits", "parts")

Slice = tuple[int, str | int]


class Gang:
    """Ranks that are placed together or not at all; immutable.

    Parameters
    ----------
    ranks
        Leaves wanted, 1 to 2**31 - 1. A number that can never fit is refused by a
        Misfit. Left out for a gang of parts.
    group
        Every so many consecutive ranks share one domain of ``group_level`` (a
        tensor-parallel group); divides ``ranks``.
    group_level
        Level by name or index; by default the NVLink level if the topology names one,
        else the level above the leaf, and never above ``within``.
    slices
        Pairs (size, level), innermost first: every run of so many consecutive ranks
        shares one domain of that level, as every group does. Each size is a multiple of
        the one before, ``ranks`` of the last; levels do not fall.
    within
        Level of one domain that must hold all ranks; None: any tree.
    prefer
        Level where the search starts, at or below ``within``.
    aim
        "near": the ranks talk, so distance counts. "fill": they do not, so each
        outermost slice, else group, takes the smallest block that holds it.
    balanced
        Level whose domains share the ranks evenly, over as few of them as hold them;
        where an even share does not fit, the rest is spread over the larger ones. A
        preference: never decides whether, or at which level, the gang fits.
    limits
        Level to int array, shape (domains of the level,): at most so many leaves of
        this gang in each domain; 0 excludes it. Copied.
    templates
        Smaller numbers of ranks that will do, falling, each whole slices (else groups):
        what is placed where ``ranks`` do not fit, and what a repair may shrink to.
    rule
        Which of the domains that fit: "smallest" (sufficient block), "fullest" or
        "lowest" (address). Never decides whether the gang fits.
    parts
        Roles that are placed together under one domain, all or nothing: gangs (or their
        parameters as mappings), ranks numbered part after part. A part has its own
        ``ranks``, ``group``, ``group_level``, ``slices``, ``within``, ``balanced`` and
        ``limits`` (on its leaves alone); the whole has ``within``, ``prefer`` and
        ``limits`` (on all leaves together).

    Raises
    ------
    InvalidRequest
        If a size is not above 0 or does not divide, or a word is unknown. Levels are
        checked by the planner, which knows them.

    Examples
    --------
    >>> Gang(16, group=8, within="pod")
    Gang(16, group=8, within='pod')
    >>> served = Gang(parts=(Gang(8, group=8), Gang(24, group=4)), within="rack")
    >>> served.ranks, served.part_ranks
    (32, (range(0, 8), range(8, 32)))
    """

    __slots__ = ("_compiled", "_plain", "_sizes", *_FIELDS)

    ranks: int
    group: int
    group_level: str | int | None
    within: str | int | None
    prefer: str | int | None
    aim: str
    balanced: str | int | None
    limits: Mapping[str | int, IntArray] | None
    rule: str
    slices: tuple[Slice, ...]
    templates: tuple[int, ...]
    parts: tuple[Gang, ...]
    _sizes: tuple[int, ...]  # all it may have, this one among them, falling
    # (frame, request, limits) of the planner that used this gang last; of a gang
    # without limits or slices for the hot path (frame, request's address, request).
    _compiled: tuple[Any, Any, Any]
    _plain: tuple[Any, int, Any]

    def __init__(
        self,
        ranks: int | None = None,
        group: int = 1,
        group_level: str | int | None = None,
        slices: Iterable[Slice] = (),
        within: str | int | None = None,
        prefer: str | int | None = None,
        *,
        aim: str = "near",
        balanced: str | int | None = None,
        limits: Limits | None = None,
        templates: Iterable[int] = (),
        rule: str = "smallest",
        parts: Iterable[Gang | Mapping[str, Any]] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "parts", _parts(parts))
        if self.parts and ranks is None:
            ranks = sum(part.ranks for part in self.parts)
        put(self, "ranks", _size("ranks", ranks))
        put(self, "group", _size("group", group))
        put(self, "group_level", _level("group_level", group_level))
        put(self, "slices", _slices(slices, self.group))
        put(self, "within", _level("within", within))
        put(self, "prefer", _level("prefer", prefer))
        put(self, "aim", _word("aim", aim, AIMS))
        put(self, "balanced", _level("balanced", balanced))
        put(self, "limits", None if limits is None else copied(limits))
        put(self, "rule", _word("rule", rule, RULES))
        put(self, "_compiled", (None, None, None))
        put(self, "_plain", (None, 0, None))
        name = f"{'slice' if self.slices else 'group'} {self.outermost}"
        if self.ranks % self.outermost:
            raise InvalidRequest(f"ranks {self.ranks}: not a multiple of {name}")
        put(self, "templates", _templates(templates, self.ranks, self.outermost, name))
        put(self, "_sizes", (self.ranks, *self.templates))
        if self.balanced is not None and self.aim == "fill":
            raise InvalidRequest("balanced: aim 'fill' places each part on its own")
        if self.parts:
            self._check_whole()

    def _check_whole(self) -> None:
        ranks = sum(part.ranks for part in self.parts)
        if self.ranks != ranks:
            raise InvalidRequest(f"ranks {self.ranks}: the parts have {ranks} in all")
        for name in _FIELDS:
            if name not in _BESIDE_PARTS and getattr(self, name) != _DEFAULTS[name]:
                rule = (
                    "not for a gang of parts"
                    if name in _WHOLE_ONLY
                    else "beside parts, each has its own"
                )
                raise InvalidRequest(f"{name} {getattr(self, name)!r}: {rule}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Gang.{name} cannot be set: a gang is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Gang.{name} cannot be deleted: a gang is immutable")

    @property
    def outermost(self) -> int:
        """Ranks of one of its largest slices, else groups: what it consists of."""
        return self.slices[-1][0] if self.slices else self.group

    @property
    def part_ranks(self) -> tuple[range, ...]:
        """Ranks of each part; all of them where it has no parts."""
        ends = list(accumulate(part.ranks for part in self.parts)) or [self.ranks]
        return tuple(starmap(range, pairwise([0, *ends])))

    @property
    def full(self) -> Gang:
        """The gang at the size that was asked for, whichever this one is at."""
        return self.at(self._sizes[0])

    @property
    def at_this_size(self) -> Gang:
        """The gang without its other sizes, with which it might fit as it is."""
        if len(self._sizes) == 1:
            return self
        fields = self.to_dict()
        fields.pop("templates", None)
        return Gang(**fields)

    def at(self, ranks: int) -> Gang:
        """The same gang at another of its sizes.

        Raises
        ------
        InvalidRequest
            If it has no such size.

        Examples
        --------
        >>> gang = Gang(64, group=8, templates=(48, 32))
        >>> gang.at(48).ranks, gang.at(48).templates, gang.at(48).full == gang
        (48, (32,), True)
        """
        ranks = _size("ranks", ranks)
        if ranks == self.ranks:
            return self
        if ranks not in self._sizes:
            sizes = ", ".join(map(str, self._sizes))
            raise InvalidRequest(f"ranks {shown(ranks)}: {self!r} has sizes {sizes}")
        fields = {name: getattr(self, name) for name in _FIELDS}
        fields["ranks"] = ranks
        fields["templates"] = tuple(size for size in self._sizes if size < ranks)
        made = Gang(**fields)
        object.__setattr__(made, "_sizes", self._sizes)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Its parameters that differ from the defaults, as JSON values.

        Examples
        --------
        >>> Gang(8, within="rack", limits={"host": [4, 0]}).to_dict()
        {'ranks': 8, 'within': 'rack', 'limits': {'host': [4, 0]}}
        >>> Gang(parts=(Gang(2), Gang(4, group=2))).to_dict()
        {'parts': [{'ranks': 2}, {'ranks': 4, 'group': 2}]}
        """
        told: dict[str, Any] = {} if self.parts else {"ranks": self.ranks}
        for name in _FIELDS[1:]:
            value = getattr(self, name)
            if value != _DEFAULTS[name]:
                told[name] = value
        if self.parts:
            told["parts"] = [part.to_dict() for part in self.parts]
        if self.slices:
            told["slices"] = [list(one) for one in self.slices]
        if self.templates:
            told["templates"] = list(self.templates)
        if self.limits is not None:
            told["limits"] = {key: row.tolist() for key, row in self.limits.items()}
        return told

    def _key(self) -> tuple[Any, ...]:
        rows = None
        if self.limits is not None:
            rows = frozenset((key, row.tobytes()) for key, row in self.limits.items())
        fields = (getattr(self, name) for name in _FIELDS if name != "limits")
        return (*fields, self._sizes, rows)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if type(other) is Gang else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.full.to_dict(), self.ranks)

    def __repr__(self) -> str:
        told = self.to_dict()
        if self.parts:
            told["parts"] = self.parts
        words = [f"{name}={value!r}" for name, value in told.items() if name != "ranks"]
        first = [] if self.parts else [str(self.ranks)]
        return f"Gang({', '.join([*first, *words])})"


_DEFAULTS: dict[str, Any] = {
    "group": 1,
    "group_level": None,
    "slices": (),
    "within": None,
    "prefer": None,
    "aim": "near",
    "balanced": None,
    "limits": None,
    "templates": (),
    "rule": "smallest",
    "parts": (),
}


def _parts(parts: Any) -> tuple[Gang, ...]:
    if isinstance(parts, (str, bytes, Mapping, Gang)) or not isinstance(
        parts, Iterable
    ):
        raise InvalidRequest(f"parts {parts!r}: gangs that are placed together")
    return tuple(_part(f"parts[{at}]", part) for at, part in enumerate(parts))


def _part(name: str, part: Any) -> Gang:
    if isinstance(part, Mapping):
        try:
            part = Gang(**part)
        except (TypeError, InvalidRequest) as error:
            raise InvalidRequest(f"{name} {dict(part)!r}: {error}") from None
    if not isinstance(part, Gang):
        raise InvalidRequest(f"{name} {part!r}: a Gang")
    for field in _WHOLE_ONLY:
        if getattr(part, field) != _DEFAULTS[field]:
            raise InvalidRequest(
                f"{name} {field} {getattr(part, field)!r}: not for a part of a gang"
            )
    return part


def _made(fields: dict[str, Any], ranks: int) -> Gang:
    return Gang(**fields).at(ranks)


def _size(name: str, value: Any) -> int:
    try:
        size = index(value)
    except TypeError:
        size = -1
    if size < 0 or isinstance(value, (bool, np.bool_)):
        raise InvalidRequest(f"{name} {shown(value)}: a whole number of at least 1")
    if not 1 <= size <= RANKS_MAX:
        raise InvalidRequest(f"{name} {shown(value)}: between 1 and {RANKS_MAX}")
    return size


def _slices(slices: Any, group: int) -> tuple[Slice, ...]:
    if isinstance(slices, (str, bytes)) or not isinstance(slices, Iterable):
        raise InvalidRequest(f"slices {slices!r}: pairs (size, level), innermost first")
    made: list[Slice] = []
    size = group
    for at, one in enumerate(slices):
        name = f"slices[{at}]"
        if isinstance(one, (str, bytes)) or not isinstance(one, Sequence):
            raise InvalidRequest(f"{name} {one!r}: a pair (size, level)")
        if len(one) != 2 or one[1] is None:
            raise InvalidRequest(f"{name} {one!r}: a pair (size, level)")
        inner, size = size, _size(name, one[0])
        if size % inner:
            within = f"slice {inner}" if at else f"group {inner}"
            raise InvalidRequest(f"{name} of {size} ranks: not a multiple of {within}")
        made.append((size, _level(f"{name} level", one[1]) or 0))
    return tuple(made)


def _templates(
    templates: Any, ranks: int, outermost: int, name: str
) -> tuple[int, ...]:
    if isinstance(templates, (str, bytes)) or not isinstance(templates, Iterable):
        raise InvalidRequest(f"templates {templates!r}: falling numbers of ranks")
    made: list[int] = []
    for at, one in enumerate(templates):
        size = _size(f"templates[{at}]", one)
        if size >= (made[-1] if made else ranks):
            raise InvalidRequest(f"templates[{at}] {size}: not below the one before")
        if size % outermost:
            raise InvalidRequest(f"templates[{at}] {size}: not a multiple of {name}")
        made.append(size)
    return tuple(made)


def _level(name: str, value: Any) -> str | int | None:
    if value is None or isinstance(value, str):
        return value
    try:
        level = index(value)
    except TypeError:
        level = -1
    if level < 0 or isinstance(value, bool):
        raise InvalidRequest(f"{name} {shown(value)}: a level's name or index")
    return level


def _word(name: str, value: Any, known: tuple[str, ...]) -> str:
    if not (isinstance(value, str) and value in known):
        raise InvalidRequest(f"{name} {value!r}: one of {', '.join(known)}")
    return value
