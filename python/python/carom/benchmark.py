"""``python -m carom.benchmark``: what calling from Python costs, beside the same work in Rust.

18 velocities, four contacts of three rows, one thread. ``python -m carom.benchmark gradients`` prints what
gradients of a batch cost, beside the batch alone. Times are processor time of the process, each the
shortest of several turns: whatever else the machine does makes them longer, never shorter.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import Floats
from ._contacts import Contacts
from ._impact import Impact
from ._problems import json_lines

__all__ = ["calls", "gradients", "main"]

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


def calls() -> None:
    """Print what an impact costs in a Rust loop, in a batch, call by call and as text.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.calls()  # doctest: +SKIP
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


#: Law, velocities, contacts, rows of a contact.
_DIFFERENTIATED = (
    ("propagative", 18, 4, 1),
    ("anitescu-potra", 3, 2, 2),
    ("anitescu-potra", 18, 4, 3),
    ("routh", 3, 1, 2),
    ("routh", 6, 1, 3),
)


def _random_impact(n: int, contacts: int, rows: int) -> tuple[Impact, Floats]:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(n, n))
    jacobian = rng.normal(size=(contacts, rows, n))
    found = Contacts(jacobian[:, 0], jacobian[:, 1:] if rows > 1 else None, friction=0.4, restitution=0.3)
    return Impact(root @ root.T + n * np.eye(n), found), rng.normal(size=(1000, n))


def _shortest(works: list[Callable[[], object]]) -> list[float]:
    """Shortest time of each work; they take turns, so that all of them meet the same machine."""
    times = [[_seconds(work) for work in works] for _ in range(_TURNS)]
    return [min(column) for column in zip(*times)]


def gradients() -> None:
    """Print what a batch costs with its derivatives and adjoints, as multiples of the batch alone.

    Columns: microseconds of a row alone; multiples with ``dv_dv``, with all derivatives, with the adjoint
    by the velocity, with the adjoint by everything. With JAX installed, the last line is the time of
    ``vmap(grad)`` as a multiple of the two batches under it.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.gradients()  # doctest: +SKIP
    law             n  c   us a row   dv_dv     all   vjp(v)    vjp
    """
    print("law              n  c   us a row   dv_dv     all  vjp(v)     vjp")
    for law, n, contacts, rows in _DIFFERENTIATED:
        impact, velocities = _random_impact(n, contacts, rows)
        cotangents = np.random.default_rng(2).normal(size=velocities.shape)
        alone, by_velocity, by_all, adjoint, adjoint_all = _shortest(
            [
                lambda: impact.resolve_batch(velocities, law, threads=1),
                lambda: impact.resolve_batch(velocities, law, threads=1, derivative="velocity"),
                lambda: impact.resolve_batch(velocities, law, threads=1, derivative=True),
                lambda: impact.resolve_vjp(velocities, cotangents, law, threads=1, wrt=("velocity",)),
                lambda: impact.resolve_vjp(velocities, cotangents, law, threads=1),
            ]
        )
        ratios = "".join(f"{time / alone:8.2f}" for time in (by_velocity, by_all, adjoint, adjoint_all))
        print(f"{law:15s} {n:2d} {contacts:2d} {alone / len(velocities) * 1e6:10.2f}{ratios}")
    if importlib.util.find_spec("jax") is not None:
        _jax_line()


def _jax_line() -> None:
    from . import jax as carom_jax

    # JAX has types for some of its functions only.
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    impact, _ = _random_impact(18, 4, 3)
    velocities = np.random.default_rng(3).normal(size=(4096, 18))
    function = carom_jax.impact(impact, "moreau-newton")
    gradient = jax.jit(jax.vmap(jax.grad(lambda v: (function(v) ** 2).sum())))
    jax.block_until_ready(gradient(velocities))

    def batches() -> object:
        after = impact.resolve_batch(velocities, "moreau-newton").velocity_plus
        return impact.resolve_vjp(velocities, 2 * after, "moreau-newton", wrt=("velocity",))

    whole, under = _shortest([lambda: jax.block_until_ready(gradient(velocities)), batches])
    print(f"jax, vmap(grad) of 4096: {whole / 4096 * 1e6:.2f} us an element, {whole / under:.2f} times its batches")


def main() -> None:
    """Print the numbers: ``calls``, or ``gradients`` if the first argument of the command line says so.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.main()  # doctest: +SKIP
    propagative: 18 velocities, 4 contacts, 1 thread, processor time
    """
    names = {"calls": calls, "gradients": gradients}
    given = sys.argv[1:] or ["calls"]
    if len(given) != 1 or given[0] not in names:
        raise SystemExit(f"usage: python -m carom.benchmark [{' | '.join(names)}]")
    names[given[0]]()


if __name__ == "__main__":
    main()
