"""``WriteOptions``: what a placement does not know and an output format must say."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx_core.errors import InvalidRequest
from phalanx_core.native import PARTS_MAX

HOSTNAME_KEY = "kubernetes.io/hostname"
KUEUE_LEVELS_MAX = 16
PORT_MAX = 65_535
CORES_MAX = 4096
RANKS_MAX = 2**31 - 1

KueueLevels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Settings of the formats; each format reads those that are its own.

    Attributes
    ----------
    master_port
        torchrun: the port of ``MASTER_ADDR``; 29500 is torchrun's own default.
    cores_per_gpu
        mpi-rankfile: cores a rank is bound to; GPU i has cores i * n to i * n + n - 1.
    ranks_per_pod
        kueue: ranks that one Pod runs.
    kueue_levels
        kueue: pairs of a level of the topology and the host label that names its
        domains, broadest first, as in the cluster's Kueue ``Topology``. The host's name
        says where a Pod goes, so by default it is the only one, as in Kueue itself.
    part
        All formats: this part of the gang alone, counted from 0, its ranks from 0 as
        well; None for the whole gang.

    Raises
    ------
    InvalidRequest
        If a value is out of range or a label key comes twice.

    Examples
    --------
    >>> WriteOptions(ranks_per_pod=8).kueue_levels
    (('host', 'kubernetes.io/hostname'),)
    """

    master_port: int = 29_500
    cores_per_gpu: int = 1
    ranks_per_pod: int = 1
    kueue_levels: KueueLevels = (("host", HOSTNAME_KEY),)
    part: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("master_port", 1, PORT_MAX),
            ("cores_per_gpu", 1, CORES_MAX),
            ("ranks_per_pod", 1, RANKS_MAX),
            ("part", 0, PARTS_MAX - 1),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if name == "part" and value is None:
                continue
            if not whole or not least <= value <= most:
                raise InvalidRequest(
                    f"{name} {value!r}: a whole number from {least} to {most}"
                )
        _check_levels(self.kueue_levels)


def _check_levels(levels: object) -> None:
    where = f"kueue_levels {levels!r}"
    if not isinstance(levels, tuple) or not 1 <= len(levels) <= KUEUE_LEVELS_MAX:
        raise InvalidRequest(f"{where}: 1 to {KUEUE_LEVELS_MAX} pairs in a tuple")
    for pair in levels:
        texts = isinstance(pair, tuple) and all(isinstance(word, str) for word in pair)
        if not texts or len(pair) != 2 or not all(pair):
            raise InvalidRequest(f"{where}: {pair!r} is no pair of level and label key")
    keys = [key for _, key in levels]
    if len(set(keys)) != len(keys):
        raise InvalidRequest(f"{where}: each label key once")
    if HOSTNAME_KEY in keys[:-1]:
        raise InvalidRequest(f"{where}: {HOSTNAME_KEY} only as the last")
