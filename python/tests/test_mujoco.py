"""MuJoCo: rows, free velocities of its steps, and what is refused."""

from __future__ import annotations

from typing import Any

import carom
import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
engine = pytest.importorskip("carom.mujoco")

from carom._quadruped import quadruped_xml  # noqa: E402


def rows_of_the_solver(model: Any, data: Any) -> np.ndarray:
    rows = np.zeros((data.nefc, model.nv))
    for k in range(data.nefc):
        unit = np.zeros(data.nefc)
        unit[k] = 1.0
        mujoco.mj_mulJacTVec(model, data, rows[k], unit)
    return rows


def moving(seed: int = 0, **options: Any) -> tuple[Any, Any]:
    model, data = engine.quadruped(**options)
    data.qvel[:] = 0.3 * np.random.default_rng(seed).normal(size=model.nv)
    data.qvel[2] = -1.0
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("condim", [1, 3])
def test_own_rows_are_those_of_the_solver(condim: int) -> None:
    model, data = moving(condim=condim)
    impact, v = engine.impact(model, data)
    assert len(impact.contacts) == 4
    assert np.abs(impact.jacobian - rows_of_the_solver(model, data)).max() <= 1e-15
    np.testing.assert_array_equal(v, data.qvel)


def test_pyramidal_rows_are_sums_of_own_rows() -> None:
    model, data = moving(cone="pyramidal")
    impact, _ = engine.impact(model, data)
    solver = rows_of_the_solver(model, data).reshape(4, 4, model.nv)
    mu = impact.contacts.friction
    for k in range(4):
        normal, first, second = impact.jacobian[3 * k : 3 * k + 3]
        for row, tangent, sign in zip(solver[k], (first, first, second, second), (1, -1, 1, -1)):
            assert np.abs(row - (normal + sign * mu[k] * tangent)).max() <= 1e-15


def test_positions_are_never_taken_for_velocities() -> None:
    model, data = moving()
    assert model.nq == model.nv + 1
    impact, v = engine.impact(model, data)
    assert impact.n == model.nv == len(v)
    assert 0.5 * v @ impact.mass_matrix @ v == pytest.approx(
        impact.resolve(v, "plastic").energy_minus_j, rel=1e-14
    )


def test_a_foot_at_distance_zero_is_no_contact() -> None:
    model, data = engine.quadruped()
    data.qpos[2] += 1.0
    mujoco.mj_forward(model, data)
    with pytest.warns(UserWarning, match="no contact"):
        impact, _ = engine.impact(model, data)
    assert len(impact.contacts) == 0


STEPS = {
    "Euler, damped": {},
    "Euler, pyramidal": {"cone": "pyramidal"},
    "implicitfast": {"integrator": "implicitfast"},
    "implicit": {"integrator": "implicit"},
    "frictionless": {"condim": 1},
    "torsion": {"condim": 4},
    "rolling": {"condim": 6, "cone": "pyramidal"},
    "limits": {"limited": True, "integrator": "implicitfast"},
    "actuators": {
        "integrator": "implicit",
        "more": "<actuator><position joint='front_left_knee' kp='50' kv='2'/>"
        "<motor joint='rear_left_pitch' ctrlrange='-5 5'/></actuator>",
    },
    "equality": {
        "more": "<equality><joint joint1='front_left_knee' joint2='front_right_knee'/></equality>"
    },
}


@pytest.mark.parametrize("name", STEPS)
def test_every_step_is_explained_by_its_contacts(name: str) -> None:
    model, data = moving(**STEPS[name])
    if model.nu:
        data.ctrl[:] = [-1.2, 3.0]
    recorder = engine.Recorder(model, data)
    with recorder:
        for _ in range(150):
            recorder.step()
    verdicts = recorder.judge()
    assert not verdicts.errors and len(verdicts) == 150
    touching = np.array([len(step.impact.contacts) > 0 for step in recorder.impacts])
    assert touching.sum() > 10
    assert verdicts.momentum_residual.max() <= 1e-12
    worst, verdict = recorder.worst()[0]
    assert verdict.friction_residual == verdicts.friction_residual.max() and worst < 150


