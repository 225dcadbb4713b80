"""Fairness: long-term GPU-time fairness (LTGF), who was given what and was due what."""

from phalanx_core.fairness.accounts import (
    JobAccount,
    JobState,
    TenantAccount,
    TenantTable,
    ratio,
)
from phalanx_core.fairness.allocation import Allocation, allocate_round
from phalanx_core.fairness.batch import entitlements
from phalanx_core.fairness.budgets import tenant_budgets, tenant_budgets_by_type
from phalanx_core.fairness.candidates import Candidates, TenantAccounts
from phalanx_core.fairness.ledger import Ledger
from phalanx_core.fairness.requests import quotas_from_requests
from phalanx_core.fairness.rewards import (
    Reward,
    in_order,
    long_running_first,
    new_first,
    owed,
    urgent_first,
)

__all__ = [
    "Allocation",
    "Candidates",
    "JobAccount",
    "JobState",
    "Ledger",
    "Reward",
    "TenantAccount",
    "TenantAccounts",
    "TenantTable",
    "allocate_round",
    "entitlements",
    "in_order",
    "long_running_first",
    "new_first",
    "owed",
    "quotas_from_requests",
    "ratio",
    "tenant_budgets",
    "tenant_budgets_by_type",
    "urgent_first",
]
