"""``Layout``: leaves as bits of a mask, as leaves of hosts, and as aligned blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Layout:
    """Which leaves there are, on which hosts, and into which blocks they group.

    A block is all leaves whose numbers begin with the same digits, written in mixed
    radices: its *path* is those digits, one character each. The path of a block that
    holds another is a proper prefix of the other's; the empty path is every leaf.

    Parameters
    ----------
    hosts
        Name and number of leaves of each host, in the order of the leaves.
    radices
        Of the digits, the first one's first, each 2 to 36; their product is at least the
        number of leaves. None = as many twos as it takes.

    Raises
    ------
    InvalidRequest
        If there is no host, a name is empty or comes twice, a host has no leaf, or the
        radices do not do.

    Attributes
    ----------
    hosts
        Names, in order.
    leaves
        How many there are.
    mask, cover, hosts_of
        Functions: the mask of a block's path, the paths of the fewest blocks that make up a
        mask, and the hosts that have a leaf in a mask, all in order and remembered.

    Notes
    -----
    Fewer, larger radices make fewer blocks around each block, which a commit compares one
    by one; more, smaller ones let larger gangs be one block, and cut fewer pieces where a
    host leaves one: of 32 hosts 5 with twos, 31 with a radix of 32. A gang is repaired as
    long as its pieces fit into a transaction, so twos are best where a store takes few.

    Examples
    --------
    >>> layout = Layout([("h0", 2), ("h1", 2), ("h2", 2), ("h3", 2)])
    >>> layout.cover(0b00111111)
    ('0', '10')
    >>> bin(layout.mask("10")), layout.hosts_of(0b00110100)
    ('0b110000', ('h1', 'h2'))
    """

    def __init__(
        self,
        hosts: Sequence[tuple[str, int]],
        radices: Sequence[int] | None = None,
    ) -> None:
        if not hosts:
            raise InvalidRequest("hosts is empty: a layout has at least one")
        first = 0
        self._masks: dict[str, int] = {}
        self._firsts: dict[str, int] = {}
        self._host_at: list[str] = []
        for name, count in hosts:
            count = _checked(name, count, self._masks)
            self._masks[name] = ((1 << count) - 1) << first
            self._firsts[name] = first
            self._host_at += [name] * count
            first += count
        self.hosts = tuple(self._masks)
        self.hosts_set = frozenset(self.hosts)
        self.leaves = first
        self.radices = _radices(radices, first)
        # Leaves of a block with so many digits.
        self._sizes = [
            prod(self.radices[digits:]) for digits in range(len(self.radices) + 1)
        ]
        # Whoever reads a store meets the same blocks and sets again and again.
        self.mask = lru_cache(maxsize=65536)(self._mask)
        self.cover = lru_cache(maxsize=4096)(self._cover)
        self.hosts_of = lru_cache(maxsize=4096)(self._hosts_of)
        self._first_paths = {h: self.path_of(f) for h, f in self._firsts.items()}
        self._host_by_path = {path: h for h, path in self._first_paths.items()}

    def to_dict(self) -> dict[str, Any]:
        """Its hosts and radices as JSON takes them; equal for equal layouts."""
        hosts = [[h, self._masks[h].bit_count()] for h in self.hosts]
        return {"hosts": hosts, "radices": list(self.radices)}

    def path_of(self, leaf: int) -> str:
        """Path of the block that is one leaf."""
        digits = []
        for at in range(len(self.radices)):
            value, leaf = divmod(leaf, self._sizes[at + 1])
            digits.append(DIGITS[value])
        return "".join(digits)

    def host_mask(self, host: str) -> int:
        """Mask of a host's leaves.

        Raises
        ------
        InvalidRequest
            If there is no such host.
        """
        try:
            return self._masks[host]
        except KeyError:
            raise InvalidRequest(f"host {host!r}: the layout has none") from None

    def host_path(self, host: str) -> str:
        """Path of a host's first leaf, by which records of hosts are kept."""
        return self._first_paths[host]

    def host_at(self, path: str) -> str:
        """The host whose first leaf has this path.

        Raises
        ------
        InvalidRequest
            If none has.
        """
        try:
            return self._host_by_path[path]
        except KeyError:
            raise InvalidRequest(f"path {path!r}: no host begins there") from None

    def begins_in(self, host: str, mask: int) -> bool:
        """Whether a host's first leaf lies in a mask."""
        return mask >> self._firsts[host] & 1 == 1

    def around(self, path: str) -> Iterator[str]:
        """Paths of the blocks that hold this one, the whole first."""
        return (path[:digits] for digits in range(len(path)))

    def _mask(self, path: str) -> int:
        """Mask of a block's leaves; places of the last block that are no leaf are set too.

        Raises
        ------
        InvalidRequest
            If a digit is none of its radix.
        """
        first = 0
        for at, digit in enumerate(path):
            value = DIGITS.find(digit)
            if at >= len(self.radices) or not 0 <= value < self.radices[at]:
                raise InvalidRequest(f"path {path!r}: digit {at} is none of the layout")
            first += value * self._sizes[at + 1]
        return ((1 << self._sizes[len(path)]) - 1) << first

    def _hosts_of(self, mask: int) -> tuple[str, ...]:
        """Hosts with a leaf in a mask, in order; O(hosts found + bits skipped)."""
        if mask >> self.leaves:
            raise InvalidRequest(f"leaves {mask:#x}: the layout has {self.leaves}")
        found = []
        while mask:
            host = self._host_at[(mask & -mask).bit_length() - 1]
            found.append(host)
            mask &= ~self._masks[host]
        return tuple(found)

    def _cover(self, mask: int) -> tuple[str, ...]:
        """Paths of the fewest blocks that make up a mask, in order; equal for equal masks.

        Places beyond the last leaf count as in the mask if the leaves before them are, so
        that all leaves are one block.
        """
        if mask < 0 or mask >> self.leaves:
            raise InvalidRequest(f"leaves {mask:#x}: the layout has {self.leaves}")
        found: list[str] = []
        stack = [("", 0, mask)] if mask else []
        while stack:
            path, first, within = stack.pop()
            size = self._sizes[len(path)]
            there = min(size, self.leaves - first)
            if within == (1 << there) - 1:
                found.append(path)
                continue
            part = self._sizes[len(path) + 1]
            full = (1 << part) - 1
            for digit in reversed(range(self.radices[len(path)])):
                if inside := within >> (digit * part) & full:
                    stack.append((path + DIGITS[digit], first + digit * part, inside))
        return tuple(found)


def _checked(name: Any, count: Any, known: dict[str, int]) -> int:
    """Leaves of a host, or InvalidRequest."""
    if not isinstance(name, str) or not name:
        raise InvalidRequest(f"host {name!r}: a name is a text with a character")
    if name in known:
        raise InvalidRequest(f"host {name!r} comes twice")
    if not is_whole(count) or count < 1:
        raise InvalidRequest(f"host {name!r} has {count!r} leaves: at least 1")
    return int(count)


def _radices(given: Sequence[int] | None, leaves: int) -> tuple[int, ...]:
    if given is None:
        return (2,) * (leaves - 1).bit_length()
    for radix in given:
        if not is_whole(radix) or not 2 <= radix <= len(DIGITS):
            raise InvalidRequest(f"radix {radix!r}: 2 to {len(DIGITS)}")
    if prod(given) < leaves:
        raise InvalidRequest(f"radices {tuple(given)}: too few for {leaves} leaves")
    return tuple(int(radix) for radix in given)
