"""Shared counters of a pool: devices that exclude each other are one leaf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from phalanx_core.topology.readers.inventory import Inventory, natural

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.slice_devices import Device

_QUANTITY = re.compile(
    r"([+-]?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18}))"
    r"(?:(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)|[eE]([+-]?\d{1,2}))?",
    re.ASCII,
)
_SCALES = {
    **{f"{letter}i": 1024 ** (at + 1) for at, letter in enumerate("KMGTPE")},
    **{letter: 1000 ** (at + 1) for at, letter in enumerate("kMGTPE")},
    **{letter: Fraction(1, 1000**at) for at, letter in enumerate("mun", start=1)},
}
Amounts = dict[tuple[str, str], Fraction]


def quantity(value: object) -> Fraction | None:
    """A Kubernetes quantity such as "40Gi", exactly; None if it is none.

    Examples
    --------
    >>> quantity("40Gi") == 40 * 1024**3, quantity("100m"), quantity("1e3")
    (True, Fraction(1, 10), Fraction(1000, 1))
    """
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, suffix, exponent = match.groups()
    scale = Fraction(_SCALES[suffix]) if suffix else Fraction(10) ** int(exponent or 0)
    return Fraction(number) * scale


def whole_gpus(
    devices: Sequence[Device], slices: Sequence[Document], inventory: Inventory
) -> list[Device]:
    """Of devices that cannot be given at one time, the one that takes the most.

    Parameters
    ----------
    devices
        All whole GPUs of one pool.
    slices
        The pool's slices, which hold its counter sets.

    Raises
    ------
    TopologyError
        If a counter is not in the pool, or an amount is no quantity.
    """
    if not any(device.consumes for device in devices):
        return list(devices)
    left = _counters(slices)
    full = dict(left)
    takes = {id(device): _amounts(device, full) for device in devices}

    def share(device: Device) -> Fraction:
        parts = (n / full[k] for k, n in takes[id(device)].items() if full[k])
        return max(parts, default=Fraction(0))

    kept = set()
    for device in sorted(devices, key=lambda row: (-share(row), natural(row.name))):
        wants = takes[id(device)]
        if any(left[key] < amount for key, amount in wants.items()):
            why = "it shares counters with a GPU that is a leaf"
            inventory.leave_out("device of type gpu", why, device.full_name)
            continue
        kept.add(id(device))
        for key, amount in wants.items():
            left[key] -= amount
    return [device for device in devices if id(device) in kept]


def _counters(slices: Sequence[Document]) -> Amounts:
    found: Amounts = {}
    for document in slices:
        sets = document.body["spec"].get("sharedCounters") or []
        if not isinstance(sets, list):
            raise document.refuse("spec.sharedCounters", "must be a list")
        for at, row in enumerate(sets):
            path = f"spec.sharedCounters[{at}]"
            for key, amount in _row(document, path, row, "name"):
                if key in found:
                    rule = f"counter {key[0]}/{key[1]} occurs twice in its pool"
                    raise document.refuse(path, rule)
                found[key] = amount
    return found


def _amounts(device: Device, known: Amounts) -> Amounts:
    document = device.document
    path = f"{device.path}.consumesCounters"
    if not isinstance(device.consumes or [], list):
        raise document.refuse(path, "must be a list")
    found: Amounts = {}
    for at, row in enumerate(device.consumes or []):
        for key, amount in _row(document, f"{path}[{at}]", row, "counterSet"):
            if key not in known:
                rule = f"counter {key[0]}/{key[1]} is not in the pool's sharedCounters"
                raise document.refuse(f"{path}[{at}]", rule)
            found[key] = found.get(key, Fraction(0)) + amount
    return found


def _row(
    document: Document, path: str, row: Any, name: str
) -> list[tuple[tuple[str, str], Fraction]]:
    """((set, counter), amount) pairs of one counter set."""
    counters = row.get("counters") if isinstance(row, dict) else None
    if not isinstance(counters, dict) or not isinstance(row.get(name), str):
        raise document.refuse(path, f"must be a mapping with {name} and counters")
    found = []
    for key, value in counters.items():
        amount = quantity(value.get("value") if isinstance(value, dict) else None)
        if amount is None or amount < 0:
            rule = f"must hold a value that is a quantity, got {value!r}"
            raise document.refuse(f"{path}.counters[{key}]", rule)
        found.append(((row[name], str(key)), amount))
    return found
