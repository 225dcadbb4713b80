"""Taints that an administrator puts on devices: which rule selects which device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class TaintRule:
    """One taint, and the devices it is put on: None selects any.

    ``is_used`` tells whether a GPU was selected.
    """

    name: str
    key: str
    effect: str
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    is_used: bool = field(default=False, compare=False)


@dataclass
class TaintRules:
    """All rules, by the pool they select."""

    _by_pool: dict[str | None, list[TaintRule]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._by_pool)

    def add(self, rule: TaintRule) -> None:
        """Add a rule; a second copy of one changes nothing."""
        rows = self._by_pool.setdefault(rule.pool, [])
        if rule not in rows:
            rows.append(rule)

    def of(self, driver: str, pool: str, device: str) -> Iterator[TaintRule]:
        """Rules that select a device, which are then used.

        Examples
        --------
        >>> rules = TaintRules()
        >>> rules.add(TaintRule("dead", "example.com/dead", "NoExecute", pool="h1"))
        >>> [rule.name for rule in rules.of("gpu.nvidia.com", "h1", "gpu-0")]
        ['dead']
        """
        for rule in (*self._by_pool.get(None, ()), *self._by_pool.get(pool, ())):
            if rule.driver in (None, driver) and rule.device in (None, device):
                rule.is_used = True
                yield rule

    def unused(self) -> list[TaintRule]:
        """Rules that selected nothing so far."""
        rows = [rule for rules in self._by_pool.values() for rule in rules]
        return [rule for rule in rows if not rule.is_used]
