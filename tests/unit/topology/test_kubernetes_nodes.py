"""Kubernetes Nodes: GPU counts, label families, levels and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core import Gang, Planner
from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import H100, node, slice_, write


def labelled(name: str, labels: dict[str, str]) -> dict[str, Any]:
    """A Node with whole label keys."""
    made = node(name)
    made["metadata"]["labels"].update(labels)
    return made


def test_blocks_and_racks(tmp_path: Path) -> None:
    """Two blocks that each call a rack "r1"; hosts sort as numbers."""
    path = write(
        tmp_path / "nodes.json",
        node("host10", 2, block="b1", rack="r1"),
        node("host2", 2, block="b1", rack="r1"),
        node("host1", 2, block="b2", rack="r1"),
    )
    made = Topology.read(path)
    assert made.levels == ("gpu", "host", "rack", "block", "cluster")
    assert made.names[::2] == ("host1/gpu-0", "host2/gpu-0", "host10/gpu-0")
    assert made.domain_names("rack") == ("b2/r1", "b1/r1")
    assert made.distance(0, 2) == 4
    assert made.distance(2, 4) == 2
    assert made.types[0] == H100
    assert made.nvlink_level == 1
    assert made.bandwidth[1] == 900e9
    assert made.nic_rails is not None
    assert made.nic_rails.tolist() == [0, 1, 0, 1, 0, 1]


def test_c20_block_and_host_of_one_name(tmp_path: Path) -> None:
    """C20: a block "b1" that holds a host "b1" is two domains of one name."""
    made = Topology.read(write(tmp_path / "n.json", node("b1", 4, block="b1")))
    assert made.report is not None
    assert made.report.hosts == 1
    assert made.leaves("host", "b1").tolist() == [0, 1, 2, 3]
    assert made.leaves("block", "b1").tolist() == [0, 1, 2, 3]
    assert made.distance(0, 3) == 1


def test_missing_label_is_no_domain(tmp_path: Path) -> None:
    """Two hosts without a rack share none, and the report says so."""
    path = write(
        tmp_path / "n.json",
        node("h1", 1, block="b", rack="r"),
        node("h2", 1, block="b"),
        node("h3", 1, block="b"),
    )
    made = Topology.read(path)
    assert made.domain_of("rack").tolist() == [0, -1, -1]
    assert made.distance(1, 2) == 3
    assert made.report is not None
    assert made.report.notes == (
        "2 of 3 hosts have no rack: they serve no constraint of that level",
    )


def test_cliques(tmp_path: Path) -> None:
    """A clique label is the NVLink level; a zero or empty one is no fabric."""
    uuid = "5f1c2d3e-0a4b-4c6d-8e7f-1029384756aa"
    cliques = [
        f"{uuid}.1",
        f"{uuid}.1",
        f"{uuid}.2",
        "",
        "00000000-0000-0000-0000-000000000000.0",
    ]
    rows = []
    for index, clique in enumerate(cliques):
        row = node(f"t{index}", 4, "NVIDIA-GB200")
        row["metadata"]["labels"]["nvidia.com/gpu.clique"] = clique
        rows.append(row)
    made = Topology.read(write(tmp_path / "n.json", *rows))
    assert made.levels == ("gpu", "host", "clique", "cluster")
    assert made.nvlink_level == 2
    assert made.bandwidth == (None, None, 1800e9, None)
    assert made.domain_of("clique")[::4].tolist() == [0, 0, 1, -1, -1]


@pytest.mark.parametrize("clique", ["", "00000000-0000-0000-0000-000000000000.0"])
def test_no_clique_anywhere(tmp_path: Path, clique: str) -> None:
    """Where no host is on a fabric of several, NVLink is the host's own."""
    rows = [labelled(f"h{at}", {"nvidia.com/gpu.clique": clique}) for at in range(2)]
    path = write(tmp_path / "n.json", *rows)
    made = Topology.read(path)
    assert made.levels == ("gpu", "host", "cluster")
    assert made.nvlink_level == 1
    assert Planner(made).place("job", Gang(16, group=8))
    rule = r"label key nvidia\.com/gpu\.clique: no Node with a GPU has this label"
    with pytest.raises(TopologyError, match=rule):
        Topology.read(path, label_keys=["nvidia.com/gpu.clique"])


def test_coreweave_and_regions(tmp_path: Path) -> None:
    """Regions stand above the family; the NVLink key nearest to the host."""
    row = labelled(
        "h",
        {
            "topology.kubernetes.io/region": "eu",
            "topology.kubernetes.io/zone": "eu-1",
            "backend.coreweave.cloud/fabric": "f",
            "backend.coreweave.cloud/superpod": "s",
            "backend.coreweave.cloud/leafgroup": "l",
            "ds.coreweave.com/nvlink.domain": "d",
        },
    )
    made = Topology.read(write(tmp_path / "n.json", row))
    assert made.levels == (
        "gpu",
        "host",
        "nvlink-domain",
        "leafgroup",
        "superpod",
        "fabric",
        "zone",
        "region",
        "cluster",
    )
    assert made.nvlink_level == 2


