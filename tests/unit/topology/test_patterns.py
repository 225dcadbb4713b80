"""Patterns of foreign files: RE2's answers in linear time, or a refusal."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.topology.readers.patterns import Pattern

ATOMS = st.sampled_from(
    ["a", "b", "-", ".", "[ab]", "[^a]", r"\d", r"\w", "[b-c0-3]", "^", "$", r"\-", "1"]
)
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{1,}", "{0}", "+?"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda text: "^" + text),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.text("ab-1", max_size=8))
def test_answers_as_the_slow_engine(pattern: str, text: str) -> None:
    """On small texts Python's own backtracking engine is the judge."""
    made = Pattern(pattern)
    expected = re.search(pattern, text) is not None
    assert made.search(text) == expected
    assert made.search(text) == expected
    if expected:
        assert text.startswith(made.prefix)


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("^node-1[0-9]$", "node-1"),
        ("^nodes?-1", "node"),
        ("^a{0}b", ""),
        ("^a|b", ""),
        ("node", ""),
        ("^node.*", "node"),
    ],
)
def test_prefix(pattern: str, prefix: str) -> None:
    """The literal start of an anchored pattern, without a letter that may be absent."""
    assert Pattern(pattern).prefix == prefix


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(a", "ends too early"),
        ("a)", "unexpected '\\)'"),
        ("[a", "ends too early"),
        ("[b-a]", "range b-a runs backwards"),
        ("[[:alpha:]]", "named class is not supported"),
        ("(?i)a", "a flag or a name is not supported"),
        ("(?=a)", "a flag or a name is not supported"),
        (r"(a)\1", r"escape .1 is not supported"),
        (r"\bnode", r"escape .b is not supported"),
        ("a**", "a repeat of a repeat"),
        ("*a", "nothing to repeat before '\\*'"),
        ("a{x}", "must be {m}, {m,} or {m,n}"),
        ("a{3,1}", "must rise and be at most 1000"),
        ("a{1001}", "must rise and be at most 1000"),
        ("((a{100}){100}){100}", "more than 1024 states"),
        ("(" * 60, "nested deeper than 50"),
        ("a\\", "ends too early"),
    ],
)
def test_refused(pattern: str, words: str) -> None:
    """What is wrong or not supported is said in words."""
    with pytest.raises(ValueError, match=words):
        Pattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a*)*c", "a.*a.*a.*a.*x"])
def test_time_is_linear(pattern: str) -> None:
    """Patterns that take a backtracking engine years end in a blink."""
    start = time.perf_counter()
    assert not Pattern(pattern).search("a" * 2000 + "!")
    assert time.perf_counter() - start < 2.0
