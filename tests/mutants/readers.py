"""Breaks the readers of cluster files one line at a time; a test must fail for each.

``python -m tests.mutants.readers [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

FAULTS = (
    Fault(
        "alias of the next level",
        "level_lists.py",
        "zip(self.keys, self.aliases, strict=True))\n        used",
        "zip(self.keys, self.aliases[1:] + self.aliases[:1], strict=True))\n        used",
        "test_kai_topology.py::test_alias_names_its_level",
    ),
    Fault(
        "first of several Topology objects",
        "level_lists.py",
        "if len(found) > 1:",
        "if len(found) > 9:",
        "test_kueue_topology.py::test_several_need_a_choice",
    ),
    Fault(
        "levels narrowest first",
        "topology_objects.py",
        "document.where, tuple(keys),",
        "document.where, tuple(keys[::-1]),",
        "test_kueue_topology.py::test_levels_of_every_version",
    ),
    Fault(
        "host name anywhere",
        "topology_objects.py",
        "at + 1 < len(keys)",
        "at + 1 < 0",
        "test_kueue_topology.py::test_bad_levels",
    ),
    Fault(
        "any generation",
        "slice_pools.py",
        'if _field(document, "generation", int) == newest:',
        "if newest >= 0:",
        "test_slice_pools.py::test_a_pool_in_change",
    ),
    Fault(
        "incomplete pool used",
        "slice_pools.py",
        "if wanted == len(current):",
        "if wanted >= len(current):",
        "test_slice_pools.py::test_a_pool_in_change",
    ),
    Fault(
        "old shape unread",
        "slice_devices.py",
        'device.get("basic", device)',
        'device.get("basics", device)',
        "test_resource_slices.py::test_basic_shape",
    ),
    Fault(
        "bus id as text",
        "slice_devices.py",
        'return int(domain or "0", 16), int(bus, 16), int(slot, 16), int(function)',
        "return tuple(map(ord, text))",
        "test_resource_slices.py::test_order_by_bus",
    ),
    Fault(
        "unknown effect is strong",
        "slice_devices.py",
        'return effect if effect in ("NoSchedule", "NoExecute") else "None"',
        "return str(effect)",
        "test_resource_slices.py::test_taints_are_noted",
    ),
    Fault(
        "shared counters ignored",
        "resource_slices.py",
        "if any(device.consumes for device in devices):",
        "if not devices:",
        "test_slice_counters.py::test_devices_that_exclude_each_other",
    ),
    Fault(
        "smallest device kept",
        "slice_counters.py",
        "(-share(row), natural(row.name))",
        "(share(row), natural(row.name))",
        "test_slice_counters.py::test_devices_that_exclude_each_other",
    ),
    Fault(
        "one GPU twice",
        "resource_slices.py",
        "if device.uuid is None:",
        "if device.uuid != 0:",
        "test_slice_counters.py::test_one_uuid_is_one_gpu",
    ),
    Fault(
        "parts are leaves",
        "slice_devices.py",
        "if kind != driver.whole and (",
        "if kind not in (driver.whole, *driver.parts) and (",
        "test_slice_counters.py::test_whole_and_parts",
    ),
    Fault(
        "device's own place unread",
        "resource_slices.py",
        "host = places.host_of(document, device.path, device.place)",
        'host = device.place.get("nodeName")',
        "test_slice_places.py::test_each_device_says_where",
    ),
    Fault(
        "a number ends with its window",
        "json_stream.py",
        "_NUMBER_CUT_MAX = 2",
        "_NUMBER_CUT_MAX = -1",
        "test_json_stream.py::test_same_documents",
    ),
    Fault(
        "lines counted from the window",
        "json_stream.py",
        "return self._line + lines,",
        "return lines,",
        "test_json_stream.py::test_same_refusals",
    ),
    Fault(
        "items named by what is known so far",
        "object_lists.py",
        'if self.named_by not in (None, (kind, owner.get("apiVersion"))):',
        "if False:",
        "test_json_stream.py::test_what_is_refused",
    ),
    Fault(
        "a list held until its end",
        "object_lists.py",
        "            self.kept.append(keep(item))\n        elif",
        "            self.unnamed[index] = item\n            self.kept.append(None)\n        elif",
        "test_json_stream.py::test_each_item_is_handed_on",
    ),
    Fault(
        "slices held as written",
        "resource_slices.py",
        '        document.cut("spec")\n',
        "",
        "test_json_stream.py::test_what_is_cut_away_is_not_needed",
    ),
    Fault(
        "a rule without a selector selects all",
        "device_taint_rules.py",
        "    if selector is None:\n",
        "    selector = selector or {}\n    if selector is None:\n",
        "test_device_taint_rules.py::test_what_is_selected",
    ),
    Fault(
        "a rule of any driver",
        "taint_rules.py",
        "if rule.driver in (None, driver) and",
        "if",
        "test_device_taint_rules.py::test_what_is_selected",
    ),
    Fault(
        "a GPU of any vendor needs no type",
        "slice_devices.py",
        "(driver.is_typed or kind is not None)",
        "kind is not None",
        "test_gpu_drivers.py::test_types_are_of_their_driver",
    ),
    Fault(
        "pools of two drivers are one",
        "slice_pools.py",
        'pools.setdefault((driver, _field(document, "name", str)), {})',
        'pools.setdefault(("", _field(document, "name", str)), {})',
        "test_gpu_drivers.py::test_two_vendors_in_one_cluster",
    ),
    Fault(
        "GPU taint cordons",
        "node_health.py",
        "if key == GPU_TAINT or key in tolerate:",
        "if key in tolerate:",
        "test_node_health.py::test_what_a_taint_means",
    ),
    Fault(
        "eviction is a cordon",
        "node_health.py",
        "host.down = True",
        "host.cordoned = True",
        "test_node_health.py::test_what_a_taint_means",
    ),
    Fault(
        "health of the second copy lost",
        "kubernetes_nodes.py",
        "    mark(document, host, inventory.options.tolerate)\n    if",
        "    if",
        "test_node_health.py::test_two_copies_of_a_node",
    ),
    Fault(
        "copies may differ",
        "label_levels.py",
        "    agreement.check_twins(inventory, [key for key, _ in rows])\n",
        "",
        "test_kubernetes_nodes.py::test_two_states_of_one_node",
    ),
    Fault(
        "nested is crossing",
        "agreement.py",
        "        and pairs[first[host], second[host]] < theirs[second[host]]\n",
        "",
        "test_agreement.py::test_crossing_by_sets",
    ),
    Fault(
        "racks of one name are one",
        "agreement.py",
        "host: path[: level + 1]",
        "host: path[level : level + 1]",
        "test_agreement.py::test_racks_of_one_name",
    ),
    Fault(
        "clique right at the hosts",
        "label_guests.py",
        "        if all(len(labels) == 1 for labels in above.values()):\n",
        "        if True:\n",
        "test_agreement.py::test_nvlink_domain_over_switches",
    ),
    Fault(
        "zero cluster is a domain",
        "label_families.py",
        "_ZERO_CLUSTER.fullmatch(value)",
        "not value",
        "test_kubernetes_nodes.py::test_cliques",
    ),
)


TABLE = Table("phalanx_core/topology/readers", "tests/unit/topology", FAULTS)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
