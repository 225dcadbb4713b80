"""States and transitions of a module in TLA+, enumerated and counted as TLC does.

A module that :mod:`tla_reader` read becomes Python functions. The next-state relation is
run as TLC runs it: conjunctions from left to right, a branch for each disjunct and for
each witness of an existential, and a successor for each branch that comes to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

from tests.unit.verification.tla_reader import Module, Term

State = tuple[Any, ...]
BINARY = {
    "=": "==", "#": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "\\subseteq": "<=",
    "\\cup": "|", "\\cap": "&", "\\": "-", "+": "+", "-": "-", "*": "*", "\\div": "//",
}  # fmt: skip


class Fn(dict[Any, Any]):
    """A function or a record: a dict that a set can hold."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def but(self, key: Any, change: Callable[[Any], Any]) -> Fn:
        """The function with another value at one place that it has."""
        found = Fn(self)
        found[key] = change(self[key])
        return found


def subsets(base: Iterable[Any]) -> Iterator[frozenset[Any]]:
    """Every subset."""
    all_of = sorted(base, key=repr)
    sizes = range(len(all_of) + 1)
    chosen = chain.from_iterable(combinations(all_of, size) for size in sizes)
    return map(frozenset, chosen)


def functions(base: Iterable[Any], target: Iterable[Any]) -> Iterator[Fn]:
    """Every function from one set to another."""
    keys, values = list(base), list(target)
    for chosen in product(values, repeat=len(keys)):
        yield Fn(zip(keys, chosen, strict=True))


