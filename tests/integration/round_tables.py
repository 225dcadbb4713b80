"""The OAK paper's worked example as a table, and ways to run the program on it."""

from __future__ import annotations

import io
import sys

import pytest

# Three jobs of four GPUs, section III-B of the paper.
PAPER = """\
job,configuration,gpus,goodput,progress_s,checkpoint_s,restart_s,waiting_s
J1,x4,4,2.0,0,0,30,5.827
J2,x4,4,2.2,500,250,250,5.827
J3,x4,4,1.4,0,0,30,400
"""
IDLE = ["--idle", "1.1"]


def piped(monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
    """Let standard input hold this."""
    raw = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
