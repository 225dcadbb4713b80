"""``JobRequest``: what a job asks of the scheduler, and on whose account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.changes import WEIGHT_MAX, WEIGHT_MIN
from phalanx_core.placement import Gang

# So that neither products and powers nor sums of them leave the range of doubles.
GOODPUT_MIN, GOODPUT_MAX = 1e-100, 1e100
SECONDS_MAX = 1e12


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to run a job.

    Attributes
    ----------
    gang
        Its ranks; of one size, since each size is worth something else: see
        :meth:`sizes`.
    goodput
        Useful work a second, in any unit that all configurations of the job share;
        above 0.
    type
        GPU type, by a name of ``Topology.type_names``; None where the cluster has one.
    memory_bytes
        What each rank needs of its GPU's memory.

    Raises
    ------
    InvalidRequest
        If a value is not as said above.
    """

    gang: Gang
    goodput: float = 1.0
    type: str | None = None
    memory_bytes: float = 0

    def __post_init__(self) -> None:
        if not isinstance(self.gang, Gang):
            raise InvalidRequest(f"gang {self.gang!r}: a Gang")
        if self.gang.templates:
            raise InvalidRequest(
                f"gang {self.gang!r}: with templates each size is a configuration of "
                "its own, see Configuration.sizes"
            )
        good = is_number(self.goodput)
        good = good and GOODPUT_MIN <= float(self.goodput) <= GOODPUT_MAX
        if not good:
            raise InvalidRequest(
                f"goodput {self.goodput!r}: from {GOODPUT_MIN:g} to {GOODPUT_MAX:g}"
            )
        if not (self.type is None or isinstance(self.type, str)):
            raise InvalidRequest(f"type {self.type!r}: a GPU type's name, or None")
        if not (is_number(self.memory_bytes) and self.memory_bytes >= 0):
            raise InvalidRequest(f"memory_bytes {self.memory_bytes!r}: at least 0")
        # Numbers of NumPy are taken, and no JSON has them.
        for name in ("goodput", "memory_bytes"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def gpus(self) -> int:
        """Leaves that it takes."""
        return self.gang.ranks

    @classmethod
    def sizes(
        cls,
        gang: Gang,
        goodput: Mapping[int, float],
        type: str | None = None,
        memory_bytes: float = 0,
    ) -> tuple[Configuration, ...]:
        """One configuration for each size of a gang with templates.

        Parameters
        ----------
        gang
            Its ranks and templates are the sizes.
        goodput
            Size to goodput; a size without one is left out.

        Raises
        ------
        InvalidRequest
            If a size is none of the gang's, or a value is not as said for the class.

        Examples
        --------
        A smaller template may be worth more a GPU:

        >>> gang = Gang(32, group=8, templates=(16,))
        >>> [one.gang.ranks for one in Configuration.sizes(gang, {32: 9.0, 16: 7.5})]
        [32, 16]
        """
        known = (gang.ranks, *gang.templates)
        if not isinstance(goodput, Mapping) or not goodput:
            raise InvalidRequest(f"goodput {goodput!r}: size to goodput, at least one")
        for size in goodput:
            if size not in known:
                told = ", ".join(map(str, known))
                raise InvalidRequest(f"goodput of {size!r} ranks: sizes are {told}")
        return tuple(
            cls(gang.at(size).at_this_size, goodput[size], type, memory_bytes)
            for size in known
            if size in goodput
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that :meth:`from_dict` reads."""
        return {
            "gang": self.gang.to_dict(),
            "goodput": self.goodput,
            "type": self.type,
            "memory_bytes": self.memory_bytes,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Configuration:
        """Back from :meth:`to_dict`."""
        return cls(**(dict(told) | {"gang": Gang(**told["gang"])}))


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a job asks for.

    Attributes
    ----------
    configurations
        Ways to run it, at least one; a gang stands for one of goodput 1.
    tenant
        On whose account its GPU time goes.
    weight
        Its share within the tenant, above 0.
    demand
        GPUs it claims in the ledgers; None: those of its largest configuration.
    priority
        Who is repaired and placed first, and who may be asked to leave for whom in
        ``preempt_advice``: whole number, higher first. Not who is chosen.
    urgent
        Whether it comes before all others of its tenant where that is configured.
    restart_s
        Seconds that a change of allocation costs it (OAK's penalty).
    checkpoint_s, cold_start_s
        Seconds that a checkpoint and a start from one are taken to cost where nobody
        reports it.

    Raises
    ------
    InvalidRequest
        If a value is not as said above.

    Examples
    --------
    >>> JobRequest((Gang(8), Configuration(Gang(16), goodput=1.8))).gpus
    16
    """

    configurations: Sequence[Configuration | Gang]
    tenant: str = "default"
    weight: float = 1.0
    demand: int | None = None
    priority: int = 0
    urgent: bool = False
    restart_s: float = 30.0
    checkpoint_s: float = 5.0
    cold_start_s: float = 20.0

    def __post_init__(self) -> None:
        given: Any = self.configurations
        if isinstance(given, (Gang, Configuration)):
            given = (given,)
        if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
            raise InvalidRequest(f"configurations {given!r}: a list of Configuration")
        made = tuple(
            Configuration(one) if isinstance(one, Gang) else one for one in given
        )
        for one in made:
            if not isinstance(one, Configuration):
                raise InvalidRequest(f"configurations: {one!r}: a Configuration")
        if not made:
            raise InvalidRequest("configurations (): at least one")
        object.__setattr__(self, "configurations", made)
        if not (isinstance(self.tenant, str) and self.tenant):
            raise InvalidRequest(f"tenant {self.tenant!r}: a text that is not empty")
        if not (
            is_number(self.weight) and WEIGHT_MIN <= float(self.weight) <= WEIGHT_MAX
        ):
            raise InvalidRequest(
                f"weight {self.weight!r}: from {WEIGHT_MIN:g} to {WEIGHT_MAX:g}"
            )
        if self.demand is not None and not (is_whole(self.demand) and self.demand > 0):
            raise InvalidRequest(
                f"demand {self.demand!r}: a whole number from 1, or None"
            )
        if not isinstance(self.priority, int) or isinstance(self.priority, bool):
            raise InvalidRequest(f"priority {self.priority!r}: a whole number")
        if not isinstance(self.urgent, bool):
            raise InvalidRequest(f"urgent {self.urgent!r}: True or False")
        for name in ("restart_s", "checkpoint_s", "cold_start_s"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= float(value) <= SECONDS_MAX):
                raise InvalidRequest(f"{name} {value!r}: from 0 to {SECONDS_MAX:g}")
        for name in ("weight", "restart_s", "checkpoint_s", "cold_start_s"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.demand is not None:
            object.__setattr__(self, "demand", int(self.demand))

    @property
    def ways(self) -> tuple[Configuration, ...]:
        """The configurations, gangs among them made into one."""
        return self.configurations  # type: ignore[return-value]

    @property
    def gpus(self) -> int:
        """What it claims in the ledgers."""
        return self.demand or max(one.gpus for one in self.ways)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that :meth:`from_dict` reads."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        told["configurations"] = [one.to_dict() for one in self.ways]
        return told

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> JobRequest:
        """Back from :meth:`to_dict`."""
        ways = [Configuration.from_dict(one) for one in told["configurations"]]
        return cls(**(dict(told) | {"configurations": ways}))
