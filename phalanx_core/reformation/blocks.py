"""Alloc records of a job after a transition, one a block, as puts and deletions."""

from __future__ import annotations

from phalanx_core.reformation import codec
from phalanx_core.reformation.codec import Holding
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import JobView
from phalanx_core.reformation.records import Job
from phalanx_core.reformation.stores import Delete, Operation, Put


def block_operations(
    layout: Layout, view: JobView, old: Job, new: Job
) -> list[Operation]:
    """What turns the alloc records of one job before a transition into those after it.

    Parameters
    ----------
    layout
        Of the leaves.
    view
        What the store holds of the job.
    old, new
        The job before and after.

    Returns
    -------
    Deletions of blocks that are not written, then puts, each in order of the paths. Owned
    blocks are the fewest there can be, and are written anew whenever the epoch changes, so
    that each bears the current token; a fence keeps the token of who may still run there.
    """
    puts: dict[str, bytes] = {}
    gone: set[str] = set()
    if (old.alloc, old.epoch, old.uid) != (new.alloc, new.epoch, new.uid):
        gone.update(block.path for block in view.owned)
        owner = codec.holding_bytes(Holding(view.name, new.uid, new.epoch))
        puts.update(dict.fromkeys(layout.cover(new.alloc), owner))
    if freed := new.fenced & ~old.fenced:
        fence = codec.holding_bytes(Holding(view.name, old.uid, old.epoch, True))
        puts.update(dict.fromkeys(layout.cover(freed), fence))
    if done := old.fenced & ~new.fenced:
        for block in view.fenced:
            if block.mask & done:
                gone.add(block.path)
                rest = layout.cover(block.mask & ~done)
                puts.update(dict.fromkeys(rest, codec.holding_bytes(block.holding)))
    deletions = [
        Delete(codec.key("alloc", path)) for path in sorted(gone - puts.keys())
    ]
    return [*deletions, *(Put(codec.key("alloc", p), puts[p]) for p in sorted(puts))]
