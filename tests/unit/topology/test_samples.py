"""Real files of the formats: each is read, or refused by name, as a table says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import node, write

SAMPLES = Path(__file__).resolve().parents[3] / "../shared/samples"
CLUSTER = ("gpu", "host", "cluster")
TREE2 = ("gpu", "host", "switch-0", "switch-1")
TREE3 = (*TREE2, "switch-2")
BLOCKS = ("gpu", "host", "block", "block-8", "block-16", "block-32", "cluster")
BLOCKS_OF_8 = ("gpu", "host", "block", "block-16", "block-32", "cluster")
NVL72 = ("gpu", "host", "accelerator", "switch-0", "switch-1", "switch-2")
TWO_DOMAINS = (
    *("gpu", "host", "accelerator", "switch-0", "accelerator-domain"),
    *("switch-1", "switch-2"),
)

# file: (leaves with 8 GPUs a host where the file says none, hosts, levels, types)
READ = {
    "dra-resourceslice/openshift-t4-v1.yaml": (2, 1, CLUSTER, ("Tesla-T4",)),
    "dra-resourceslice/vks-135-list.yaml": (
        4,
        4,
        CLUSTER,
        ("GRID-A100-4C", "GRID-A100-40C"),
    ),
    "dra-resourceslice/vks-a100-list-v1.yaml": (2, 2, CLUSTER, ("GRID-A100-10C",)),
    # 6 CT1, 208 V100, 32 V100 with InfiniBand, 24 P100; host 1.0.0.2 has two types.
    "hived-config/design.yaml": (
        270,
        20,
        ("gpu", "host", "cell-1", "cell-2", "cluster"),
        ("CT1", "DGX2-V100", "IB-DGX2-V100-V100", "DGX1-P100"),
    ),
    "hived-config/feature-config-2.yaml": (
        20,
        5,
        ("gpu", "host", "cell-1", "cluster"),
        ("K80", "M60"),
    ),
    "slurm-topology-conf/block-8x4.conf": (256, 32, BLOCKS, ("gpu",)),
    "slurm-topology-conf/tree-disconnected-trunks.conf": (320, 40, TREE2, ("gpu",)),
    "slurm-topology-conf/tree-testcase3.conf": (3200, 400, TREE3, ("gpu",)),
    "slurm-topology-yaml/manpage-all-kinds.yaml": (32, 4, TREE2, ("gpu",)),
    "topograph/expected.slinky-dra-block.conf": (768, 96, BLOCKS_OF_8, ("gpu",)),
    "topograph/expected.slinky-oci-sim-tree.conf": (768, 96, TREE3, ("gpu",)),
    # 14 racks of 9 hosts (one of 7) and 15 (one of 5).
    "topograph/model-dual-xclr-irregular.yaml": (2040, 255, TWO_DOMAINS, ("gpu",)),
    "topograph/model-nvl72.yaml": (576, 72, NVL72, ("gpu",)),
}

REFUSED = {
    # Another vendor's driver, so no GPU that we know.
    "dra-resourceslice/kep4815-multihost-perdevice.yaml": (
        "at least one GPU.*2 x ResourceSlice of driver tpu.dra.example.com"
    ),
    "dra-resourceslice/kep4815-partitionable.yaml": (
        "at least one GPU.*2 x ResourceSlice of driver resource-driver.example.com"
    ),
    # The oldest shape: understood, but it holds channels only.
    "dra-resourceslice/nvidia-imex-v1alpha3.yaml": (
        "at least one GPU.*20 x device of type imex-channel"
    ),
    # Lists of label keys without the Nodes; with them, see below.
    "kai-topology/docs-cluster-topology.yaml": (
        "at least one GPU.* kai.scheduler/cluster-topology lists label keys of Nodes"
    ),
    "kai-topology/multi-topology-jobs.yaml": (
        "2 Topology objects could name the levels: kai.scheduler/rack-topology .*, "
        "kai.scheduler/zone-topology .*must choose one"
    ),
    "kai-topology/topology-aliases.yaml": (
        "at least one GPU.* kai.scheduler/network lists label keys of Nodes"
    ),
    "kueue-topology/multikueue-worker-setup.yaml": (
        "at least one GPU.* kueue.x-k8s.io/default lists label keys of Nodes"
    ),
    "kueue-topology/sample-gpu-queues.yaml": (
        "1 x object of kind ResourceFlavor.* kueue.x-k8s.io/default lists label keys"
    ),
    "kueue-topology/sample-queues.yaml": (
        "1 x object of kind ResourceFlavor.* kueue.x-k8s.io/default lists label keys"
    ),
    # A configuration of a load generator.
    "kueue-topology/perf-tas-generator.yaml": "document 1: format not known",
    # Configurations of a test tool, not objects of a cluster.
    "node-labels/kueue-hack-kind-cluster-tas.yaml": "1 x object of kind Cluster",
    "node-labels/kueue-kind-cluster-labels.yaml": "1 x object of kind Cluster",
    # Labels without their Node.
    "node-labels/vks-gfd-labels.json": "document 1: format not known",
    "slurm-topology-yaml/NEG-block_bad_options.yaml": (
        "topology block_bad_options: block.block_sizes: size 12 must be 4 times a power"
    ),
    "slurm-topology-yaml/NEG-block_blocks_not_list.yaml": (
        "topology block_blocks_not_list: block.blocks: must be a list of mappings"
    ),
    "slurm-topology-yaml/NEG-block_not_dict.yaml": (
        "topology block_not_dict: block: must be a mapping"
    ),
    "slurm-topology-yaml/NEG-flat_bool_mutually_exclusive.yaml": (
        "topology flat_bool_mutually_exclusive: flat: block is there too"
    ),
    "slurm-topology-yaml/NEG-ring_mutually_exclusive.yaml": (
        "topology ring_mutually_exclusive: ring: block is there too"
    ),
    "slurm-topology-yaml/NEG-torus3d_mutually_exclusive.yaml": (
        "topology torus3d_mutually_exclusive: torus3d: block is there too"
    ),
    # What topograph reads, not what it writes.
    "topograph/ibnetdiscover-example-bad.out": "no line of SwitchName, BlockName",
    "topograph/ibnetdiscover-example-first400.out": "no line of SwitchName, BlockName",
    "volcano-hypernode/NEG-design-doc-old-shape.yaml": (
        "HyperNode 'roce-network0': version: the draft shape with version and name"
    ),
    # Read with their Nodes, see below.
    "volcano-hypernode/benchmark-rack-labelmatch.yaml": (
        "HyperNode rack-0: spec.members.0..selector.labelMatch: needs the Nodes"
    ),
    "volcano-hypernode/kthena-two-tier.yaml": (
        "HyperNode s0: spec.members.0..selector.labelMatch: needs the Nodes"
    ),
    # A configuration of a controller.
    "volcano-hypernode/discovery-config-example.yaml": "document 1: format not known",
}

needs_samples = pytest.mark.skipif(
    not SAMPLES.exists(), reason="the shared sample files are not here"
)


def sample(name: str) -> Path:
    """Path of a sample file."""
    return SAMPLES / name


@needs_samples
@pytest.mark.parametrize("name", READ)
def test_read(name: str) -> None:
    """Leaves, hosts, levels and types are those counted by eye in the file."""
    leaves, hosts, levels, types = READ[name]
    count = 8 if name.startswith(("slurm", "topograph")) else None
    made = Topology.read(sample(name), gpus_per_host=count)
    assert made.report is not None
    assert (made.leaf_count, made.report.hosts) == (leaves, hosts)
    assert made.levels == levels
    assert made.type_names == types


@needs_samples
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """One TopologyError that names the file and says why."""
    with pytest.raises(TopologyError, match=REFUSED[name]) as caught:
        Topology.read(sample(name))
    assert name.rsplit("/", 1)[-1] in str(caught.value)


@needs_samples
def test_table_is_complete() -> None:
    """Every sample of every kind has its row."""
    files = [path for path in SAMPLES.rglob("*") if path.name != "SOURCES.txt"]
    names = {str(path.relative_to(SAMPLES)) for path in files if path.is_file()}
    assert names == {*READ, *REFUSED}


def labelled(labels: dict[str, str], gpus: int = 2) -> dict[str, Any]:
    """A Node of a name and these labels."""
    made = node(labels["kubernetes.io/hostname"], gpus)
    made["metadata"]["labels"] = labels
    return made


def kueue_nodes() -> list[dict[str, Any]]:
    """Eight Nodes: two blocks of two racks, and a rack's name recurs in each block."""
    prefix = "cloud.provider.com/topology-"
    return [
        labelled(
            {
                "kubernetes.io/hostname": f"n{at}",
                f"{prefix}block": f"b{1 + at // 4}",
                f"{prefix}rack": f"r{1 + at % 4 // 2}",
                "topology.kubernetes.io/zone": "z",
            }
        )
        for at in range(8)
    ]


