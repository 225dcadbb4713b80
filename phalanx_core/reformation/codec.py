"""Keys and values of the protocol's records in a store: the one place that writes them.

========================================  ==============================================
key, after ``phalanx/``                   value
========================================  ==============================================
``layout``                                hosts and radices, written once
``host/H``                                incarnation by which host H is live
``down/P``                                H died since; P = path of its first leaf
``suspect/P``                             why there is a verdict against H
``lost/J/H``                              job J owned leaves of H when H died
``alloc/P``                               :class:`Holding`: the block's owner, or fence
``epoch/J``                               :class:`EpochRecord` of job J
``seal/J/U/E/S``                          :class:`Manifest` of step S, epoch E, uid U
``loaded/J``                              uid and epoch whose workers have all loaded
``heartbeat/H``                           written by H under a lease; not by engines
``leader``                                name of the engine that leads, under a lease
``owners``, ``repairs``                   written with every change of an owner, and with
                                          every death that broke a job; compared alone
``log``                                   the last transition, which the history reads
========================================  ==============================================

H and J are names with ``/`` and all but plain characters quoted by %; paths P are those of
:class:`~phalanx_core.reformation.layout.Layout`; U and E have ten digits and S twenty, so
that the order of keys is that of (epoch, step). A host's incarnation is the create revision
of its heartbeat: never used twice, and known to whoever compares.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from phalanx_core.errors import SaveError
from phalanx_core.reformation.records import Cause, Phase

if TYPE_CHECKING:
    from phalanx_core.reformation.layout import Layout

ROOT = b"phalanx/"
LAYOUT, LEADER, LOG = ROOT + b"layout", ROOT + b"leader", ROOT + b"log"
OWNERS, REPAIRS = ROOT + b"owners", ROOT + b"repairs"
# One for all, since making one costs more than it does.
ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
VERSION = 1
"""Of the records; an engine leaves a store alone whose records are of a later one."""


class EpochRecord(NamedTuple):
    """What a store knows of a job beside its leaves and manifests.

    Attributes
    ----------
    uid, epoch
        The token of its workers.
    phase, cause
        Where it stands; Commit is no phase of a store (F9).
    base
        Epoch and step of the manifest it loads or loaded, None where none is chosen.
    nonce
        Of the transaction that wrote this: its sender knows it again.
    ranks
        Its leaves, in the order of its ranks.
    request
        What it asked for, a text of the embedder's.
    """

    uid: int
    epoch: int
    phase: Phase
    cause: Cause
    base: tuple[int, int] | None
    nonce: str
    ranks: tuple[int, ...]
    request: str


class Holding(NamedTuple):
    """Who holds a block: an owner, or who gave it up and may still run there.

    Attributes
    ----------
    job, uid, epoch
        Token of the owner, of a fence that of the last owner.
    fenced
        Whether it is a fence.
    """

    job: str
    uid: int
    epoch: int
    fenced: bool = False


class Manifest(NamedTuple):
    """A sealed checkpoint.

    Attributes
    ----------
    parent
        Epoch and step of the manifest that the epoch went on from, None of the first.
    content
        A text of the embedder's: where the shards are.
    nonce
        Of the transaction that sealed it.
    lost
        Whether it can no longer be read. The record stays, so that a late copy of the
        seal does not bring it back.
    """

    parent: tuple[int, int] | None
    content: str
    nonce: str
    lost: bool = False


def name_part(name: str) -> bytes:
    """A name as a part of a key.

    Examples
    --------
    >>> name_part("team a/llama")
    b'team%20a%2Fllama'
    """
    return quote(name, safe="").encode()


@lru_cache(maxsize=65536)
def key(family: str, *parts: str) -> bytes:
    """Key of a record whose parts are names or paths.

    Examples
    --------
    >>> key("lost", "a/b", "h1"), key("alloc", "01")
    (b'phalanx/lost/a%2Fb/h1', b'phalanx/alloc/01')
    """
    return ROOT + b"/".join((family.encode(), *map(name_part, parts)))


@lru_cache(maxsize=65536)
def prefix(family: str, *parts: str) -> bytes:
    """What the keys of all records below begin with."""
    return key(family, *parts) + b"/"


@lru_cache(maxsize=65536)
def seal_key(job: str, uid: int, epoch: int, step: int) -> bytes:
    """Key of a manifest.

    Examples
    --------
    >>> seal_key("a", 1, 2, 30)
    b'phalanx/seal/a/0000000001/0000000002/00000000000000000030'
    """
    return key("seal", job, f"{uid:010}", f"{epoch:010}", f"{step:020}")


@lru_cache(maxsize=65536)
def parts_of(found: bytes) -> tuple[str, tuple[str, ...]]:
    """Family and parts of a key; the inverse of :func:`key`.

    Examples
    --------
    >>> parts_of(key("lost", "a/b", "h1"))
    ('lost', ('a/b', 'h1'))
    """
    family, *parts = map(unquote, found[len(ROOT) :].decode().split("/"))
    return family, tuple(parts)


def packed(value: Any) -> bytes:
    """A value as JSON: equal bytes for equal values."""
    return ENCODER.encode(value).encode()


@lru_cache(maxsize=16)
def layout_bytes(layout: Layout) -> bytes:
    """A layout's value; remembered, since every observation compares it."""
    return packed({**layout.to_dict(), "v": VERSION})


