"""Readers of foreign cluster formats; a new format is one more entry of ``READERS``.

A reader is a module's ``READER``: it claims the documents it knows by their content
and adds hosts, GPUs and domains to the :class:`Inventory`, which compiles them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

from phalanx_core.errors import InvalidRequest, TopologyError
from phalanx_core.topology.readers import (
    device_taint_rules,
    hived_config,
    hyper_nodes,
    kai_topology,
    kubernetes_nodes,
    kueue_topology,
    resource_slices,
    slurm_conf,
    tables,
    topograph_graph,
    topograph_model,
)
from phalanx_core.topology.readers.documents import Document, load, shown
from phalanx_core.topology.readers.inventory import Inventory, Options, Reader, Texts
from phalanx_core.topology.readers.other_kinds import why_not_read
from phalanx_core.topology.readers.sources import Progress
from phalanx_core.topology.topology import Topology

READERS: tuple[Reader, ...] = (
    kubernetes_nodes.READER,
    kueue_topology.READER,
    kai_topology.READER,
    device_taint_rules.READER,
    resource_slices.READER,
    hyper_nodes.READER,
    slurm_conf.READER,
    topograph_model.READER,
    topograph_graph.READER,
    hived_config.READER,
    tables.READER,
)


def read_topology(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    gpus_per_host: int | None = None,
    label_keys: Sequence[str] | None = None,
    topology: str | None = None,
    tolerate: Sequence[str] = (),
    progress: Progress | None = None,
) -> Topology:
    """Compile files of any known format to one topology; see ``Topology.read``."""
    keys = None if label_keys is None else _keys("label_keys", label_keys)
    if topology is not None and (not isinstance(topology, str) or not topology):
        raise InvalidRequest(f"topology must be a name, got {topology!r}")
    if topology is not None and keys is not None:
        raise InvalidRequest("topology and label_keys: only one may name the levels")
    options = Options(
        _count(gpus_per_host), keys, topology, _keys("tolerate", tolerate)
    )
    if progress is not None and not callable(progress):
        raise InvalidRequest(f"progress must be callable, got {progress!r}")
    given = _paths(paths)
    with _collector_paused():
        try:
            return _compile(given, options, progress)
        except RecursionError:
            names = ", ".join(map(str, given))
            raise TopologyError(f"{names}: nested too deeply to be read") from None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of live objects make the cyclic collector a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _compile(
    paths: Sequence[str | PathLike[str]], options: Options, progress: Progress | None
) -> Topology:
    texts: Texts = {}
    loaded = load(paths, lambda document: _claim(document, texts), progress)
    texts.clear()
    inventory = Inventory(options)
    for index, reader in enumerate(READERS):
        claimed = [row for row in loaded.documents if row.claimed_by == index]
        if claimed:
            reader.read(claimed, inventory)
    for document in loaded.documents:
        if document.claimed_by is None:
            _leave_out(document, inventory)
    return inventory.compile(loaded.files, len(loaded.documents))


def _claim(document: Document, texts: Texts) -> None:
    """Give a document to the first reader that knows it, and drop what that leaves."""
    for index, reader in enumerate(READERS):
        if reader.claims(document):
            document.claimed_by = index
            reader.trim(document, texts)
            return
    if document.kind:
        document.cut()


def _leave_out(document: Document, inventory: Inventory) -> None:
    """Count a Kubernetes object of another kind; refuse what is no known format."""
    body = document.body
    if isinstance(body, dict) and isinstance(body.get("kind"), str):
        kind = body["kind"]
        what = f"object of kind {shown(kind)}"
        inventory.leave_out(what, why_not_read(kind), document.object_name)
        return
    raise TopologyError(
        f"{document.where}: format not known: neither a Kubernetes object with a kind, "
        "a Slurm configuration, a topograph file nor a table"
    )


def _paths(paths: Any) -> list[str | PathLike[str]]:
    rows = [paths] if isinstance(paths, (str, PathLike)) else paths
    if not hasattr(rows, "__iter__"):
        raise InvalidRequest(f"paths must be a path or a list of paths, got {paths!r}")
    given = list(rows)
    for path in given:
        if not isinstance(path, (str, PathLike)):
            raise InvalidRequest(f"paths: {path!r}: must be a text or a path")
        if not str(path):
            raise InvalidRequest("paths: '': must not be empty")
    if given.count("-") > 1:
        raise InvalidRequest("paths: '-': standard input can be read only once")
    return given


def _count(gpus_per_host: int | None) -> int | None:
    if gpus_per_host is None:
        return None
    whole = isinstance(gpus_per_host, int) and not isinstance(gpus_per_host, bool)
    if not whole or not 1 <= gpus_per_host <= 1024:
        raise InvalidRequest(
            f"gpus_per_host must be an integer from 1 to 1024, got {gpus_per_host!r}"
        )
    return gpus_per_host


def _keys(option: str, given: Sequence[str]) -> tuple[str, ...]:
    texts = not isinstance(given, str) and hasattr(given, "__iter__")
    keys = tuple(given) if texts else ()
    if not texts or not all(isinstance(key, str) and key for key in keys):
        raise InvalidRequest(f"{option} must be a list of texts, got {given!r}")
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidRequest(f"{option}: {key!r} occurs twice")
    return keys