@needs_samples
@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("kueue-topology/sample-queues.yaml", ("rack", "block")),
        ("kueue-topology/sample-gpu-queues.yaml", ("rack", "block")),
        ("kueue-topology/multikueue-worker-setup.yaml", ()),
        ("kai-topology/docs-cluster-topology.yaml", ("rack", "block")),
    ],
)
def test_lists_of_keys_with_nodes(
    tmp_path: Path, name: str, levels: tuple[str, ...]
) -> None:
    """The sample's own keys are the levels; a zone that it does not list is none."""
    nodes = write(tmp_path / "nodes.json", *kueue_nodes())
    made = Topology.read([sample(name), nodes])
    assert made.levels == ("gpu", "host", *levels, "cluster")
    counts = [made.domain_count(level) for level in made.levels]
    assert counts == [16, 8, *((4, 2) if levels else ()), 1]


@needs_samples
def test_alias_and_choice_with_nodes(tmp_path: Path) -> None:
    """KAI's aliases name the levels; of two Topology objects a name chooses."""
    rows = [
        labelled(
            {
                "kubernetes.io/hostname": f"n{at}",
                "accelerator.nvidia.com/rack": f"r{at // 3}",
                "topology.test/rack-domain": f"r{at // 2}",
                "topology.test/zone-domain": "z",
            }
        )
        for at in range(6)
    ]
    nodes = write(tmp_path / "nodes.json", *rows)
    made = Topology.read([sample("kai-topology/topology-aliases.yaml"), nodes])
    assert made.levels == ("gpu", "node", "rack", "cluster")
    assert len(made.leaves("rack", "r1")) == 6
    several = [sample("kai-topology/multi-topology-jobs.yaml"), nodes]
    made = Topology.read(several, topology="rack-topology")
    assert made.levels == ("gpu", "host", "rack-domain", "cluster")
    assert made.domain_count("rack-domain") == 3
    made = Topology.read(several, topology="zone-topology")
    assert made.domain_count("zone-domain") == 1


