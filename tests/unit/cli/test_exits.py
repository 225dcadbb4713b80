"""What an interrupt says, by where it comes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from phalanx_core.cli import exits


def interrupted() -> int:
    """A command that the keyboard ends."""
    raise KeyboardInterrupt


def early() -> int:
    """One that had saved nothing yet."""
    with exits.before_saving():
        return interrupted()


def late() -> int:
    """One that had saved its state."""
    with exits.after_saving("s.json"):
        return interrupted()


def late_without_state() -> int:
    """One that has no state, and prints."""
    with exits.after_saving(None):
        return interrupted()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (interrupted, "phalanx: interrupted\n"),
        (early, "phalanx: interrupted: nothing was saved\n"),
        (late, "phalanx: interrupted: s.json is saved\n"),
        (late_without_state, "phalanx: interrupted\n"),
    ],
)
def test_an_interrupt_says_what_was_saved(
    capsys: pytest.CaptureFixture[str], command: Callable[[], int], told: str
) -> None:
    """One line on stderr and code 130."""
    assert exits.guarded(command) == 130
    assert capsys.readouterr() == ("", told)
