"""What the communication of a step costs, by the levels that it crosses."""

from __future__ import annotations

from typing import NamedTuple

from phalanx_core.errors import InvalidRequest


class StepCost(NamedTuple):
    """The cost model of the Phalanx paper, section 8: a bandwidth a level, no latency.

    Attributes
    ----------
    bandwidths
        GB/s a GPU, from level 0, the leaf, to the whole cluster: one a level.
    group_ranks
        Of a tensor-parallel group.
    group_gb
        GB of activations that each rank moves within its group.
    gradient_gb
        GB of gradients that each rank reduces with its replicas: those of 70e9 weights of
        2 bytes, over the ranks of a group.

    Examples
    --------
    A gang of 256 ranks within a rail group, and after a move to a spare of its pod:

    >>> round(StepCost().step_s(256, 1, 2), 4), round(StepCost().step_s(256, 1, 3), 4)
    (0.6826, 2.7169)
    """

    bandwidths: tuple[float, ...] = (900.0, 900.0, 50.0, 12.5, 6.25)
    group_ranks: int = 8
    group_gb: float = 4.0
    gradient_gb: float = 17.5

    def step_s(self, ranks: int, group_level: int, gang_level: int) -> float:
        """Seconds of a step.

        Parameters
        ----------
        ranks
            Of the gang: whole groups, at least one.
        group_level, gang_level
            Lowest level with all of the slowest group in one domain, and of the gang.

        Raises
        ------
        InvalidRequest
            If the ranks are no whole groups.

        Notes
        -----
        The group's bytes over its bandwidth, then a ring all-reduce among n replicas:
        each rank sends 2 (n - 1) / n of its gradients.
        """
        replicas, rest = divmod(ranks, self.group_ranks)
        if rest or replicas < 1:
            raise InvalidRequest(f"ranks {ranks!r}: whole groups of {self.group_ranks}")
        ring = 2 * (replicas - 1) / replicas * self.gradient_gb
        return (
            self.group_gb / self.bandwidths[group_level]
            + ring / self.bandwidths[gang_level]
        )

    def inflation(
        self, ranks: int, before: tuple[int, int], after: tuple[int, int]
    ) -> float:
        """Seconds of a step after a repair over those before it.

        Parameters
        ----------
        ranks
            As for :meth:`step_s`.
        before, after
            Levels of the slowest group and of the gang.

        Examples
        --------
        >>> round(StepCost().inflation(256, (1, 2), (1, 3)), 2)
        3.98
        """
        return self.step_s(ranks, *after) / self.step_s(ranks, *before)
