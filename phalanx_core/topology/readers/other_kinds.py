"""Kubernetes objects that are met beside those that are read, and why they are not."""

from __future__ import annotations

_NOT_READ = "this kind is not read"
_CLAIM = "what is allocated shapes no cluster: a planner takes over what runs"
_QUEUE = "queues and workloads shape no cluster"
_BY_KIND = {
    "NodeFeature": "nfd-master puts its labels on the Node, where they are read",
    "NodeFeatureGroup": "it lists Nodes by their features, and nests no domains",
    "NodeFeatureRule": "nfd-master puts its labels on the Node, where they are read",
    "ResourceFlavor": (
        "it selects the Nodes of a quota: the Topology objects and the Nodes' labels "
        "name the domains"
    ),
    "ComputeDomain": (
        "it tells of the hosts of running workloads alone: the label "
        "nvidia.com/gpu.clique of the Nodes is read"
    ),
    "DeviceClass": "it selects devices for claims, and shapes no cluster",
    "ResourceClaim": _CLAIM,
    "ResourceClaimTemplate": _CLAIM,
    "ClusterQueue": _QUEUE,
    "LocalQueue": _QUEUE,
    "Workload": _QUEUE,
    "PodGroup": _QUEUE,
    "Queue": _QUEUE,
}
_BY_KIND["ComputeDomainClique"] = _BY_KIND["ComputeDomain"]


def why_not_read(kind: str) -> str:
    """Why an object of this kind is left out, one sentence.

    Examples
    --------
    >>> why_not_read("LocalQueue"), why_not_read("Whatever")
    ('queues and workloads shape no cluster', 'this kind is not read')
    """
    return _BY_KIND.get(kind, _NOT_READ)
