"""A store that keeps a whole copy of itself for every revision: slow, and plain."""

from __future__ import annotations

from collections.abc import Callable

from phalanx_core.reformation.stores import (
    Compare,
    Delete,
    Field,
    Item,
    Operation,
    Put,
    Range,
    Relation,
    Where,
)

State = dict[bytes, Item]


class SlowStore:
    """The twin: ``states[r]`` is what revision r left, from revision 1."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.states: list[State] = [{}, {}]
        self.kept = 0
        self.leases: dict[int, tuple[float, float]] = {}

    @property
    def revision(self) -> int:
        """The last one."""
        return len(self.states) - 1

    def read(self, where: Where, revision: int | None = None) -> tuple[Item, ...]:
        """Items that are meant, sorted."""
        return found(
            self.states[self.revision if revision is None else revision], where
        )

    def expire(self) -> None:
        """End leases that are over, the first to end first."""
        for end_s, number in sorted((e, n) for n, (_, e) in self.leases.items()):
            if end_s <= self.now():
                self.revoke(number)

    def revoke(self, lease: int) -> None:
        """End one lease."""
        del self.leases[lease]
        left = {
            key: item for key, item in self.states[-1].items() if item.lease != lease
        }
        if len(left) < len(self.states[-1]):
            self.states.append(left)

    def transaction(
        self,
        compares: list[Compare],
        then: list[Operation],
        otherwise: list[Operation],
    ) -> tuple[bool, int, list[object]] | None:
        """Result and answers: items of a read, a count of a deletion; None = refused."""
        succeeded = all(self.holds(one) for one in compares)
        state, answers, changed = dict(self.states[-1]), [], False
        for one in then if succeeded else otherwise:
            if isinstance(one, Put):
                if one.lease and one.lease not in self.leases:
                    return None
                old = state.get(one.key)
                state[one.key] = Item(
                    one.key,
                    one.value,
                    old.create_revision if old else len(self.states),
                    len(self.states),
                    old.version + 1 if old else 1,
                    one.lease,
                )
                answers.append(())
                changed = True
            elif isinstance(one, Delete):
                gone = found(state, one.where)
                for item in gone:
                    del state[item.key]
                answers.append(len(gone))
                changed = changed or bool(gone)
            else:
                answers.append(found(state, one.where))
        if changed:
            self.states.append(state)
        return succeeded, self.revision, answers

    def holds(self, compare: Compare) -> bool:
        """One condition, spelt out."""
        items = self.read(compare.where)
        if not items:
            if compare.field is Field.VALUE:
                return False
            return related(0, compare.relation, compare.value)
        return all(
            related(getattr(item, compare.field.value), compare.relation, compare.value)
            for item in items
        )

    def changes(self, where: Where, since: int) -> list[tuple[int, bytes, Item | None]]:
        """Revision, key and item (None = deleted), by comparing states; sorted."""
        told: list[tuple[int, bytes, Item | None]] = []
        for revision in range(max(since, 2), len(self.states)):
            before, after = self.states[revision - 1], self.states[revision]
            for key in sorted(before.keys() | after.keys()):
                if before.get(key) != after.get(key) and meant(where, key):
                    told.append((revision, key, after.get(key)))
        return told


def meant(where: Where, key: bytes) -> bool:
    """Whether a key is one, or in one."""
    if not isinstance(where, Range):
        return key == where
    return key >= where.start and (where.end is None or key < where.end)


def found(state: State, where: Where) -> tuple[Item, ...]:
    """Items of a state that are meant, sorted."""
    return tuple(state[key] for key in sorted(state) if meant(where, key))


def related(left: object, relation: Relation, right: object) -> bool:
    """Left against right."""
    if relation is Relation.EQUAL:
        return left == right
    if relation is Relation.NOT_EQUAL:
        return left != right
    if relation is Relation.LESS:
        return left < right  # type: ignore[operator]
    return left > right  # type: ignore[operator]
