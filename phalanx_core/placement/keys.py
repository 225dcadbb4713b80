"""Keys of jobs, and handles of gangs that have none."""

from __future__ import annotations

from typing import TypeAlias

from phalanx_core.errors import InvalidRequest


class Handle(int):
    """A gang placed by ``place_many``, which has no job key.

    It is an int, the value in ``place_many``'s ``handles``, yet equal to handles alone,
    so that a job whose key happens to be that number is never taken for it.

    Examples
    --------
    >>> Handle(5) == Handle(5), Handle(5) == 5, int(Handle(5)) == 5
    (True, False, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Handle and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("handle", int(self)))

    def __repr__(self) -> str:
        return f"Handle({int(self)})"


Job: TypeAlias = str | int


def checked_job(job: object) -> Job:
    """A job's key, or the rule it breaks.

    Raises
    ------
    InvalidRequest
        If it is neither str nor int; True and False are no numbers here.
    """
    if isinstance(job, (str, int)) and not isinstance(job, bool):
        return job
    raise InvalidRequest(f"job {job!r}: a job's key is a str or an int")
