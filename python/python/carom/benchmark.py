"""``python -m carom.benchmark``: what calling from Python costs, beside the same work in Rust.

18 velocities, four contacts of three rows, one thread. ``python -m carom.benchmark gradients`` prints what
gradients of a batch cost, beside the batch alone; ``python -m carom.benchmark robots`` what steps of a
quadruped cost beside MuJoCo's. Times are processor time of the process, each the
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

__all__ = ["calls", "gradients", "main", "robots"]

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


def _quadruped(height: float) -> str:
    """MJCF of a quadruped of 13 bodies with feet of 2 cm, the center of its trunk at ``height`` (m)."""
    legs = ""
    for k, (x, y) in enumerate([(0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12)]):
        side = 1 if y > 0 else -1
        legs += f"""
<body pos="{x} {y} 0"><joint name="a{k}" axis="1 0 0"/>
 <inertial pos="0 {0.02 * side} 0" mass="0.4" diaginertia="4e-4 5e-4 4.5e-4"/>
 <body pos="0 {0.05 * side} 0"><joint name="b{k}" axis="0 1 0"/>
  <inertial pos="0 0 -0.09" mass="0.6" diaginertia="2.2e-3 2.3e-3 3e-4"/>
  <body pos="0 0 -0.2"><joint name="c{k}" axis="0 1 0"/>
   <inertial pos="0 0 -0.08" mass="0.25" diaginertia="9e-4 9.2e-4 5e-5"/>
   <geom size="0.02" pos="0 0 -0.2"/></body></body></body>"""
    motors = "".join(
        f'<position joint="{name}{k}" kp="60" kv="1.5"/>' for k in range(4) for name in "abc"
    )
    return f"""<mujoco><compiler inertiafromgeom="false"/><option timestep="0.001" integrator="Euler"/>
<default><joint damping="0.05"/><geom type="sphere" friction="0.7 0 0"/></default>
<worldbody><geom name="floor" type="plane" size="5 5 0.1"/>
<body pos="0 0 {height}"><freejoint/>
<inertial pos="0 0 0" mass="6" diaginertia="0.036 0.13 0.15"/>{legs}</body></worldbody>
<actuator>{motors}</actuator></mujoco>"""


def robots() -> None:
    """Print what a step of a quadruped of 13 bodies costs in flight and on four feet, beside MuJoCo's.

    Steps of 1 ms, motors at the joints; MuJoCo steps by Euler's method. A time of carom is that of a run
    less that of one that ends 0.5 s sooner. A robot that stands has had two seconds to come to rest.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.robots()  # doctest: +SKIP
    flight: carom 8.1 us a step, MuJoCo 5.6 us, ratio 1.4
    """
    mujoco: Any = importlib.import_module("mujoco")
    from . import mujoco as carom_mujoco

    for name, height, begin in (("flight", 9.0, 0.0), ("standing", 0.42, 2.0)):
        model = mujoco.MjModel.from_xml_string(_quadruped(height))
        data = mujoco.MjData(model)
        bend = [{"a": 0.0, "b": 0.6, "c": -1.2}[model.joint(j).name[0]] for j in range(1, model.njnt)]
        data.qpos[7:], data.ctrl[:] = bend, bend
        mujoco.mj_forward(model, data)
        keys: dict[str, Any] = {"time_step": 1e-3, "output": {"sample_step": 0.0}, "contact": {"self": False}}
        worlds = [
            carom_mujoco.world(model, data, duration=begin + more, **keys) for more in (0.25, 0.75)
        ]
        mujoco.mj_step(model, data, int(begin * 1000) + 100)
        state = data.qpos.copy(), data.qvel.copy()

        def steps() -> None:
            data.qpos[:], data.qvel[:] = state
            mujoco.mj_step(model, data, 500)

        early, late, theirs = _shortest([worlds[0].run, worlds[1].run, steps])
        ours = (late - early) / 500
        theirs /= 500
        print(
            f"{name}: carom {ours * 1e6:.1f} us a step, MuJoCo {theirs * 1e6:.1f} us, "
            f"ratio {ours / theirs:.2f}"
        )


def main() -> None:
    """Print the numbers: ``calls``, or ``gradients`` or ``robots`` if the command line says so.

    Examples
    --------
    >>> import carom.benchmark
    >>> carom.benchmark.main()  # doctest: +SKIP
    propagative: 18 velocities, 4 contacts, 1 thread, processor time
    """
    names = {"calls": calls, "gradients": gradients, "robots": robots}
    given = sys.argv[1:] or ["calls"]
    if len(given) != 1 or given[0] not in names:
        raise SystemExit(f"usage: python -m carom.benchmark [{' | '.join(names)}]")
    names[given[0]]()


if __name__ == "__main__":
    main()