@pytest.mark.parametrize(
    ("labels", "levels"),
    [
        (
            {
                "fabric.topograph.run/tier-0": "a",
                "fabric.topograph.run/tier-2": "c",
                "fabric.topograph.run/tier-10": "d",
                "accelerator.topograph.run/domain": "n",
            },
            ("accelerator", "tier-0", "tier-2", "tier-10"),
        ),
        (
            {
                "network.topology.nvidia.com/spine": "s",
                "network.topology.nvidia.com/block": "b",
                "network.topology.nvidia.com/accelerator": "n",
            },
            ("accelerator", "block", "spine"),
        ),
        (
            {
                "cloud.google.com/gce-topology-block": "b",
                "cloud.google.com/gce-topology-subblock": "s",
                "cloud.google.com/gce-topology-host": "m",
            },
            ("machine", "subblock", "block"),
        ),
        (
            {
                "topology.k8s.aws/network-node-layer-1": "1",
                "topology.k8s.aws/network-node-layer-2": "2",
                "topology.k8s.aws/network-node-layer-3": "3",
                "topology.k8s.aws/capacity-block-id": "cb",
            },
            ("layer-3", "layer-2", "layer-1"),
        ),
        (
            {
                "oci.oraclecloud.com/host.network_block_id": "b",
                "oci.oraclecloud.com/host.rack_id": "r",
            },
            ("rack", "block"),
        ),
        ({"kubernetes.io/hostname": "h"}, ()),
    ],
)
def test_families(
    tmp_path: Path, labels: dict[str, str], levels: tuple[str, ...]
) -> None:
    """Each known family gives its levels, nearest first."""
    made = Topology.read(write(tmp_path / "n.json", labelled("h", labels)))
    assert made.levels == ("gpu", "host", *levels, "cluster")


def test_one_family_of_two(tmp_path: Path) -> None:
    """The family on more hosts names the network; the other is left out."""
    oracle = {"oci.oraclecloud.com/host.rack_id": "r"}
    path = write(
        tmp_path / "n.json",
        labelled("h1", {**oracle, "cloud.provider.com/topology-rack": "x"}),
        labelled("h2", oracle),
    )
    made = Topology.read(path)
    assert made.levels == ("gpu", "host", "rack", "cluster")
    assert made.domain_names("rack") == ("r",)
    assert made.report is not None
    assert str(made.report.left_out[0]) == (
        "1 x label family: labels of Oracle Cloud describe the same network (Kueue)"
    )


def test_label_keys(tmp_path: Path) -> None:
    """A caller's keys replace the known ones, broadest first."""
    row = labelled("h", {"example.com/hall": "1", "example.com/row": "7"})
    path = write(tmp_path / "n.json", row)
    keys = ["example.com/hall", "example.com/row", "kubernetes.io/hostname"]
    made = Topology.read(path, label_keys=keys)
    assert made.levels == ("gpu", "host", "row", "hall", "cluster")
    with pytest.raises(TopologyError, match=r"label key example\.com/rack: no"):
        Topology.read(path, label_keys=["example.com/rack"])
    with pytest.raises(TopologyError, match="hostname: may only be the last"):
        Topology.read(path, label_keys=keys[::-1])


def test_counts(tmp_path: Path) -> None:
    """Hosts without GPUs are left out; shared GPUs count once; MIG parts do not."""
    shared = node("h1", 32, "NVIDIA-L40S-SHARED")
    shared["metadata"]["labels"]["nvidia.com/gpu.replicas"] = "4"
    mig = node("h2", "6", "NVIDIA-A100-SXM4-80GB")
    mig["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "14"
    made = Topology.read(
        write(tmp_path / "n.json", shared, mig, node("cpu1", None), node("cpu2", 0))
    )
    assert made.leaf_count == 14
    assert made.type_names == ("NVIDIA-L40S", "NVIDIA-A100-SXM4-80GB")
    assert made.nvlink_level is None
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "2 x host: it has no GPU (cpu1, cpu2)",
        "1 x resource nvidia.com/mig-1g.10gb: a part of a GPU is not a leaf (h2)",
    ]
    assert made.report.notes == (
        "1 x host that shares each GPU 4 times: one leaf a GPU (h1)",
    )


def test_replicas_must_divide(tmp_path: Path) -> None:
    """A count that the replicas do not divide is refused with both numbers."""
    row = node("h", 7)
    row["metadata"]["labels"]["nvidia.com/gpu.replicas"] = "4"
    with pytest.raises(TopologyError, match="7 does not divide into 4 replicas a GPU"):
        Topology.read(write(tmp_path / "n.json", row))


