"""``python -m carom.benchmark``: what calling from Python costs, beside the same work in Rust.

18 velocities, four contacts of three rows, one thread. Times are processor time of the process, each the
shortest of several turns: whatever else the machine does makes them longer, never shorter.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ._arrays import Floats
from ._contacts import Contacts
from ._impact import Impact
from ._problems import json_lines

__all__ = ["main"]

_TURNS = 25


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _problem() -> tuple[Impact, Floats]:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(18, 18))
    contacts = Contacts.from_rows(rng.normal(size=(12, 18)), friction=0.5)
    return Impact(root @ root.T + 18 * np.eye(18), contacts), rng.normal(size=(1000, 18))


def main() -> None:
    """Print the numbers.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.main()  # doctest: +SKIP
    propagative: 18 velocities, 4 contacts, 1 thread, processor time
    """
    impact, velocities = _problem()
    size = len(velocities)
    for law in ("propagative", "moreau-newton"):
        lines = "\n".join(impact.problem(v, law) for v in velocities[:100])
        loops, batches, texts, calls = [], [], [], []
        for _ in range(_TURNS):
            # In turns, so that all of them meet the same machine.
            loops.append(_seconds(lambda: impact._native.loop(velocities, law)) / size)
            batches.append(_seconds(lambda: impact.resolve_batch(velocities, law, threads=1)) / size)
            texts.append(_seconds(lambda: json_lines("resolve", lines, threads=1)) / 100)
            calls.append(_seconds(lambda: [impact.resolve(v, law) for v in velocities]) / size)
        loop, batch, text, call = (min(times) for times in (loops, batches, texts, calls))
        print(f"{law}: 18 velocities, 4 contacts, 1 thread, processor time")
        print(f"  Rust loop               {loop * 1e6:9.2f} us a problem")
        print(f"  resolve_batch           {batch * 1e6:9.2f} us a problem, {loop / batch:.2f} of the loop's speed")
        print(f"  json_lines              {text * 1e6:9.2f} us a problem, batch is {text / batch:.1f} times as fast")
        print(f"  resolve, call by call   {call * 1e6:9.2f} us a problem, {(call - loop) * 1e6:.2f} us over Rust")


if __name__ == "__main__":
    main()
