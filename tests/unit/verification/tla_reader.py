"""A reader of the part of TLA+ that the project's modules are written in.

It knows what the modules use and refuses the rest, so a module that it reads is balanced,
has every name defined, and groups its bulleted lists by column as TLA+ does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<note>\\\*[^\n]*|\(\*.*?\*\))|(?P<rule>----+|====+)
    |(?P<string>"[^"]*")|(?P<number>\d+)|(?P<word>[A-Za-z]\w*)
    |(?P<sign>\\[A-Za-z]+|/\\|\\/|<=>|\|->|<<|>>_?|\]_|\[\]|<>|~>|=>|==|->|<=|>=|:>|@@|\.\.
        |[=\#<>~'.,:;!@+\-*\\()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
LIBRARY = {"Nat", "BOOLEAN", "TRUE", "FALSE", "Cardinality", "Permutations"}
# How tightly infix operators bind, loosest first.
INFIX = {
    "=>": 1,
    "<=>": 2,
    "~>": 2,
    "/\\": 3,
    "\\/": 3,
    **dict.fromkeys(
        ["=", "#", "<", ">", "<=", ">=", "\\in", "\\notin", "\\subseteq"], 5
    ),
    "@@": 6,
    ":>": 7,
    **dict.fromkeys(["\\cup", "\\cap", "\\"], 8),
    "..": 9,
    **dict.fromkeys(["+", "-"], 10),
    **dict.fromkeys(["\\div", "*"], 13),
}
PREFIX = {"~": 4, "UNCHANGED": 4, "[]": 4, "<>": 4, "SUBSET": 8, "DOMAIN": 9}

Term = tuple[Any, ...]


class Token(NamedTuple):
    """A word or sign and where it stands."""

    kind: str
    text: str
    line: int
    column: int


class Unreadable(Exception):
    """A module that is not in the part of TLA+ that is read here."""


@dataclass
class Module:
    """What a module declares."""

    name: str
    extends: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    operators: dict[str, tuple[list[str], Term]] = field(default_factory=dict)


def tokens_of(text: str) -> list[Token]:
    """Words and signs of a module, comments left out."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        line = text.count("\n", 0, at) + 1
        if match is None:
            raise Unreadable(f"line {line}: {text[at : at + 10]!r}")
        kind = match.lastgroup or ""
        if kind not in ("space", "note"):
            column = at - (text.rfind("\n", 0, at) + 1)
            found.append(Token(kind, match.group(), line, column))
        at = match.end()
    return found


