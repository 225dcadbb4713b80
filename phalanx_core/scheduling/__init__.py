"""Scheduling: scores, assignments and placements composed into rounds."""

from phalanx_core.scheduling.oak import OakRound, oak

__all__ = ["OakRound", "oak"]
