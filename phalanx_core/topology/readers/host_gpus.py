"""GPUs of hosts that only a topology names: by count, or refused by name."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.inventory import Gpu, Inventory


def fill(
    inventory: Inventory,
    names: Iterable[str],
    file: str,
    source: str,
    spoken: Container[str] = (),
    types: Mapping[str, str] | None = None,
) -> None:
    """Give ``gpus_per_host`` to each host of which no source speaks; O(names).

    Parameters
    ----------
    inventory
        Holds the hosts, the GPUs found so far and the caller's options.
    names
        Hosts that the topology names.
    file
        The topology's file, for the error.
    source
        What would tell the GPUs, in the words of the format.
    spoken
        Hosts that have a source which says how many GPUs they have, maybe none.
    types
        Type of a host's GPUs where the topology says it, else "gpu".

    Raises
    ------
    TopologyError
        Naming the first host whose GPUs are not known.

    Examples
    --------
    >>> from phalanx_core.topology.readers.inventory import Options
    >>> inventory = Inventory(Options(2, None))
    >>> fill(inventory, ["n1"], "topology.conf", "a slurm.conf line")
    >>> [gpu.name for gpu in inventory.hosts["n1"].gpus]
    ['gpu-0', 'gpu-1']
    """
    count = inventory.options.gpus_per_host
    for name in names:
        host = inventory.host(name)
        if host.gpus or name in spoken or name in inventory.node_labels:
            continue
        if count is None:
            raise TopologyError(
                f"{file}: host {name}: GPUs are not known: {source} or gpus_per_host= "
                "(--gpus-per-host) is needed"
            )
        kind = (types or {}).get(name, "gpu")
        host.gpus = [Gpu(f"gpu-{index}", kind) for index in range(count)]
