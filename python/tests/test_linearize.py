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


#: Radius of the feet of the robots below, and their depth in the floor (m): both small, because a foot of MuJoCo
#: rolls, and its points of Pinocchio do not.
RADIUS, DEPTH = 1e-8, 1e-6

#: A link from its joint to a point; nothing but the feet touches anything.
LINK = '<geom type="capsule" fromto="0 0 0 {0}" size="0.03" density="900" contype="0" conaffinity="0"/>'

TRUNK = '<geom type="box" size="0.3 0.1 0.1" mass="5" contype="0" conaffinity="0"/>'


def foot(index: int, at: str, joints: str, end: str) -> str:
    """The last link of a chain, with a foot at its end."""
    bit = 1 << index
    touching = f'type="sphere" size="{RADIUS}" mass="0" friction="0.6" contype="{bit}" conaffinity="{bit}"'
    return f'<body pos="{at}">{joints}{LINK.format(end)}<geom {touching} pos="{end}"/></body>'


def leg(index: int, at: str) -> str:
    shank = foot(index, "0.1 0.02 -0.3", '<joint type="hinge" axis="0.2 1 0.1"/>', "-0.1 0 -0.3")
    return f'<body pos="{at}"><joint type="hinge" axis="0 1 0"/>{LINK.format("0.1 0.02 -0.3")}{shank}</body>'


HINGE = '<joint type="hinge" axis="0 1 0"/>'

LAST = '<joint type="slide" axis="1 0 0.2"/><joint type="hinge" axis="1 0.5 0"/>'

ROBOTS = {
    "two links": (
        1,
        f'''<body>{HINGE}{LINK.format("0.5 0 0")}
        {foot(0, "0.5 0 0", '<joint type="hinge" axis="0.5 1 0.2"/>', "0.4 0 0.1")}</body>''',
    ),
    "an arm in space": (
        1,
        f"""<body><joint type="hinge" axis="0 0 1"/>{LINK.format("0 0.1 0.4")}<body pos="0 0.1 0.4">
        <joint type="hinge" axis="0 1 0.3"/>{LINK.format("0.5 0 0")}{foot(0, "0.5 0 0", LAST, "0.3 0 0.1")}</body></body>""",
    ),
    "a walker in the plane": (
        2,
        f"""<body pos="0 0 0.7"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>{HINGE}
        {TRUNK}{leg(0, "0.2 0 0")}{leg(1, "-0.2 0 0")}</body>""",
    ),
    "a biped in space": (
        2,
        f'<body pos="0 0 0.7"><freejoint/>{TRUNK}{leg(0, "0.2 0.1 0")}{leg(1, "-0.2 -0.1 0")}</body>',
    ),
}


def robot(name: str, mujoco: Any) -> tuple[Any, Any, np.ndarray]:
    """MuJoCo's model and state, feet in floors of their own, which all approach; rows of their heights."""
    n_feet, body = ROBOTS[name]

    def posed(heights: Any) -> tuple[Any, Any, list[Any]]:
        floors = (
            f'<geom type="plane" pos="0 0 {z!r}" size="9 9 1" friction="0.6" contype="{1 << i}" conaffinity="{1 << i}"/>'
            for i, z in enumerate(heights)
        )
        text = f"<mujoco><worldbody>{''.join(floors)}{body}</worldbody></mujoco>"
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        rng = np.random.default_rng(5)
        mujoco.mj_integratePos(model, data.qpos, 0.3 * rng.normal(size=model.nv), 1.0)
        data.qvel[:] = 0.2 * rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        feet = [i for i in range(model.ngeom) if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_SPHERE]
        return model, data, feet

    _, data, feet = posed([0.0] * n_feet)
    model, data, feet = posed([float(data.geom_xpos[i, 2]) - RADIUS + DEPTH for i in feet])
    rates = np.zeros((n_feet, model.nv))
    for rate, i in zip(rates, feet):
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, data.geom_xpos[i], model.geom_bodyid[i])
        rate[:] = jacobian[2]
    data.qvel[:] -= np.linalg.pinv(rates) @ (rates @ data.qvel + 1.0)
    mujoco.mj_forward(model, data)
    return model, data, rates


