"""Progress on a terminal, as the command line shows it."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from typing import TypeVar

T = TypeVar("T")

#: Time before the progress is shown: shorter work shows none (s).
DELAY = 1.0


def _in_words(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole >= 300:
        return f"{whole // 60} min"
    rest = whole % 60 // 10 * 10
    return f"{whole // 60} min {rest} s" if rest else f"{whole // 60} min"


def shown(items: Collection[T], what: str) -> Iterator[T]:
    """The items; a line on a terminal's stderr counts those that are done once they take more than a second."""
    total = len(items)
    start = time.monotonic()
    is_visible = False
    try:
        for done, item in enumerate(items):
            spent = time.monotonic() - start
            if done and spent >= DELAY and sys.stderr.isatty():
                share = done / total
                left = _in_words(spent * (1.0 - share) / share)
                line = f"{what}: {done} of {total}, {int(100 * share)} %, {left} left"
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
                is_visible = True
            yield item
    finally:
        if is_visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
