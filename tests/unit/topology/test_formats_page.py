"""Examples of docs/formats.md, read as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

from phalanx_core.topology import Topology

PAGE = Path(__file__).resolve().parents[3] / "docs/formats.md"


def test_tables(tmp_path: Path) -> None:
    """The CSV and the JSON of the page are one cluster."""
    blocks = re.findall(r"```(csv|json)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert [kind for kind, _ in blocks] == ["csv", "json"]
    made = []
    for kind, text in blocks:
        path = tmp_path / f"table.{kind}"
        path.write_text(text, encoding="utf-8")
        made.append(Topology.read(path))
    assert made[0] == made[1]
    assert made[0].levels == ("gpu", "host", "rack", "pod", "cluster")
    assert made[0].names == ("h1/gpu-0", "h1/gpu-1", "h2/gpu-0", "h3/gpu-0")
    for one in made:
        assert one.types == ("H100", "H100", "H100", "A100")
        assert one.report is not None
        assert one.report.tainted == ("h1/gpu-1",)
        assert one.report.cordoned == ("h3/gpu-0",)