def as_pinocchio(model: Any, mujoco: Any, pin: Any) -> Any:
    """The joints and inertias of MuJoCo's model, whose bodies are not turned against their parents."""
    made, last = pin.Model(), {0: 0}
    kinds = {
        mujoco.mjtJoint.mjJNT_FREE: lambda axis: pin.JointModelFreeFlyer(),
        mujoco.mjtJoint.mjJNT_SLIDE: pin.JointModelPrismaticUnaligned,
        mujoco.mjtJoint.mjJNT_HINGE: pin.JointModelRevoluteUnaligned,
    }
    for body in range(1, model.nbody):
        joint, first = last[model.body_parentid[body]], model.body_jntadr[body]
        is_free = model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE
        place = pin.SE3(np.eye(3), np.zeros(3) if is_free else model.body_pos[body])
        for j in range(first, first + model.body_jntnum[body]):
            kind = kinds[mujoco.mjtJoint(model.jnt_type[j])](model.jnt_axis[j])
            joint, place = made.addJoint(joint, kind, place, f"joint{j}"), pin.SE3.Identity()
        axes = pin.Quaternion(*model.body_iquat[body]).matrix()
        inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
        made.appendBodyToJoint(joint, pin.Inertia(model.body_mass[body], model.body_ipos[body], inertia), place)
        made.addFrame(pin.Frame(f"body{body}", joint, 0, place, pin.FrameType.BODY))
        last[body] = joint
    return made


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_and_pinocchio_linearize_a_robot_alike(name: str) -> None:
    mujoco, pin = pytest.importorskip("mujoco"), pytest.importorskip("pinocchio")
    import carom.mujoco
    import carom.pinocchio

    model, data, rates = robot(name, mujoco)
    by_mujoco = carom.mujoco.linearize(model, data, "moreau-newton", restitution=0.2, epsilon=1e-7)
    other, n, q = as_pinocchio(model, mujoco, pin), model.nv, data.qpos.copy()
    # MuJoCo has a free body's velocity in the world and the quaternion's real part first, Pinocchio neither.
    turn, is_free = np.eye(n), model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    if is_free:
        q[3:7] = q[[4, 5, 6, 3]]
        turn[:3, :3] = data.xmat[model.jnt_bodyid[0]].reshape(3, 3).T
    v = turn @ data.qvel
    points = []
    for contact in data.contact:
        body = model.geom_bodyid[contact.geom[1]]
        points.append((f"body{body}", data.xmat[body].reshape(3, 3).T @ (contact.pos - data.xpos[body])))
    found = carom.pinocchio.linearize(
        other, other.createData(), q, v, points, "moreau-newton", friction=0.6, restitution=0.2
    )
    assert by_mujoco.klass == found.klass == 0
    by_configuration = found.dv_dq @ turn
    if is_free:
        # The velocity that is held fixed is one in the world: it turns against the body.
        for k in range(3):
            axis = np.eye(3)[k]
            turned = np.zeros(n)
            turned[:3] = -np.cross(axis, v[:3])
            by_configuration[:, 3 + k] += found.dv_dv @ turned
            by_configuration[:3, 3 + k] += np.cross(axis, found.velocity_plus[:3])
    # Half of a foot's depth moves MuJoCo's point of contact in the link: both agree along changes that keep depths.
    along = np.eye(n) - np.linalg.pinv(rates) @ rates
    expected = (turn.T @ found.velocity_plus, turn.T @ by_configuration @ along, turn.T @ found.dv_dv @ turn)
    for one, another in zip((by_mujoco.velocity_plus, by_mujoco.dv_dq @ along, by_mujoco.dv_dv), expected):
        assert np.abs(one - another).max() <= 1e-5 * max(1.0, np.abs(another).max())