def test_one_nvlink_key_of_two(tmp_path: Path) -> None:
    """The clique names the NVLink domain where a provider's key says the same."""
    keys = {"nvidia.com/gpu.clique": "c.1", "ds.coreweave.com/nvlink.domain": "d"}
    made = Topology.read(write(tmp_path / "n.json", labelled("h", keys)))
    assert made.levels == ("gpu", "host", "clique", "cluster")
    assert made.report is not None
    assert str(made.report.left_out[0]) == (
        "1 x label key: nvidia.com/gpu.clique names the NVLink domain "
        "(ds.coreweave.com/nvlink.domain)"
    )


def test_clique_across_blocks(tmp_path: Path) -> None:
    """A clique that crosses a level above it is compiled as several, with a note."""
    rows = [node("h1", 4, block="b1"), node("h2", 4, block="b2")]
    for row in rows:
        row["metadata"]["labels"]["nvidia.com/gpu.clique"] = "c.1"
    made = Topology.read(write(tmp_path / "n.json", *rows))
    assert made.domain_count("clique") == 2
    assert made.report is not None
    assert made.report.notes == (
        "clique c.1 lies in 2 domains of the levels above: compiled as so many",
    )


def test_typed_list(tmp_path: Path) -> None:
    """Items of a NodeList leave their kind to the list."""
    row = node("h1", 2)
    del row["kind"], row["apiVersion"]
    path = tmp_path / "n.yaml"
    path.write_text(f"kind: NodeList\napiVersion: v1\nitems: [{row}]\n")
    assert Topology.read(path).leaf_count == 2


def test_other_kinds_are_left_out(tmp_path: Path) -> None:
    """Objects of unread kinds are counted, not errors."""
    pod = {"kind": "Pod", "metadata": {"name": "p"}}
    made = Topology.read(write(tmp_path / "n.json", node("h"), pod, pod))
    assert made.report is not None
    assert str(made.report.left_out[0]) == (
        "2 x object of kind Pod: this kind is not read (p, ...)"
    )


@pytest.mark.parametrize(
    ("kind", "version", "spec", "why"),
    [
        # Were its labels read, a Node would get some that its cluster refused.
        (
            "NodeFeature",
            "nfd.k8s-sigs.io/v1alpha1",
            {"labels": {"cloud.provider.com/topology-rack": "r9"}},
            "nfd-master puts its labels on the Node, where they are read",
        ),
        # A flavor may select by any label, and names none as a domain.
        (
            "ResourceFlavor",
            "kueue.x-k8s.io/v1beta2",
            {"nodeLabels": {"pool": "a"}, "topologyName": "t"},
            "it selects the Nodes of a quota: the Topology objects and the Nodes' "
            "labels name the domains",
        ),
        (
            "ComputeDomain",
            "resource.nvidia.com/v1beta1",
            {"numNodes": 2},
            "it tells of the hosts of running workloads alone: the label "
            "nvidia.com/gpu.clique of the Nodes is read",
        ),
    ],
)
def test_kinds_that_tell_nothing_new(
    tmp_path: Path, kind: str, version: str, spec: dict[str, Any], why: str
) -> None:
    """They are left out with their reason, and change nothing."""
    other = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "o", "labels": {"nfd.node.kubernetes.io/node-name": "h"}},
        "spec": spec,
    }
    plain = Topology.read(write(tmp_path / "1.json", node("h", rack="r1")))
    made = Topology.read(write(tmp_path / "2.json", node("h", rack="r1"), other))
    assert made == plain
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        f"1 x object of kind {kind}: {why} (o)"
    ]


@pytest.mark.parametrize("key", ["amd.com/gpu", "gpu.intel.com/i915"])
def test_gpus_of_other_vendors(tmp_path: Path, key: str) -> None:
    """A Node's number may be of parts, so it is left out, and said to be there."""
    other = node("h2", None)
    other["status"]["allocatable"][key] = "8"
    why = f"of {key} only ResourceSlices tell whether they are whole GPUs"
    made = Topology.read(write(tmp_path / "1.json", node("h1"), other))
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [f"1 x host: {why} (h2)"]
    with pytest.raises(TopologyError, match=f"at least one GPU.*1 x host: {why}"):
        Topology.read(write(tmp_path / "2.json", other))
    device = {"name": "a", "attributes": {"type": {"string": "amdgpu"}}}
    told = slice_("h2", [device], driver="gpu.amd.com")
    made = Topology.read(write(tmp_path / "3.json", other, told))
    assert made.names == ("h2/a",)
    assert made.report is not None
    assert made.report.left_out == ()


