"""JSON laid out for people: a line a field, and a line a row of a table."""

from __future__ import annotations

import json
from collections.abc import Mapping


def json_text(told: Mapping[str, object]) -> str:
    """One JSON object as text.

    Examples
    --------
    >>> print(json_text({"ranks": 2, "hosts": [{"host": "a", "ranks": [0, 1]}]}), end="")
    {
      "ranks": 2,
      "hosts": [
        {"host": "a", "ranks": [0, 1]}
      ]
    }
    """
    fields = ",\n".join(f"  {json.dumps(key)}: {_field(told[key])}" for key in told)
    return f"{{\n{fields}\n}}\n"


def _field(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = ",\n".join(f"    {json.dumps(row)}" for row in value)
        return f"[\n{rows}\n  ]"
    return json.dumps(value)
