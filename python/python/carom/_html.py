"""Tables for notebooks: plain HTML without anything from outside, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

#: Entries of an array that are shown in full.
_MANY = 24


def shown(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, np.ndarray):
        if value.size > _MANY:
            return f"array of shape {value.shape}"
        return np.array2string(value, precision=4, separator=", ")
    if isinstance(value, float):
        return f"{value:.9g}"
    text = str(value)
    # A sentence is told whole.
    return text if isinstance(value, str) or len(text) <= 120 else f"{text[:117]}..."


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """A title, and names with their values."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'><code>{escape(shown(value))}</code></td></tr>"
        for name, value in rows
    )
    return f"<div><strong>{escape(title)}</strong><table><tbody>{body}</tbody></table></div>"
