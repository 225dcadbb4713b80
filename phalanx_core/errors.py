"""Errors of the public API: one exception a kind, each naming object, value and rule."""

from __future__ import annotations


class PhalanxError(Exception):
    """Base of every exception this library raises on purpose."""


class InvalidRequest(PhalanxError, ValueError):
    """A call's argument breaks a rule; nothing was changed."""


class TopologyError(PhalanxError, ValueError):
    """A cluster description cannot be compiled; names file, object, field and rule."""


class UnknownJob(PhalanxError, KeyError):
    """A job key that the planner does not hold."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "unknown job"


class OwnershipError(PhalanxError):
    """A stale handle, a double release, or a leaf that another owner holds."""


class StalePlan(PhalanxError):
    """A plan whose leaves changed after it was made; make a new one."""


class ConcurrentUse(PhalanxError):
    """A second thread entered a planner that one thread owns."""


class SaveError(PhalanxError, ValueError):
    """Saved bytes that are damaged, foreign, of another version or topology."""


class OutputError(PhalanxError, ValueError):
    """A placement that an output format cannot express; names job, format and rule."""


class InvariantBroken(PhalanxError):
    """The core found its own state wrong: a bug; stop and report the tag.

    Parameters
    ----------
    tag
        The invariant's number as written in the headers of the native core.
    reason
        One sentence that says what does not add up.
    """

    def __init__(self, tag: str, reason: str) -> None:
        super().__init__(f"{tag}: {reason}")
        self.tag = tag
        self.reason = reason