@needs_samples
def test_labels_of_a_real_host(tmp_path: Path) -> None:
    """All labels that GPU Feature Discovery puts on a Node: one virtual A100."""
    labels = json.loads(sample("node-labels/vks-gfd-labels.json").read_text())
    row = labelled(labels, gpus=1)
    made = Topology.read(write(tmp_path / "nodes.json", row))
    assert made.names == (f"{labels['kubernetes.io/hostname']}/gpu-0",)
    assert made.levels == CLUSTER
    assert made.type_names == ("GRID-A100-10C",)
    assert made.nvlink_level is None


@needs_samples
@pytest.mark.parametrize("name", [name for name in READ if name.startswith("slurm")])
def test_slurm_without_gpus_is_refused(name: str) -> None:
    """A topology.conf alone does not say how many GPUs a host has."""
    with pytest.raises(TopologyError, match=r"host \w+: GPUs are not known"):
        Topology.read(sample(name))


@needs_samples
def test_hyper_nodes_with_their_nodes(tmp_path: Path) -> None:
    """Both samples that select by labels, with Nodes of these labels."""
    labels = [{"kubernetes.io/hostname": "kthena-worker"}, {"topology-rack": "rack-0"}]
    items = []
    for index, row in enumerate(labels):
        made = node(f"n{index}", 8)
        made["metadata"]["labels"] = row
        items.append(made)
    nodes = write(tmp_path / "nodes.json", *items)
    two = Topology.read([sample("volcano-hypernode/kthena-two-tier.yaml"), nodes])
    assert two.levels == ("gpu", "host", "tier-1", "tier-2", "cluster")
    assert two.domain_of("tier-2").tolist() == [0] * 8 + [-1] * 8
    rack = sample("volcano-hypernode/benchmark-rack-labelmatch.yaml")
    one = Topology.read([nodes, rack])
    assert one.levels == ("gpu", "host", "rack", "cluster")
    assert one.domain_of("rack").tolist() == [-1] * 8 + [0] * 8


@needs_samples
def test_c18_forest_of_switches() -> None:
    """C18: 16 + 16 + 8 hosts under no common root compile as three trees."""
    path = sample("slurm-topology-conf/tree-disconnected-trunks.conf")
    made = Topology.read(path, gpus_per_host=1)
    sizes = [len(made.leaves("switch-1", name)) for name in ("spineA", "spineB")]
    assert sizes == [16, 16]
    assert len(made.leaves("switch-0", "leafC")) == 8
    assert (made.domain_of("switch-1")[32:] == -1).all()
    assert made.distance(made.leaf("node1/gpu-0"), made.leaf("node16/gpu-0")) == 3
    assert made.distance(made.leaf("node1/gpu-0"), made.leaf("node17/gpu-0")) == 4
    assert made.distance(made.leaf("node33/gpu-0"), made.leaf("node40/gpu-0")) == 2


def test_c18_forest_of_labels() -> None:
    """C18: the same forest from labels needs no file."""
    hosts = [f"node{i}" for i in range(1, 41)]
    trunk = ["spineA"] * 16 + ["spineB"] * 16 + [None] * 8
    made = Topology.from_labels(["host", "spine"], [hosts, trunk])
    assert made.domain_count("spine") == 2
    assert made.distance(0, 15) == 2
    assert made.distance(0, 16) == 3
    assert made.distance(32, 39) == 3
