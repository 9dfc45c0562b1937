"""Impacts to first order in configuration and velocity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def differences(after: Any, n: int, step: float = 1e-6) -> np.ndarray:
    columns = [(after(j, step) - after(j, -step)) / (2 * step) for j in range(n)]
    return np.array(columns).T


@pytest.mark.parametrize("law", ["plastic", "moreau-newton", "anitescu-potra"])
def test_mujocos_quadruped_moves_as_its_linearization_says(law: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    import carom.mujoco

    model, data = carom.mujoco.quadruped()
    data.qpos[2] -= 1e-3
    data.qvel[:] = 0.1 * np.random.default_rng(1).normal(size=model.nv)
    data.qvel[2] = -1.0
    mujoco.mj_forward(model, data)
    before = data.qpos.copy()
    found = carom.mujoco.linearize(model, data, law, restitution=0.2)
    assert found.klass == 0 and np.array_equal(before, data.qpos)

    def after(j: int, by: float, is_velocity: bool = False) -> Any:
        moved, unit = mujoco.MjData(model), np.zeros(model.nv)
        moved.qpos[:], moved.qvel[:], unit[j] = data.qpos, data.qvel, 1.0
        if is_velocity:
            moved.qvel[j] += by
        else:
            mujoco.mj_integratePos(model, moved.qpos, unit, by)
        mujoco.mj_forward(model, moved)
        impact, v = carom.mujoco.impact(model, moved, restitution=0.2)
        return impact.resolve(v, law).velocity_plus

    by_configuration = differences(after, model.nv)
    size = np.abs(by_configuration).max()
    assert np.abs(found.dv_dq - by_configuration).max() <= 1e-5 * size
    by_velocity = differences(lambda j, by: after(j, by, True), model.nv)
    assert np.abs(found.dv_dv - by_velocity).max() <= 1e-5 * np.abs(by_velocity).max()
    w = np.random.default_rng(2).normal(size=model.nv)
    assert np.allclose(found.vjp(w)[0], found.dv_dq.T @ w) and np.allclose(found.vjp(w)[1], found.dv_dv.T @ w)
    # Feet that leave within a step are no longer the same contacts.
    data.qpos[2] += 1e-3
    mujoco.mj_forward(model, data)
    lost = carom.mujoco.linearize(model, data, law, epsilon=1e-4)
    assert lost.klass == 2 and lost.reason == "contact-list" and np.isnan(lost.dv_dq).all()
    assert np.isfinite(lost.dv_dv).all()


def test_pinocchios_derivatives_are_differences_of_the_impact() -> None:
    pin = pytest.importorskip("pinocchio")
    import carom.pinocchio

    model = pin.buildSampleModelManipulator()
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    index = model.nframes - 1
    points = [(index, (0.1, -0.05, 0.2))]
    given = {"friction": 0.4, "restitution": 0.3, "normal": (0.1, 0.2, 1.0)}
    impact, _ = carom.pinocchio.impact(model, model.createData(), q, points, velocity=v, **given)
    v = v if impact.jacobian[0] @ v < 0 else -v
    found = carom.pinocchio.linearize(model, model.createData(), q, v, points, "moreau-newton", **given)
    assert found.klass == 0

    def after(j: int, by: float) -> Any:
        unit = np.zeros(model.nv)
        unit[j] = by
        impact, start = carom.pinocchio.impact(
            model, model.createData(), pin.integrate(model, q, unit), points, velocity=v, **given
        )
        return impact.resolve(start, "moreau-newton").velocity_plus

    expected = differences(after, model.nv)
    assert np.abs(found.dv_dq - expected).max() <= 1e-6 * max(1.0, np.abs(expected).max())
