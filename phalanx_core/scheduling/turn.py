"""``Turn``: one call at a time, each to its end."""

from __future__ import annotations

import threading
from _thread import start_new_thread
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from phalanx_core.errors import InvariantBroken
from phalanx_core.placement.state import Inside

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Owned")


class Owned:
    """Something that one thread owns, and that an error can leave half changed.

    ``_broken`` says what was left half done, after which nothing is answered any more.
    """

    _inside: Inside
    _broken: str | None

    def _check_whole(self) -> None:
        if self._broken is not None:
            raise InvariantBroken("R4", self._broken)


def alone(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], R]:
    """Let a method in only while no other call is inside.

    What cuts it short from outside (Ctrl-C, an exit) may leave half of it done, so nothing
    is answered afterwards.
    """

    @wraps(method)
    def call(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        self._check_whole()
        with self._inside:
            try:
                return method(self, *args, **kwargs)
            except Exception:
                raise
            except BaseException as error:
                self._broken = (
                    f"{type(error).__name__} cut {method.__name__}() short: go on from "
                    "the last save"
                )
                raise

    return cast("Callable[Concatenate[S, P], R]", call)


def uninterrupted(call: Callable[[], None]) -> BaseException | None:
    """Run a call to its end; what a signal's handler raised meanwhile.

    Python runs handlers of signals in the main thread alone, so there the call runs on
    another one. What the call itself raises is raised.
    """
    if threading.current_thread() is not threading.main_thread():
        call()
        return None
    errors: list[BaseException] = []
    claimed, done = threading.Lock(), threading.Event()

    def run() -> None:
        if not claimed.acquire(blocking=False):
            return
        try:
            call()
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    interrupt: BaseException | None = None
    sent = False
    while True:
        try:
            if not sent:
                # Should a handler raise before it is known to be sent, it is sent again,
                # and the second finds it claimed.
                start_new_thread(run, ())
                sent = True
            done.wait()
            break
        except BaseException as error:
            interrupt = error
    if errors:
        raise errors[0]
    return interrupt
