"""Regular expressions of foreign files, matched in time linear in the text.

Python's own engine may take exponential time on a pattern of a few characters, and the
pattern here comes from a file. This is the part of RE2's syntax that names of hosts need:
literals, ``.``, classes, groups, ``|``, ``* + ?``, ``{m,n}``, ``^`` and ``$``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

STATES_MAX = 1024
_CACHE_MAX = 10_000
_REPEAT_MAX = 1000
_DEPTH_MAX = 50
_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SETS = {"d": _DIGITS, "w": _WORD, "s": frozenset(" \t\n\r\f")}
_REPEATS = ("*", "+", "?", "{")
_SPECIAL = frozenset("*+?{}()|[]^$.\\")

# A test of one character; the anchors are told apart by identity.
_Test = Callable[[str], bool]
_Build = Callable[[int], int]


def _start(_: str) -> bool:
    return False


def _end(_: str) -> bool:
    return False


@dataclass
class _Machine:
    """States of a nondeterministic automaton: each has a test and its next states."""

    tests: list[_Test | None] = field(default_factory=list)
    targets: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, test: _Test | None, *targets: int) -> int:
        if len(self.tests) >= STATES_MAX:
            raise ValueError(f"it needs more than {STATES_MAX} states")
        self.tests.append(test)
        self.targets.append(targets)
        return len(self.tests) - 1


class Pattern:
    """A compiled pattern; ``search`` is O(states * len(text)), mostly O(len(text)).

    Attributes
    ----------
    prefix
        What every text that matches begins with, "" where that is not known.

    Raises
    ------
    ValueError
        Saying what is wrong with the pattern, or not supported.

    Examples
    --------
    >>> rack = Pattern("^rack-[0-3]+-(a|b)$")
    >>> rack.search("rack-12-b"), rack.search("rack-19-b")
    (True, False)
    """

    def __init__(self, text: str) -> None:
        self._machine = _Machine()
        self._accept = self._machine.add(None)
        self._first = _Parser(text, self._machine).parse()(self._accept)
        self.prefix = _prefix(text)
        self._begin = self._closure({self._first}, first=True)
        self._moves: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._ends: dict[frozenset[int], bool] = {}

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text, as RE2's MatchString."""
        states = self._begin
        for letter in text:
            if self._accept in states:
                return True
            after = self._moves.get((states, letter))
            states = self._move(states, letter) if after is None else after
        if not text:
            return self._accept in self._closure(states, first=True, last=True)
        found = self._ends.get(states)
        return self._end_of(states) if found is None else found

    def _move(self, states: frozenset[int], letter: str) -> frozenset[int]:
        tests, targets = self._machine.tests, self._machine.targets
        found = {self._first}
        for state in states:
            test = tests[state]
            if test is not None and test(letter):
                found.update(targets[state])
        after = self._closure(found)
        if len(self._moves) >= _CACHE_MAX:
            self._moves.clear()
        self._moves[states, letter] = after
        return after

    def _end_of(self, states: frozenset[int]) -> bool:
        found = self._accept in self._closure(states, last=True)
        if len(self._ends) >= _CACHE_MAX:
            self._ends.clear()
        self._ends[states] = found
        return found

    def _closure(
        self, states: Iterable[int], first: bool = False, last: bool = False
    ) -> frozenset[int]:
        """All states that are reached without a character."""
        tests, targets = self._machine.tests, self._machine.targets
        found = set(states)
        waiting = list(found)
        while waiting:
            state = waiting.pop()
            test = tests[state]
            passes = (test is _start and first) or (test is _end and last)
            if test is None or passes:
                for target in targets[state]:
                    if target not in found:
                        found.add(target)
                        waiting.append(target)
        return frozenset(found)


def _prefix(text: str) -> str:
    if not text.startswith("^") or "|" in text:
        return ""
    at = 1
    while at < len(text) and text[at] not in _SPECIAL:
        at += 1
    # A repeat may ask for no such letter.
    repeated = text[at : at + 1] in ("*", "?", "{")
    return text[1 : at - 1] if repeated else text[1:at]


