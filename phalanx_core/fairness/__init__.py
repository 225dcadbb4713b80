"""Fairness: long-term GPU-time fairness (LTGF), who was given what and was due what."""

from phalanx_core.fairness.accounts import (
    JobAccount,
    JobState,
    TenantAccount,
    TenantTable,
    ratio,
)
from phalanx_core.fairness.ledger import Ledger

__all__ = [
    "JobAccount",
    "JobState",
    "Ledger",
    "TenantAccount",
    "TenantTable",
    "ratio",
]