def test_same_object_twice(tmp_path: Path) -> None:
    """The same Node in two files counts once, whatever differs that is not read."""
    first = write(tmp_path / "a.json", node("h", 4, rack="r"))
    again = write(tmp_path / "b.json", node("h", 4, rack="r"))
    later = node("h", 4, rack="r")
    later["metadata"]["labels"]["nvidia.com/gfd.timestamp"] = "1700000000"
    later["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    for other in (again, write(tmp_path / "c.json", later)):
        made = Topology.read([first, other])
        assert made.leaf_count == 4
        assert made.report is not None
        assert made.report.notes == ()


def test_two_states_of_one_node(tmp_path: Path) -> None:
    """Copies that differ in GPUs or in a domain are refused, naming both files."""
    first = write(tmp_path / "a.json", node("h", 4, rack="r"))
    fewer = write(tmp_path / "b.json", node("h", 3, rack="r"))
    moved = write(tmp_path / "c.json", node("h", 4, rack="s"))
    rule = (
        r"b\.json: Node h: status\.allocatable\[nvidia\.com/gpu\]: 3 GPUs of type "
        r"NVIDIA-H100-80GB-HBM3, but 4 GPUs of type NVIDIA-H100-80GB-HBM3 in .*a\.json"
    )
    with pytest.raises(TopologyError, match=rule):
        Topology.read([first, fewer])
    rule = (
        r"c\.json: Node h: metadata\.labels\[cloud\.provider\.com/topology-rack\]: "
        r"'s', but 'r' in .*a\.json"
    )
    with pytest.raises(TopologyError, match=rule):
        Topology.read([first, moved])


def test_single_strategy_of_parts(tmp_path: Path) -> None:
    """Where nvidia.com/gpu counts MIG parts of one profile, there is no whole GPU."""
    parts = node("h1", 14, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
    made = Topology.read(write(tmp_path / "n.json", parts, node("h2", 2)))
    assert made.names == ("h2/gpu-0", "h2/gpu-1")
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "1 x host: it has no GPU (h1)",
        "1 x host whose nvidia.com/gpu are MIG parts: a part of a GPU is not a leaf (h1)",
    ]


def test_families_that_cross(tmp_path: Path) -> None:
    """Two families of labels that no tree can hold are refused, unless keys choose."""
    rows = []
    for name, block, rack in (("h1", "x", "1"), ("h2", "x", "2"), ("h3", "y", "2")):
        labels = {"cloud.provider.com/topology-block": block}
        rows.append(
            labelled(name, {**labels, "oci.oraclecloud.com/host.rack_id": rack})
        )
    path = write(tmp_path / "n.json", *rows)
    rule = (
        "Node h2: in rack 2 by labels of Oracle Cloud, in block x by labels of Kueue, "
        "and no tree holds both domains"
    )
    with pytest.raises(TopologyError, match=rule):
        Topology.read(path)
    made = Topology.read(path, label_keys=["cloud.provider.com/topology-block"])
    assert made.domain_names("block") == ("x", "y")


def test_nvlink_keys_that_cross(tmp_path: Path) -> None:
    """A provider's NVLink domain may hold cliques, but not cut one."""
    keys = ("nvidia.com/gpu.clique", "ds.coreweave.com/nvlink.domain")
    wide = [("c.1", "d"), ("c.2", "d"), ("c.2", "d")]
    cut = [("c.1", "d"), ("c.2", "d"), ("c.2", "e")]
    for pairs, crossing in ((wide, False), (cut, True)):
        rows = [
            labelled(f"h{at}", dict(zip(keys, pair, strict=True)))
            for at, pair in enumerate(pairs)
        ]
        path = write(tmp_path / "n.json", *rows)
        if crossing:
            with pytest.raises(
                TopologyError, match=r"Node h1: in clique c\.2 by nvidia"
            ):
                Topology.read(path)
        else:
            assert Topology.read(path).domain_names("clique") == ("c.1", "c.2")


def test_gpus_that_are_not_offered(tmp_path: Path) -> None:
    """A host of 8 that offers 6 has 6 leaves, and the report says so."""
    rows = [node("h1", 6), node("h2", 8), node("h3", 0)]
    for row in rows:
        row["status"]["capacity"] = {"nvidia.com/gpu": "8"}
    made = Topology.read(write(tmp_path / "n.json", *rows))
    assert made.leaf_count == 14
    assert made.report is not None
    assert made.report.notes == (
        "2 x host that offers fewer GPUs than it has: those it offers are leaves "
        "(h1: 6 of 8, h3: 0 of 8)",
    )
    rows[0]["status"]["capacity"] = {"nvidia.com/gpu": "x"}
    rule = r"status\.capacity\[nvidia\.com/gpu\]: must be a whole number"
    with pytest.raises(TopologyError, match=rule):
        Topology.read(write(tmp_path / "n.json", *rows))