class _Parser:
    """Recursive descent; each part builds its states in front of a next state."""

    def __init__(self, text: str, machine: _Machine) -> None:
        self._text = text
        self._at = 0
        self._machine = machine
        self._depth = 0

    def parse(self) -> _Build:
        build = self._choice()
        if self._at < len(self._text):
            raise ValueError(f"unexpected {self._text[self._at]!r}")
        return build

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        letter = self._peek()
        if not letter:
            raise ValueError("it ends too early")
        self._at += 1
        return letter

    def _choice(self) -> _Build:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ValueError(f"groups are nested deeper than {_DEPTH_MAX}")
        branches = [self._sequence()]
        while self._peek() == "|":
            self._next()
            branches.append(self._sequence())
        self._depth -= 1
        add = self._machine.add
        return lambda after: add(None, *[branch(after) for branch in branches])

    def _sequence(self) -> _Build:
        parts: list[_Build] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))

        def build(after: int) -> int:
            for part in reversed(parts):
                after = part(after)
            return after

        return build

    def _repeated(self, part: _Build) -> _Build:
        if self._peek() not in _REPEATS:
            return part
        low, high = self._bounds()
        if self._peek() == "?":
            # Lazy or greedy is the same where only a match's being there counts.
            self._next()
        if self._peek() in _REPEATS:
            raise ValueError("a repeat of a repeat is not supported")
        return self._times(part, low, high)

    def _bounds(self) -> tuple[int, int | None]:
        letter = self._next()
        if letter != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[letter]
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : max(end, self._at)].partition(",")
        self._at = end + 1
        if end < 0 or not _number(low) or (high and not _number(high)):
            raise ValueError("a repeat must be {m}, {m,} or {m,n}")
        most = int(high) if high else None if comma else int(low)
        if max(int(low), most or 0) > _REPEAT_MAX or (
            most is not None and most < int(low)
        ):
            raise ValueError(f"a repeat must rise and be at most {_REPEAT_MAX}")
        return int(low), most

    def _times(self, part: _Build, low: int, high: int | None) -> _Build:
        machine = self._machine

        def build(after: int) -> int:
            if high is None:
                loop = machine.add(None, after)
                machine.targets[loop] = (part(loop), after)
                after = loop
            else:
                out = after
                for _ in range(high - low):
                    after = machine.add(None, part(after), out)
            for _ in range(low):
                after = part(after)
            return after

        return build

    def _atom(self) -> _Build:
        letter = self._next()
        if letter == "(":
            return self._group()
        if letter == "^":
            return self._one(_start)
        if letter == "$":
            return self._one(_end)
        if letter == ".":
            return self._one(lambda got: got != "\n")
        if letter == "[":
            return self._one(self._class())
        if letter == "\\":
            inside = self._escape()
            return self._one(inside.__contains__)
        if letter in _REPEATS:
            raise ValueError(f"nothing to repeat before {letter!r}")
        return self._one(letter.__eq__)

    def _one(self, test: _Test) -> _Build:
        return lambda after: self._machine.add(test, after)

    def _group(self) -> _Build:
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            raise ValueError("a group with a flag or a name is not supported")
        build = self._choice()
        if self._next() != ")":
            raise ValueError("a group is not closed")
        return build

    def _escape(self) -> frozenset[str]:
        letter = self._next()
        if letter in _SETS:
            return _SETS[letter]
        if letter.isalnum():
            raise ValueError(f"escape \\{letter} is not supported")
        return frozenset(letter)

    def _class(self) -> _Test:
        inverted = self._peek() == "^"
        if inverted:
            self._next()
        letters: set[str] = set()
        ranges: list[tuple[str, str]] = []
        first = True
        while first or self._peek() != "]":
            first = False
            letter = self._next()
            if letter == "[" and self._peek() == ":":
                raise ValueError("a named class is not supported")
            if letter == "\\":
                found = self._escape()
                letters |= found
                letter = next(iter(found)) if len(found) == 1 else ""
            if letter and self._peek() == "-" and self._text[self._at + 1 :][:1] != "]":
                self._next()
                high = self._next()
                if high < letter:
                    raise ValueError(f"range {letter}-{high} runs backwards")
                ranges.append((letter, high))
            elif letter:
                letters.add(letter)
        self._next()
        fixed = frozenset(letters)
        return lambda got: (
            inverted
            != (got in fixed or any(low <= got <= high for low, high in ranges))
        )


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 5
