"""The example clusters compile to what their comments say, with a full report."""

from __future__ import annotations

from pathlib import Path

from phalanx_core.topology import LeftOut, LevelSummary, Topology

CLUSTERS = Path(__file__).resolve().parents[3] / "examples/clusters"


def test_h100_64() -> None:
    """64 hosts in leaf groups of 1 to 11, counted by Nodes and ResourceSlices."""
    made = Topology.read(CLUSTERS / "h100-64")
    assert made.levels == ("gpu", "host", "leafgroup", "superpod", "fabric", "cluster")
    sizes = sorted(
        len(made.leaves("leafgroup", group)) // 8
        for group in range(made.domain_count("leafgroup"))
    )
    assert sizes == [1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 6, 6, 6, 8, 11]
    assert made.type_names == ("NVIDIA-H100-80GB-HBM3",)
    assert made.type_index("H100") == 0
    assert made.nvlink_level == 1
    assert made.bandwidth == (None, 900e9, None, None, None, None)
    report = made.report
    assert report is not None
    counts = (report.files, report.documents, report.hosts, report.leaves)
    assert counts == (2, 128, 64, 512)
    assert report.left_out == ()
    assert report.notes == ()
    assert report.levels == (
        LevelSummary("host", 64, 8, 8.0, 8, 0),
        LevelSummary("leafgroup", 15, 1, 3.0, 11, 0),
        LevelSummary("superpod", 2, 7, 7.5, 8, 0),
        LevelSummary("fabric", 1, 2, 2.0, 2, 0),
        LevelSummary("cluster", 1, 1, 1.0, 1, 0),
    )


def test_h100_64_files_are_small() -> None:
    """Each example file stays under 400 kB."""
    files = sorted(path for path in CLUSTERS.rglob("*") if path.is_file())
    assert len(files) == 5
    assert all(path.stat().st_size < 400_000 for path in files)


def test_nvl72_pair() -> None:
    """Two racks of 18 x 4; the clique is the NVLink level at 1,800 GB/s a GPU."""
    made = Topology.read(CLUSTERS / "nvl72-pair.yaml")
    assert made.levels == ("gpu", "host", "clique", "cluster")
    assert made.leaf_count == 144
    assert len(made.leaves("clique", 0)) == 72
    assert made.nvlink_level == 2
    assert made.bandwidth[2] == 1800e9
    assert made.distance(made.leaf("gb200-a-01/gpu-0"), 71) == 2
    assert made.distance(0, made.leaf("gb200-b-01/gpu-0")) == 3


def test_slurm_tree() -> None:
    """24 hosts under six leaf switches; login hosts have no GPU."""
    made = Topology.read(CLUSTERS / "slurm-tree")
    assert made.levels == ("gpu", "host", "switch-0", "switch-1", "switch-2")
    sizes = [len(made.leaves("switch-0", f"leaf{i}")) // 8 for i in range(1, 7)]
    assert sizes == [4, 4, 3, 5, 4, 4]
    assert made.report is not None
    assert made.report.left_out == (
        LeftOut("host", "it has no GPU", 2, ("login1", "login2")),
    )
    assert made.report.to_dict()["types"] == (("h100", 192),)
    assert str(made.report).split("\n") == [
        "files 2  documents 2  hosts 24  leaves 192",
        "types  h100 x 192",
        "level             domains  fanout min / median / max",
        "switch-2                1  2 / 2 / 2",
        "switch-1                2  3 / 3 / 3",
        "switch-0                6  3 / 4 / 5",
        "host                   24  8 / 8 / 8",
        "odd  2 x switch-0: most have 4 host, 32 leaves (leaf3: 3, 24; leaf4: 5, 40)",
        "left out  2 x host: it has no GPU (login1, login2)",
    ]
