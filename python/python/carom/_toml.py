"""Dictionaries as TOML, infinite numbers included, which JSON has none of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import CaromError


def dumps(mapping: Mapping[str, Any]) -> str:
    """A dictionary of numbers, text, lists and dictionaries as TOML, one line for each key.

    Raises
    ------
    CaromError
        For values that TOML has no form of.
    """
    return "".join(f"{_key(key)} = {_value(value, key)}\n" for key, value in mapping.items())


def has_infinity(value: Any) -> bool:
    """True if a number within is infinite."""
    if isinstance(value, Mapping):
        return any(has_infinity(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_infinity(part) for part in value)
    return isinstance(value, float) and math.isinf(value)


def _key(key: str) -> str:
    return json.dumps(str(key))


def _value(value: Any, place: str) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise CaromError("non-finite", f"{place}: nan is no number")
        text = repr(value)
        # TOML wants a point or an exponent with digits before it.
        return text if "." in text or "e" in text or "inf" in text else text + ".0"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        parts = (f"{_key(k)} = {_value(v, f'{place}.{k}')}" for k, v in value.items())
        return "{ " + ", ".join(parts) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(v, f"{place}[{i}]") for i, v in enumerate(value)) + "]"
    raise CaromError("invalid-input", f"{place}: a {type(value).__name__} has no form in TOML")