class Writer:
    """Writes a module's operators as Python; ``S`` is a state, ``T`` what is known of the next."""

    def __init__(self, module: Module, constants: dict[str, Any]) -> None:
        self.module = module
        self.names: dict[str, Any] = {
            "Fn": Fn, "subsets": subsets, "functions": functions, **{
                f"c_{name}": value for name, value in constants.items()
            },
        }  # fmt: skip
        self.variables = set(module.variables)
        self.count = 0
        missing = set(module.constants) ^ set(constants)
        if missing:
            raise ValueError(f"constants {missing}")

    def function(self, name: str) -> Callable[..., Any]:
        """An operator as a function of its parameters, a state and the next one."""
        key = f"o_{name}"
        if key not in self.names:
            parameters, body = self.module.operators[name]
            heads = ", ".join(["S", "T", *(f"v_{one}" for one in parameters)])
            self.names[key] = None
            text = self.value(body, set(parameters))
            self.names[key] = eval(f"lambda {heads}: {text}", self.names)
        return self.names[key]  # type: ignore[no-any-return]

    def function_of_step(self, name: str) -> Callable[..., Any]:
        """The test of ``[][A]_vars``, without its stuttering."""
        (sign, inner) = self.module.operators[name][1][1:]
        if sign != "[]" or inner[0] != "step":
            raise ValueError(f"{name} is no property of steps")
        text = self.value(inner, set())
        return eval(f"lambda S, T: {text}", self.names)  # type: ignore[no-any-return]

    def value(self, term: Term, local: set[str]) -> str:
        """Python for a term that is no action."""
        return str(getattr(self, f"_{term[0]}")(local, *term[1:]))

    def _value(self, local: set[str], value: Any) -> str:
        return repr(value)

    def _same(self, local: set[str], inner: Term) -> str:
        return f"({self.value(inner, local)})"

    def _name(self, local: set[str], name: str, given: list[Term]) -> str:
        if name in local:
            return f"v_{name}"
        if name in self.variables:
            return f"S[{name!r}]"
        if f"c_{name}" in self.names:
            return f"c_{name}"
        if name in ("TRUE", "FALSE"):
            return name.capitalize()
        told = [self.value(one, local) for one in given]
        if name == "Cardinality":
            return f"len({told[0]})"
        if not given and not self.reads_state(name):
            self.names[f"c_{name}"] = self.function(name)({}, {})
            return f"c_{name}"
        self.function(name)
        return f"o_{name}({', '.join(['S', 'T', *told])})"

    def reads_state(self, name: str) -> bool:
        """Whether an operator depends on the state."""
        return any(
            one in self.variables
            or (one in self.module.operators and self.reads_state(one))
            for one in _words(self.module.operators[name][1])
        )

    def _and(self, local: set[str], items: list[Term], _: str) -> str:
        return "(" + " and ".join(self.value(one, local) for one in items) + ")"

    def _or(self, local: set[str], items: list[Term], _: str) -> str:
        return "(" + " or ".join(self.value(one, local) for one in items) + ")"

    def _infix(self, local: set[str], sign: str, left: Term, right: Term) -> str:
        one = self.value(left, local)
        if sign in ("\\in", "\\notin"):
            return (
                f"({'not ' * (sign != chr(92) + 'in')}{self.member(one, right, local)})"
            )
        other = self.value(right, local)
        if sign == "=>":
            return f"(not {one} or {other})"
        if sign == "..":
            return f"frozenset(range({one}, {other} + 1))"
        return f"({one} {BINARY[sign]} {other})"

    def member(self, one: str, target: Term, local: set[str]) -> str:
        r"""Python for ``one \in target``, which may be a set without end."""
        if target[0] == "functions":
            base = self.value(target[1], local)
            inner = self.member("f_y", target[2], local)
            keys = f"({one}).keys() == {base}"
            return f"({keys} and all({inner} for f_y in ({one}).values()))"
        if target[:2] == ("name", "Nat"):
            return f"({one} >= 0)"
        return f"({one} in {self.value(target, local)})"

    def _prefix(self, local: set[str], sign: str, inner: Term) -> str:
        told = self.value(inner, local)
        if sign == "~":
            return f"(not {told})"
        if sign == "SUBSET":
            return f"subsets({told})"
        raise ValueError(f"{sign} is not evaluated")

    def _each(
        self, bound: list[tuple[str, Term]], local: set[str]
    ) -> tuple[str, set[str]]:
        inner = local | {name for name, _ in bound}
        told = [f"for v_{name} in {self.value(of, local)}" for name, of in bound]
        return " ".join(told), inner

    def _all(self, local: set[str], bound: list[tuple[str, Term]], body: Term) -> str:
        each, inner = self._each(bound, local)
        return f"all({self.value(body, inner)} {each})"

    def _some(self, local: set[str], bound: list[tuple[str, Term]], body: Term) -> str:
        each, inner = self._each(bound, local)
        return f"any({self.value(body, inner)} {each})"

    def _filter(
        self, local: set[str], bound: list[tuple[str, Term]], test: Term
    ) -> str:
        each, inner = self._each(bound, local)
        return f"frozenset(v_{bound[0][0]} {each} if {self.value(test, inner)})"

    def _function(
        self, local: set[str], bound: list[tuple[str, Term]], body: Term
    ) -> str:
        each, inner = self._each(bound, local)
        return f"Fn((v_{bound[0][0]}, {self.value(body, inner)}) {each})"

    def _functions(self, local: set[str], base: Term, target: Term) -> str:
        return f"functions({self.value(base, local)}, {self.value(target, local)})"

    def _if(self, local: set[str], test: Term, yes: Term, no: Term) -> str:
        told = [self.value(one, local) for one in (yes, test, no)]
        return "({} if {} else {})".format(*told)

    def _set(self, local: set[str], items: list[Term]) -> str:
        return f"frozenset([{', '.join(self.value(one, local) for one in items)}])"

    def _tuple(self, local: set[str], items: list[Term]) -> str:
        return "(" + "".join(self.value(one, local) + ", " for one in items) + ")"

    def _record(self, local: set[str], fields: list[tuple[str, Term]]) -> str:
        told = ", ".join(f"{name!r}: {self.value(one, local)}" for name, one in fields)
        return f"Fn({{{told}}})"

    def _apply(self, local: set[str], function: Term, index: Term) -> str:
        return f"{self.value(function, local)}[{self.value(index, local)}]"

    def _except(self, local: set[str], function: Term, index: Term, value: Term) -> str:
        told = [self.value(one, local) for one in (function, index, value)]
        return "{}.but({}, lambda v_at: {})".format(*told)

    def _at(self, local: set[str]) -> str:
        return "v_at"

    def _prime(self, local: set[str], inner: Term) -> str:
        return self.value(inner, local).replace("S[", "T[", 1)

    def _step(self, local: set[str], inner: Term) -> str:
        return self.value(inner, local)

    def actions(
        self, term: Term
    ) -> Callable[[dict[str, Any]], Iterator[dict[str, Any]]]:
        """The generator of the next states that an action, or of Init, allows."""
        lines = ["def found(S):", " T = {}"]
        self.emit([(term, {})], set(), "{}", 1, lines)
        exec("\n".join(lines), self.names)
        return self.names["found"]  # type: ignore[no-any-return]

    def emit(
        self,
        left: list[tuple[Term, dict[str, str]]],
        known: set[str],
        partial: str,
        depth: int,
        lines: list[str],
    ) -> None:
        """Write the conjuncts that are left, each with names of what is bound in it."""
        pad = " " * depth
        if not left:
            lines.append(f"{pad}yield {partial}")
            return
        (term, bound), rest = left[0], left[1:]
        kind = term[0]
        if kind == "and":
            self.emit(
                [(one, bound) for one in term[1]] + rest, known, partial, depth, lines
            )
        elif kind == "or":
            for one in term[1]:
                self.emit([(one, bound), *rest], known, partial, depth, lines)
        elif kind == "infix" and term[1] == "=>":
            # As TLC does: what follows from it is an action too, with branches of its own.
            lines.append(f"{pad}if {self.said(term[2], bound)}:")
            self.emit([(term[3], bound), *rest], known, partial, depth + 1, lines)
            lines.append(f"{pad}else:")
            self.emit(rest, known, partial, depth + 1, lines)
        elif kind == "same":
            self.emit([(term[1], bound), *rest], known, partial, depth, lines)
        elif kind == "some":
            inner = dict(bound)
            for name, of in term[1]:
                inner[name] = self.fresh(name)
                lines.append(
                    f"{' ' * depth}for {inner[name]} in {self.said(of, bound)}:"
                )
                depth += 1
            self.emit([(term[2], inner), *rest], known, partial, depth, lines)
        elif kind == "let":
            inner = dict(bound)
            for name, (_, body) in term[1].items():
                fresh = self.fresh(name)
                lines.append(f"{pad}{fresh} = {self.said(body, inner)}")
                inner[name] = fresh
            self.emit([(term[2], inner), *rest], known, partial, depth, lines)
        elif kind == "name" and term[1] in self.module.operators:
            parameters, body = self.module.operators[term[1]]
            inner = {}
            for name, given in zip(parameters, term[2], strict=True):
                inner[name] = self.fresh(name)
                lines.append(f"{pad}{inner[name]} = {self.said(given, bound)}")
            self.emit([(body, inner), *rest], known, partial, depth, lines)
        else:
            self.emit_last(term, bound, (rest, known, partial, depth), lines)

    def emit_last(
        self, term: Term, bound: dict[str, str], at: tuple[Any, ...], lines: list[str]
    ) -> None:
        """A conjunct that gives variables their next value, or one that is a test."""
        rest, known, partial, depth = at
        pad = " " * depth
        given = self.assigned(term, bound)
        if given is None:
            lines.append(f"{pad}if {self.said(term, bound)}:")
            self.emit(rest, known, partial, depth + 1, lines)
            return
        for name, text in given:
            if name in known:
                raise ValueError(f"{name} is given twice")
            known = known | {name}
            fresh = self.fresh("T")
            is_set = term[0] == "infix" and term[1] == "\\in"
            one = self.fresh("one") if is_set else text
            if is_set:
                lines.append(f"{pad}for {one} in {text}:")
                depth, pad = depth + 1, pad + " "
            lines.append(f"{pad}{fresh} = {{**{partial}, {name!r}: {one}}}")
            partial = fresh
        self.emit(rest, known, partial, depth, lines)

    def assigned(
        self, term: Term, bound: dict[str, str]
    ) -> list[tuple[str, str]] | None:
        """Variables that a conjunct gives a value, with Python for it."""
        if term[0] == "infix" and term[1] in ("=", "\\in"):
            left = term[2]
            if left[0] == "prime" and left[1][0] == "name":
                return [(left[1][1], self.said(term[3], bound))]
            if left[0] == "name" and left[1] in self.variables and self.starting:
                return [(left[1], self.said(term[3], bound))]
        if term[0] == "prefix" and term[1] == "UNCHANGED":
            return [(name, f"S[{name!r}]") for name in self.flat(term[2])]
        return None

    starting = False

    def flat(self, term: Term) -> list[str]:
        """Variables of a tuple, of one in it, or of an operator that stands for one."""
        if term[0] == "tuple":
            return [name for one in term[1] for name in self.flat(one)]
        if term[1] in self.module.operators:
            return self.flat(self.module.operators[term[1]][1])
        return [term[1]]

    def fresh(self, name: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{name}_{self.count}"

    def said(self, term: Term, bound: dict[str, str]) -> str:
        """Python for a term in which bound names have others."""
        heads = ", ".join(f"v_{name}" for name in bound)
        text = self.value(term, set(bound))
        if not any(f"v_{name}" in text for name in bound):
            return text
        return f"(lambda {heads}: {text})({', '.join(bound.values())})"


def _words(term: Any) -> Iterator[str]:
    """Every name in a term."""
    if isinstance(term, tuple) and term and term[0] == "name":
        yield term[1]
    if isinstance(term, dict):
        term = list(term.values())
    if isinstance(term, tuple | list):
        for one in term:
            yield from _words(one)


@dataclass(frozen=True)
class Found:
    """Counts as TLC prints them, transitions by action, and what was violated first."""

    generated: int
    distinct: int
    depth: int
    by_action: dict[str, int]
    violated: tuple[str, int] | None


def disjuncts(module: Module) -> list[str]:
    """Operators that Next is a disjunction of, in order."""

    def inside(term: Term) -> Iterator[str]:
        if term[0] == "or":
            for one in term[1]:
                yield from inside(one)
        elif term[0] == "some":
            yield from inside(term[2])
        elif term[0] == "name":
            yield term[1]
        else:
            raise ValueError(f"{term[0]} in Next")

    return list(inside(module.operators["Next"][1]))


def parts(term: Term, bound: tuple[Any, ...] = ()) -> Iterator[tuple[str, Term]]:
    """Each disjunct of Next with the existentials around it, under its operator's name."""
    if term[0] == "or":
        for one in term[1]:
            yield from parts(one, bound)
    elif term[0] == "some":
        yield from parts(term[2], (*bound, term[1]))
    else:
        whole = term
        for names in reversed(bound):
            whole = ("some", names, whole)
        yield term[1], whole


def search(
    module: Module,
    constants: dict[str, Any],
    invariants: Iterable[str] = (),
    steps: Iterable[str] = (),
    constraint: str | None = "Bounded",
) -> Found:
    """Every state, breadth first; stops at the first violation, as TLC does."""
    writer = Writer(module, constants)
    order = module.variables
    writer.starting = True
    starts = writer.actions(module.operators["Init"][1])
    writer.starting = False
    actions = [
        (name, writer.actions(term))
        for name, term in parts(module.operators["Next"][1])
    ]
    holds = [(name, writer.function(name)) for name in invariants]
    moves = [(name, writer.function_of_step(name)) for name in steps]
    bounded = writer.function(constraint) if constraint else None
    by_action: dict[str, int] = dict.fromkeys((name for name, _ in actions), 0)
    seen: set[State] = set()
    level: list[dict[str, Any]] = []
    generated = depth = 0
    violated: tuple[str, int] | None = None

    def entered(state: dict[str, Any], into: list[dict[str, Any]]) -> str:
        key = tuple(state[name] for name in order)
        if key in seen or (bounded is not None and not bounded(state, {})):
            return ""
        seen.add(key)
        into.append(state)
        return next((name for name, test in holds if not test(state, {})), "")

    for state in starts({}):
        generated += 1
        entered(state, level)
    while level and violated is None:
        depth += 1
        after: list[dict[str, Any]] = []
        for state in level:
            for name, action in actions:
                for new in action(state):
                    generated += 1
                    by_action[name] += 1
                    bad = entered(new, after)  # invariants first, as TLC does
                    broken = (one for one, test in moves if not test(state, new))
                    bad = bad or next(broken, "")
                    if bad:
                        return Found(
                            generated, len(seen), depth, by_action, (bad, depth)
                        )
        level = after
    return Found(generated, len(seen), depth, by_action, violated)
