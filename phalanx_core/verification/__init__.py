"""Verification: the reformation protocol checked by exhaustive search of its states."""
