"""Assignment: which job gets which configuration this round."""

from phalanx_core.assignment.certificate import Certificate, certificate
from phalanx_core.assignment.evolving import Evolved, evolve, held_places
from phalanx_core.assignment.explaining import LeftOut, LeftOutCode, explain
from phalanx_core.assignment.problem import AssignmentProblem
from phalanx_core.assignment.result import Assignment
from phalanx_core.assignment.solving import solve

__all__ = [
    "Assignment",
    "AssignmentProblem",
    "Certificate",
    "Evolved",
    "LeftOut",
    "LeftOutCode",
    "certificate",
    "evolve",
    "explain",
    "held_places",
    "solve",
]