def unpacked(data: bytes, what: str) -> Any:
    """The value of :func:`packed` bytes.

    Raises
    ------
    SaveError
        If they are damaged, or of a later version.
    """
    try:
        value = json.loads(data)
    except ValueError as error:
        raise SaveError(f"{what}: {error}") from error
    if isinstance(value, dict) and value.get("v", VERSION) != VERSION:
        raise SaveError(
            f"{what} is of version {value['v']!r}: this engine knows {VERSION}"
        )
    return value


def runs_of(ranks: tuple[int, ...]) -> list[list[int]]:
    """Ranks' leaves as [first leaf, how many follow one another].

    Examples
    --------
    >>> runs_of((4, 5, 6, 1))
    [[4, 3], [1, 1]]
    """
    runs: list[list[int]] = []
    for leaf in ranks:
        if runs and leaf == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([leaf, 1])
    return runs


def epoch_bytes(record: EpochRecord) -> bytes:
    """An epoch record's value."""
    return packed(
        {
            **record._asdict(),
            "v": VERSION,
            "phase": record.phase.name,
            "cause": record.cause.name,
            "ranks": runs_of(record.ranks),
        }
    )


@lru_cache(maxsize=4096)
def epoch_of(data: bytes) -> EpochRecord:
    """The epoch record of a value.

    Raises
    ------
    SaveError
        If it is damaged or of a later version.
    """
    value = unpacked(data, "an epoch record")
    try:
        return EpochRecord(
            int(value["uid"]),
            int(value["epoch"]),
            Phase[value["phase"]],
            Cause[value["cause"]],
            None if value["base"] is None else (value["base"][0], value["base"][1]),
            str(value["nonce"]),
            tuple(f + at for f, count in value["ranks"] for at in range(count)),
            str(value["request"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise SaveError(f"an epoch record: {error!r}") from error


@lru_cache(maxsize=4096)
def holding_bytes(holding: Holding) -> bytes:
    """A holding's value."""
    return packed({**holding._asdict(), "v": VERSION})


@lru_cache(maxsize=4096)
def holding_of(data: bytes) -> Holding:
    """The holding of a value.

    Raises
    ------
    SaveError
        If it is damaged or of a later version.
    """
    value = unpacked(data, "an alloc record")
    try:
        return Holding(value["job"], value["uid"], value["epoch"], value["fenced"])
    except (KeyError, TypeError) as error:
        raise SaveError(f"an alloc record: {error!r}") from error


def manifest_bytes(manifest: Manifest) -> bytes:
    """A manifest's value."""
    return packed({**manifest._asdict(), "v": VERSION})


@lru_cache(maxsize=4096)
def manifest_of(data: bytes) -> Manifest:
    """The manifest of a value.

    Raises
    ------
    SaveError
        If it is damaged or of a later version.
    """
    value = unpacked(data, "a manifest")
    try:
        parent = value["parent"]
        return Manifest(
            None if parent is None else (parent[0], parent[1]),
            value["content"],
            value["nonce"],
            value["lost"],
        )
    except (KeyError, TypeError, IndexError) as error:
        raise SaveError(f"a manifest: {error!r}") from error