class Reader:
    """A module under way; ``fence`` is the column that a bulleted item must stay right of."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens_of(text)
        self.at = 0
        self.fence = -1
        self.scope: list[set[str]] = [set(LIBRARY)]
        self.module = Module("")

    def peek(self) -> str:
        """Next token within the fence; "" where there is none."""
        if self.at >= len(self.tokens) or self.tokens[self.at].column <= self.fence:
            return ""
        return self.tokens[self.at].text

    def take(self, wanted: str = "") -> str:
        """The next token, which must be this one if one is named."""
        found = self.peek()
        if not found or (wanted and found != wanted):
            here = self.tokens[min(self.at, len(self.tokens) - 1)]
            raise Unreadable(f"line {here.line}: {found!r} where {wanted!r} should be")
        self.at += 1
        return found

    def name(self) -> str:
        """A word."""
        if self.peek() and self.tokens[self.at].kind != "word":
            raise Unreadable(
                f"line {self.tokens[self.at].line}: no word: {self.peek()}"
            )
        return self.take()

    def names(self) -> list[str]:
        """Words with commas between."""
        found = [self.name()]
        while self.peek() == ",":
            self.take()
            found.append(self.name())
        return found

    def read(self) -> Module:
        """The whole module."""
        self.take()
        self.take("MODULE")
        self.module.name = self.name()
        self.take()
        while not self.peek().startswith("===="):
            word = self.take()
            if word == "EXTENDS":
                self.module.extends = self.names()
            elif word in ("CONSTANTS", "VARIABLES"):
                names = self.names()
                (
                    self.module.constants if word[0] == "C" else self.module.variables
                ).extend(names)
                self.scope[0] |= set(names)
            elif not word.startswith("----"):
                self.at -= 1
                self.definition(self.module.operators)
        if self.at != len(self.tokens) - 1:
            raise Unreadable("text after the end of the module")
        return self.module

    def definition(self, into: dict[str, tuple[list[str], Term]]) -> None:
        """``Name(parameters) == term``, which may use what was defined before it."""
        name = self.name()
        parameters: list[str] = []
        if self.peek() == "(":
            self.take()
            parameters = self.names()
            self.take(")")
        self.take("==")
        for one in (name, *parameters):
            if any(one in names for names in self.scope):
                raise Unreadable(f"{one} is defined twice, or hides a name")
        self.scope.append(set(parameters))
        into[name] = (parameters, self.term())
        self.scope.pop()
        self.scope[-1].add(name)

    def term(self, least: int = 0) -> Term:
        """A term whose infix operators bind at least so tightly."""
        left = self.prefixed()
        while (sign := self.peek()) in INFIX and INFIX[sign] >= least:
            self.refuse_ambiguous(left, sign)
            self.take()
            right = self.term(INFIX[sign] + 1)
            if sign in ("/\\", "\\/"):
                kind = "and" if sign == "/\\" else "or"
                left = (kind, [left, right], "infix")
            else:
                left = ("infix", sign, left, right)
        return left

    def refuse_ambiguous(self, left: Term, sign: str) -> None:
        r"""TLA+ has no order of ``/\`` and ``\/``, nor of two relations."""
        lists, relations = {"and": "/\\", "or": "\\/"}, INFIX[sign] == 5
        mixed = sign in lists.values() and left[-1] == "infix"
        if (mixed and lists.get(left[0], sign) != sign) or (
            relations and left[0] == "infix" and INFIX[left[1]] == 5
        ):
            raise Unreadable(f"line {self.tokens[self.at].line}: {sign} needs brackets")

    def prefixed(self) -> Term:
        """A term that begins with a prefix operator, a bullet or a binder, or an atom."""
        sign = self.peek()
        if sign in ("/\\", "\\/"):
            return self.bullets(sign)
        if sign in PREFIX:
            self.take()
            return ("prefix", sign, self.term(PREFIX[sign] + (sign != "~")))
        if sign in ("\\A", "\\E"):
            self.take()
            bound = self.binders()
            self.take(":")
            body = self.bound(bound, lambda: self.term())
            return ("all" if sign == "\\A" else "some", bound, body)
        if sign == "IF":
            self.take()
            test = self.term()
            self.take("THEN")
            yes = self.term()
            self.take("ELSE")
            return ("if", test, yes, self.term())
        if sign == "LET":
            self.take()
            self.scope.append(set())
            local: dict[str, tuple[list[str], Term]] = {}
            while self.peek() != "IN":
                self.definition(local)
            self.take("IN")
            body = self.term()
            self.scope.pop()
            return ("let", local, body)
        return self.suffixed(self.atom())

    def bullets(self, sign: str) -> Term:
        """Items each behind the same sign in the same column."""
        column, outer = self.tokens[self.at].column, self.fence
        items = []
        while (
            self.at < len(self.tokens)
            and self.tokens[self.at].text == sign
            and self.tokens[self.at].column == column
            and column > outer
        ):
            self.at += 1
            self.fence = column
            items.append(self.term())
            self.fence = outer
        return ("and" if sign == "/\\" else "or", items, "bullets")

    def binders(self) -> list[tuple[str, Term]]:
        r"""``x \in S, y \\in T``; each set is read outside the scope of its name."""
        found = []
        while True:
            name = self.name()
            self.take("\\in")
            found.append((name, self.term(6)))
            if self.peek() != ",":
                return found
            self.take()

    def bound(self, names: list[tuple[str, Term]], read: Any) -> Any:
        """What is read while names are bound."""
        taken = [name for name, _ in names if any(name in one for one in self.scope)]
        if taken:
            raise Unreadable(f"{taken} bound within their own scope")
        self.scope.append({name for name, _ in names})
        found = read()
        self.scope.pop()
        return found

    def atom(self) -> Term:
        """A name with its arguments, a literal, or what stands in brackets."""
        token = self.tokens[self.at]
        sign = self.take()
        if token.kind == "string":
            return ("value", sign[1:-1])
        if token.kind == "number":
            return ("value", int(sign))
        if sign == "(":
            inner = self.term()
            self.take(")")
            return ("same", inner)
        if sign == "<<":
            return ("tuple", self.listed(">>"))
        if sign == "{":
            return self.braces()
        if sign == "[":
            return self.squares()
        if sign == "@":
            return ("at",)
        if token.kind != "word":
            raise Unreadable(f"line {token.line}: {sign!r} begins no term")
        if sign.startswith("WF_"):
            self.take("(")
            inner = self.term()
            self.take(")")
            return ("fair", sign[3:], inner)
        if not any(sign in one for one in self.scope):
            raise Unreadable(f"line {token.line}: {sign} is not defined")
        if self.peek() != "(":
            return ("name", sign, [])
        self.take()
        return ("name", sign, self.listed(")"))

    def listed(self, end: str) -> list[Term]:
        """Terms with commas between, up to a bracket."""
        found: list[Term] = []
        while self.peek() != end:
            if found:
                self.take(",")
            found.append(self.term())
        self.take(end)
        return found

    def braces(self) -> Term:
        """A set: of listed elements, or filtered."""
        start = self.at
        if (
            self.tokens[self.at].kind == "word"
            and self.tokens[self.at + 1].text == "\\in"
        ):
            bound = self.binders()
            if self.peek() == ":":
                self.take()
                test = self.bound(bound, lambda: self.term())
                self.take("}")
                return ("filter", bound, test)
            self.at = start
        return ("set", self.listed("}"))

    def squares(self) -> Term:
        """A function, a record, an update, a set of functions, or ``[A]_vars``."""
        first, second = self.tokens[self.at], self.tokens[self.at + 1].text
        if first.kind == "word" and second == "|->":
            fields = []
            while True:
                name = self.name()
                self.take("|->")
                fields.append((name, self.term()))
                if self.take() == "]":
                    return ("record", fields)
        if first.kind == "word" and second == "\\in":
            bound = self.binders()
            self.take("|->")
            body = self.bound(bound, lambda: self.term())
            self.take("]")
            return ("function", bound, body)
        inner = self.term()
        sign = self.take()
        if sign == "EXCEPT":
            return self.update(inner)
        if sign == "->":
            target = self.term()
            self.take("]")
            return ("functions", inner, target)
        if sign == "]_":
            self.name()
            return ("step", inner)
        raise Unreadable(f"line {first.line}: {sign!r} within square brackets")

    def update(self, function: Term) -> Term:
        """``![index] = term`` or ``!.field = term``."""
        self.take("!")
        if self.take() == "[":
            index = self.term()
            self.take("]")
        else:
            index = ("value", self.name())
        self.take("=")
        value = self.term()
        self.take("]")
        return ("except", function, index, value)

    def suffixed(self, term: Term) -> Term:
        """Primes, applications and fields."""
        while (sign := self.peek()) in ("'", "[", "."):
            self.take()
            if sign == "'":
                term = ("prime", term)
            elif sign == "[":
                term = ("apply", term, self.term())
                self.take("]")
            else:
                term = ("apply", term, ("value", self.name()))
        return term


def read(text: str) -> Module:
    """Read a module, or say why it cannot be read.

    Raises
    ------
    Unreadable
        With the line.
    """
    return Reader(text).read()


@dataclass
class Configuration:
    """What a configuration of TLC's says."""

    constants: dict[str, Any] = field(default_factory=dict)
    invariants: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    constraint: str | None = None
    symmetry: str | None = None


def configured(text: str) -> Configuration:
    """Read a configuration; each statement is on lines of its own."""
    found = Configuration()
    names: list[str] = []
    for line in text.splitlines():
        words = line.split("\\*")[0].split()
        if not words:
            continue
        if line.startswith("  "):
            if len(words) > 1:
                found.constants[words[0]] = _constant(" ".join(words[2:]))
            else:
                names.append(words[0])
        elif words[0] in ("INVARIANTS", "PROPERTIES"):
            names = found.invariants if words[0] == "INVARIANTS" else found.properties
        elif words[0] == "CONSTRAINT":
            found.constraint = words[1]
        elif words[0] == "SYMMETRY":
            found.symmetry = words[1]
        elif words not in (["SPECIFICATION", "Spec"], ["CONSTANTS"]):
            raise Unreadable(f"{line!r} in a configuration")
    return found


def _constant(text: str) -> Any:
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    if text.startswith("{"):
        return frozenset(text[1:-1].split(", "))
    return int(text) if text.isdigit() else text
