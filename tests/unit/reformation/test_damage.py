"""Records that are none of ours: one error that names the key, from every client."""

from __future__ import annotations

import re

import pytest

from phalanx_core.errors import SaveError
from phalanx_core.reformation.stores import Put
from tests.cases.protocol_setting import Setting

DAMAGE = {
    b"host/h0": b"x",
    b"host/zz": b"1",
    b"leader": b"\xff",
    b"layout": b"{}",
    b"suspect/zz": b"ecc",
    b"alloc/zz": b'{"job":"a","uid":1,"epoch":1,"fenced":false}',
    b"alloc/000": b'{"job":"b","uid":1,"epoch":1,"fenced":false}',
    b"alloc/111": b"[]",
    b"epoch/a": b"{}",
    b"epoch/a/b": b"{}",
    b"epoch/c": b"[" * 100_000,
    b"seal/a/1": b"{}",
    b"seal/a/x/1/1": b"{}",
    b"seal/a/0000000001/0000000001/00000000000000000020": b"7",
    b"seal/b/0000000001/0000000001/00000000000000000020": b"{}",
    b"lost/b/h0": b"",
    b"loaded/a": b"7",
    b"epoch/d": b'{"uid":1e999,"epoch":1,"phase":"RUN","cause":"REPAIR"}',
    b"alloc/001": b'{"job":[],"uid":1,"epoch":1,"fenced":false}',
}


@pytest.mark.parametrize("key", DAMAGE)
def test_damage_is_named(key: bytes) -> None:
    """The key, and what is wrong; a tick raises it too, and writes nothing."""
    setting = Setting()
    engine = setting.engine()
    setting.running(engine, a=1)
    setting.sound()
    found = setting.store.transaction([], [Put(b"phalanx/" + key, DAMAGE[key])])
    for call in (engine.tick, engine.observe, lambda: setting.user.admit("d", "1")):
        with pytest.raises(SaveError, match=re.escape(repr(b"phalanx/" + key))):
            call()
    assert setting.store.get(b"phalanx/log").mod_revision < found.revision  # type: ignore[union-attr]
