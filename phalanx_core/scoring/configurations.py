"""Which numbers of GPUs are worth considering for a job: Sia's rule."""

from __future__ import annotations

from typing import NamedTuple

from phalanx_core.errors import InvalidRequest


class Configuration(NamedTuple):
    """So many GPUs of one type on so many hosts."""

    gpus: int
    hosts: int


def configurations(
    gpus_per_host: int, hosts: int, gpus_most: int | None = None
) -> tuple[Configuration, ...]:
    """Powers of two inside a host, whole hosts beyond.

    Parameters
    ----------
    gpus_per_host, hosts
        Of the GPU type, at least 1.
    gpus_most
        The most that the job may have; None: all. Sia lets a job at most double what it
        was profiled with.

    Raises
    ------
    InvalidRequest
        If a number is below 1.

    Notes
    -----
    The Sia paper (SOSP 2023), section 3.1. A whole host counts even where its size is no
    power of two.

    Examples
    --------
    >>> [one.gpus for one in configurations(4, 16, 24)]
    [1, 2, 4, 8, 12, 16, 20, 24]
    >>> configurations(6, 2)[2:]
    (Configuration(gpus=4, hosts=1), Configuration(gpus=6, hosts=1), Configuration(gpus=12, hosts=2))
    """
    for name, value in (("gpus_per_host", gpus_per_host), ("hosts", hosts)):
        if value < 1:
            raise InvalidRequest(f"{name} {value}: at least 1")
    most = gpus_per_host * hosts if gpus_most is None else gpus_most
    if most < 1:
        raise InvalidRequest(f"gpus_most {most}: at least 1")
    inside = {1 << power for power in range(gpus_per_host.bit_length())}
    found = [Configuration(size, 1) for size in sorted(inside | {gpus_per_host})]
    found += [Configuration(gpus_per_host * many, many) for many in range(2, hosts + 1)]
    return tuple(one for one in found if one.gpus <= most)