def test_undamped_euler_steps_show_the_residual_of_the_solver() -> None:
    def residual(**solver: Any) -> float:
        model, data = moving(damping=0.0)
        for key, value in solver.items():
            setattr(model.opt, key, value)
        recorder = engine.Recorder(model, data)
        for _ in range(100):
            recorder.step()
        return float(recorder.judge().momentum_residual.max())

    assert residual(tolerance=0.0, iterations=500) <= 1e-11
    assert residual() <= 1e-2


def test_one_step_is_no_impact() -> None:
    model, data = moving()
    before = data.qvel.copy()
    impact, v = engine.impact(model, data)
    for _ in range(20):
        mujoco.mj_step(model, data)
    # Gravity and actuators over twenty steps stand as momentum that no contact can make.
    assert impact.judge(before, data.qvel, samples=0, laws=[]).momentum_residual > 1e-3
    np.testing.assert_array_equal(v, before)


def test_torsional_friction_is_refused_unless_it_is_dropped() -> None:
    model, data = moving(condim=4)
    with pytest.raises(carom.CaromError, match="contact 0 has condim 4"):
        engine.impact(model, data)
    impact, _ = engine.impact(model, data, torsion="ignore")
    assert impact.jacobian.shape == (12, 18)


def test_anisotropic_friction_is_refused() -> None:
    model, data = engine.quadruped()
    pairs = "<contact><pair geom1='floor' geom2='rear_right_foot' friction='0.5 0.3 0 0 0'/></contact>"
    model = mujoco.MjModel.from_xml_string(quadruped_xml(more=pairs))
    copied = mujoco.MjData(model)
    copied.qpos[:] = data.qpos
    mujoco.mj_forward(model, copied)
    with pytest.raises(carom.CaromError, match=r"condim 3 has anisotropic friction 0.5 and 0.3"):
        engine.impact(model, copied)


def test_integrators_without_a_free_velocity_are_refused() -> None:
    model, data = moving(integrator="RK4")
    with pytest.raises(carom.CaromError, match="RK4"):
        engine.Recorder(model, data)
    model, data = moving()
    if hasattr(model, "dof_dampingpoly"):
        model.dof_dampingpoly[:] = 0.1
        with pytest.raises(carom.CaromError, match="dof_dampingpoly"):
            engine.Recorder(model, data)


def test_equality_constraints_are_obeyed_ignored_or_refused() -> None:
    model, data = moving(more=STEPS["equality"]["more"])
    impact, v = engine.impact(model, data)
    assert impact.constraints.shape == (1, 18)
    assert abs(impact.constraints @ v) < 1e-14 < abs(impact.constraints @ data.qvel)
    assert impact.resolve(v, "moreau-newton").audit["constraint_residual"] < 1e-12
    assert engine.impact(model, data, equality="ignore")[0].constraints.shape == (0, 18)
    with pytest.raises(carom.CaromError, match="1 rows of equality"):
        engine.impact(model, data, equality="error")


def test_the_quick_start_runs() -> None:
    m, d = carom.mujoco.quadruped()
    d.qvel[:3] = [1.5, 0.4, -1.0]
    mujoco.mj_forward(m, d)
    impact, v = carom.mujoco.impact(m, d)
    one = impact.resolve(v, "moreau-newton")
    cloud = impact.sample(v, 256, seed=1)
    assert 0.0 < one.energy_plus_j / one.energy_minus_j < 1.0
    assert np.ptp(cloud.velocities[:, :3], axis=0).max() > 1e-3


def test_a_file_in_place_of_a_model_is_refused_and_a_state_without_contact_warned_of() -> None:
    with pytest.raises(carom.CaromError, match="from_xml_path"):
        engine.impact("robot.xml", None)
    model, data = engine.quadruped()
    with pytest.raises(carom.CaromError, match="MjData"):
        engine.impact(model, None)
    data.qpos[2] += 1.0
    mujoco.mj_forward(model, data)
    with pytest.warns(UserWarning, match="no contact"):
        engine.impact(model, data)


def test_a_recorded_step_shows_itself_in_one_short_line() -> None:
    recorder = engine.Recorder(*moving())
    recorder.step()
    assert len(repr(recorder.impacts[0])) < 80
