"""GPUs that configurations want and GPUs that there are, of each type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.cli.columns import WHOLE_MAX, texts, wholes
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.tables import Table
from phalanx_core.errors import InvalidRequest

ONE_TYPE = "gpus"
PREFIX = "gpus."


class Demands(NamedTuple):
    """What a round is about beside utilities.

    Attributes
    ----------
    types
        Names, in the order of ``--capacity``; "gpus" where the table has no types.
    capacity
        GPUs of each type: int64.
    wanted
        int64, shape (rows of the table, types).
    """

    types: tuple[str, ...]
    capacity: NDArray[np.int64]
    wanted: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, given: Sequence[str]) -> Demands:
        """Read gpus, gpus.TYPE, or type and gpus; and what --capacity says.

        Raises
        ------
        InvalidRequest
            If a value breaks its rule, or a type of the table has no capacity.

        Examples
        --------
        >>> table = Table("-", {"type": ["b", "a"], "gpus": ["4", "2"]})
        >>> Demands.of(table, ["a=8,b=16"]).wanted.tolist()
        [[0, 4], [2, 0]]
        """
        wanted = _wanted(table)
        # A round without jobs has no column to say what types there are.
        if not table.rows:
            wanted = {}
        capacity = _capacities(given)
        if list(capacity) == [ONE_TYPE] and len(wanted) == 1:
            capacity = dict.fromkeys(wanted, capacity[ONE_TYPE])
        if list(wanted) == [ONE_TYPE] and list(capacity) != [ONE_TYPE]:
            raise InvalidRequest(
                f"--capacity {','.join(given)}: {table.path} has one column gpus and no "
                "types: give one number"
            )
        for name in wanted:
            if name not in capacity:
                near = did_you_mean(name, capacity)
                raise InvalidRequest(
                    f"--capacity {','.join(given)}: must name type {name!r}, which "
                    f"{table.path} has{near}"
                )
        none = np.zeros(table.rows, np.int64)
        columns = [wanted.get(name, none) for name in capacity]
        amounts = np.array(list(capacity.values()), np.int64)
        return cls(tuple(capacity), amounts, np.stack(columns, axis=1))


def _wanted(table: Table) -> dict[str, NDArray[np.int64]]:
    """Type to what each row wants of it."""
    wide = [name for name in table.columns if name.startswith(PREFIX)]
    if wide and ONE_TYPE in table.columns:
        raise InvalidRequest(
            f"{table.path}: columns gpus and {wide[0]}: must be one of the two kinds"
        )
    if wide:
        found = np.stack([wholes(table, name, empty=True) for name in wide], axis=1)
        nothing = (found < 0).all(axis=1)
        if nothing.any():
            row = int(np.argmax(nothing))
            raise table.wrong(row, ", ".join(wide), "must not all be empty")
        found = np.maximum(found, 0)
        return {name.removeprefix(PREFIX): found[:, at] for at, name in enumerate(wide)}
    amounts = wholes(table, ONE_TYPE)
    if "type" not in table.columns:
        return {ONE_TYPE: amounts}
    types = np.array(texts(table, "type"), np.str_)
    return {
        name: np.where(types == name, amounts, 0)
        for name in dict.fromkeys(types.tolist())
    }


def _capacities(given: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in ",".join(given).split(","):
        name, equals, amount = word.partition("=")
        if not equals:
            name, amount = ONE_TYPE, word
        where = f"--capacity {word!r}"
        small = amount.isascii() and amount.isdigit() and len(amount) <= 10
        if not name or not small or int(amount) > WHOLE_MAX:
            raise InvalidRequest(
                f"{where}: must be GPUs, or TYPE=GPUS,..., each a whole number to "
                f"{WHOLE_MAX}"
            )
        if name in found:
            raise InvalidRequest(f"{where}: {found[name]} was given before")
        found[name] = int(amount)
    if ONE_TYPE in found and len(found) > 1:
        raise InvalidRequest(
            f"--capacity {','.join(given)}: must be one number, or name each type"
        )
    return found
