"""The documentation of label keys is complete, and names stay apart."""

from __future__ import annotations

from pathlib import Path

from phalanx_core.topology.readers import label_families as families

DOCS = Path(__file__).resolve().parents[3] / "docs/formats.md"


def test_every_key_is_documented() -> None:
    """The table has every family in its order, and every key of it."""
    lines = DOCS.read_text("utf-8").splitlines()
    rows = {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}
    for name, keys in families.FAMILIES.items():
        shown = ", ".join(f"`{key}`" for key, _ in keys)
        assert rows[name] == f"| {name} | {shown} |"
    whole = "\n".join(lines)
    for key, _ in (*families.REGIONS, *families.NVLINK_KEYS):
        assert f"`{key}`" in whole
    assert "fabric.topograph.run/tier-N" in whole


def test_names_that_are_taken() -> None:
    """A short name that another level has gives way to the whole key."""
    keys = ["a.io/rack", "b.io/rack", "a.io/host", "a.io/block", families.HOSTNAME]
    assert families.level_names(keys, taken=["block"]) == [
        ("a.io/rack", "a.io/rack"),
        ("b.io/rack", "b.io/rack"),
        ("a.io/host", "a.io/host"),
        ("a.io/block", "a.io/block"),
    ]


def test_domains_of_one_host() -> None:
    """Empty labels and zero cliques are no domains."""
    rows = [("a", "A"), ("b", "B"), (families.CLIQUE, "clique")]
    labels = {
        "a": "1",
        "b": "",
        families.CLIQUE: "00000000-0000-0000-0000-000000000000.0",
    }
    assert families.domains(labels, rows) == {"A": "1"}
    labels[families.CLIQUE] = "00000000-0000-0000-0000-000000000001.0"
    assert families.domains(labels, rows)["clique"].endswith("1.0")
