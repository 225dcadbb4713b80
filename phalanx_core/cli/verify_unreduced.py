"""``phalanx verify --unreduced``: the search of every single state, in the native core."""

from __future__ import annotations

from phalanx_core.cli.progress import StatesBar
from phalanx_core.cli.verify_verdict import Verdict
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import FIXED, PRINTED, Rules
from phalanx_core.verification import Model, Scope
from phalanx_core.verification.judging import chosen, kind_of
from phalanx_core.verification.unreduced import explore
from phalanx_core.verification.unreduced_result import Progress
from phalanx_core.verification.unreduced_result import Verdict as Ended
from phalanx_core.verification.unreduced_scope import FIXED as NATIVE_FIXED
from phalanx_core.verification.unreduced_scope import PRINTED as NATIVE_PRINTED
from phalanx_core.verification.unreduced_scope import PROPERTIES
from phalanx_core.verification.unreduced_scope import Scope as NativeScope

LIVENESS = ("ReformLive", "ESR")


def explored(title: str, scope: Scope, rules: Rules, names: tuple[str, ...]) -> Verdict:
    """Search a scope, and judge what is named, or all.

    Raises
    ------
    InvalidRequest
        If the native core does not know the rules, or has no room for the scope.
    """
    if rules not in (PRINTED, FIXED):
        raise InvalidRequest("--unreduced: of the printed and the fixed protocol alone")
    wanted = [
        one for one in chosen(Model(scope, rules), names) if one.name in PROPERTIES
    ]
    native = NATIVE_FIXED if rules == FIXED else NATIVE_PRINTED
    lasting = any(one.name in LIVENESS for one in wanted)
    with StatesBar() as bar:

        def seen(look: Progress) -> None:
            bar(look.distinct)

        found = explore(
            NativeScope(scope.jobs, scope.leaves, scope.failures, native),
            liveness=lasting,
            progress=seen,
        )
    if found.verdict is Ended.OUT_OF_ROOM:
        raise InvalidRequest(
            f"--unreduced: {found.distinct:,} states, and no room for more; without it "
            "the scope is searched up to permutations of leaves"
        )
    # A broken state or step ends the search, and nothing is known of the others then.
    early = any(name not in LIVENESS for name in found.violated)
    rest = "unknown" if early else "holds"
    mine = {one.name for one in wanted}
    runs = [one for one in found.counterexamples if one.property in mine]
    return Verdict(
        title=title,
        scope=(scope.jobs, scope.leaves, scope.failures),
        counts={
            "init": found.initial,
            "generated": found.generated,
            "distinct": found.distinct,
            "depth": found.depth,
        },
        by_action={
            name.upper(): count
            for name, count in found.steps.items()
            if count and name != "Init"
        },
        properties={
            one.name: (kind_of(one), "violated" if one.name in found.violated else rest)
            for one in wanted
        },
        stories=[str(one) for one in runs],
        runs=[
            {
                "property": one.property,
                "job": one.job,
                "events": [str(step) for step in one.steps],
            }
            for one in runs
        ],
    )
