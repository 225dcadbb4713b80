"""``Rules``: which guards hold; the protocol as printed, with fixes, and hardened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Guards and fixes by name; the defaults are the protocol as printed (Figure 2).

    Attributes
    ----------
    pin_survivors
        A plan keeps every healthy leaf of its job (F1).
    commit_live
        A commit claims live leaves only (F2).
    detect_in_restore
        A death is detected while the job restores as well (F3).
    restore_live
        A job restores, and runs, only with all its workers alive (F3).
    fence_freed
        Leaves that are given up are fenced before they are free (F11).
    incarnations
        A leaf that died and healed is lost to its job until the job commits again (F12).
    avoid_suspects
        Suspect leaves are not claimed, and a verdict drains a running job (F13).
    drain_returns
        A drain or resize that aborts leaves its job running (F13).
    repairs_first
        Admission, growth and drains wait while any other job waits for repair (F14).
    uids
        A token names the job, not only the epoch (F15).
    tokens
        A token of another epoch is refused (Lemma 1); a mutant alone turns it off.
    load_then_run
        Restore chooses a manifest and Run follows; printed, Restore is both.
    newest_manifest
        Restore takes the newest manifest that can be read (F5, F7).
    lifecycle
        Heal, suspect, trust, admit, drain, resize, release and fence exist (F12-F14).
    losses
        Manifests other than that of epoch 0 can be lost (F5).
    crashes
        An engine may restart between plan and commit (F9).
    abort
        Abort exists; the paper deletes it to show what it is for.
    fixed_gang
        A plan has as many leaves as the job owns: no smaller template.
    """

    pin_survivors: bool = False
    commit_live: bool = False
    detect_in_restore: bool = False
    restore_live: bool = False
    fence_freed: bool = False
    incarnations: bool = False
    avoid_suspects: bool = False
    drain_returns: bool = False
    repairs_first: bool = False
    uids: bool = False
    tokens: bool = True
    load_then_run: bool = False
    newest_manifest: bool = False
    lifecycle: bool = False
    losses: bool = False
    crashes: bool = False
    abort: bool = True
    fixed_gang: bool = False


PRINTED = Rules()
"""The protocol of Figure 2."""

FIXED = Rules(
    pin_survivors=True, commit_live=True, detect_in_restore=True, restore_live=True
)
"""The protocol of Figure 2 with the four fixes that its liveness needs."""

HARDENED = Rules(
    pin_survivors=True,
    commit_live=True,
    detect_in_restore=True,
    restore_live=True,
    fence_freed=True,
    incarnations=True,
    avoid_suspects=True,
    drain_returns=True,
    repairs_first=True,
    uids=True,
    load_then_run=True,
    newest_manifest=True,
    lifecycle=True,
    losses=True,
    crashes=True,
)
"""The protocol that the engine runs."""
