"""What a restart costs, per application: seconds lost when an allocation changes."""

from __future__ import annotations

from types import MappingProxyType

from phalanx_core.errors import InvalidRequest

DEFAULT_RESTART_S = 30.0

# OAK, section IV-D (seconds a change of allocation takes).
RESTART_S = MappingProxyType(
    {
        "cifar10": 50.0,
        "deepspeech2": 25.0,
        "bert": 120.0,
        "yolov3": 80.0,
        "imagenet": 250.0,
        "ncf": 25.0,
        "gpt": 30.0,
    }
)
_SPELLINGS = {"cifar-10": "cifar10"}


def restart_penalty_s(application: str) -> float:
    """Seconds that a restart of an application takes, 30 for one that is not listed.

    Parameters
    ----------
    application
        Its name, in any case.

    Raises
    ------
    InvalidRequest
        If it is no text.

    Notes
    -----
    The OAK paper, section IV-D.

    Examples
    --------
    >>> restart_penalty_s("ImageNet"), restart_penalty_s("CIFAR-10"), restart_penalty_s("x")
    (250.0, 50.0, 30.0)
    """
    if not isinstance(application, str):
        raise InvalidRequest(f"application {application!r}: a name")
    name = application.lower()
    return RESTART_S.get(_SPELLINGS.get(name, name), DEFAULT_RESTART_S)
