"""Standard input as a file of octets, for ``-`` in place of a path."""

from __future__ import annotations

import sys
from typing import BinaryIO

from phalanx_core.errors import InvalidRequest


def standard_input() -> BinaryIO:
    """Where ``-`` is read from.

    Raises
    ------
    InvalidRequest
        If whoever started the program closed it.
    """
    if sys.stdin is None:
        raise InvalidRequest("-: cannot be read: standard input is closed")
    return sys.stdin.buffer
