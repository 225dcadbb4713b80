"""Stores of the protocol's records: one interface, shaped as etcd v3, several back ends."""

from phalanx_core.reformation.stores.answers import (
    Change,
    Item,
    Items,
    Lease,
    Response,
    TransactionResult,
    whole_revisions,
)
from phalanx_core.reformation.stores.clock import VirtualClock
from phalanx_core.reformation.stores.errors import (
    Ambiguous,
    Compacted,
    StoreError,
    Unavailable,
    UnknownLease,
)
from phalanx_core.reformation.stores.faults import FaultyStore, FaultyWatch, Happening
from phalanx_core.reformation.stores.memory import MemoryStore
from phalanx_core.reformation.stores.operations import (
    Compare,
    Delete,
    Field,
    Operation,
    Put,
    Range,
    Read,
    Relation,
    Where,
    absent,
    created_at,
    modified_at,
    present,
    value_is,
    version_is,
)
from phalanx_core.reformation.stores.protocol import (
    Store,
    Watch,
)
from phalanx_core.reformation.stores.requests import Limits
from phalanx_core.reformation.stores.scripts import (
    Fault,
    FaultKind,
    Listed,
    Script,
    Seeded,
)
from phalanx_core.reformation.stores.sqlite import SqliteStore

__all__ = [
    "Ambiguous",
    "Change",
    "Compacted",
    "Compare",
    "Delete",
    "Fault",
    "FaultKind",
    "FaultyStore",
    "FaultyWatch",
    "Field",
    "Happening",
    "Item",
    "Items",
    "Lease",
    "Limits",
    "Listed",
    "MemoryStore",
    "Operation",
    "Put",
    "Range",
    "Read",
    "Relation",
    "Response",
    "Script",
    "Seeded",
    "SqliteStore",
    "Store",
    "StoreError",
    "TransactionResult",
    "Unavailable",
    "UnknownLease",
    "VirtualClock",
    "Watch",
    "Where",
    "absent",
    "created_at",
    "modified_at",
    "present",
    "value_is",
    "version_is",
    "whole_revisions",
]
