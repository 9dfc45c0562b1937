"""Worlds of MuJoCo's models: poses, Jacobians, mass matrices, energies and flights are MuJoCo's."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
engine = pytest.importorskip("carom.mujoco")

ROBOTS = Path(__file__).resolve().parents[2] / "data" / "robots"
#: Parts of models that act and that a world has none of.
ALLOW = ["tendon", "equality"]
FILES = ["dog.xml", "dog.urdf", "arm.urdf", "hand.xml"]

if not ROBOTS.is_dir():
    pytest.skip("the models are in the repository, not in the package", allow_module_level=True)

#: A walker's root: two slides and a hinge against their normal; a leg with a welded foot.
WALKER = """
<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="torso" pos="0 0 1.2">
  <joint name="rootx" type="slide" axis="1 0 0"/><joint name="rootz" type="slide" axis="0 0 1"/>
  <joint name="rooty" axis="0 1 0" pos="0 0 0.1"/><geom type="capsule" fromto="0 0 -0.2 0 0 0.2" size="0.05"/>
  <body name="leg" pos="0 0 -0.2"><joint name="hip" axis="0 -1 0" armature="0.01" stiffness="3" springref="0.2"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
    <body name="foot" pos="0.1 0 -0.4"><geom type="box" size="0.1 0.04 0.02"/></body></body>
</body></worldbody></mujoco>
"""

#: A hip of three hinges, a neck of two, a piston that turns on its axis.
TORSO = """
<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint name="root"/><geom type="box" size="0.1 0.2 0.3"/>
  <body name="thigh" pos="0 0.1 -0.3">
    <joint name="hip_x" axis="1 0 0" armature="0.02"/><joint name="hip_z" axis="0 0 1" damping="0.3"/>
    <joint name="hip_y" axis="0 1 0" stiffness="2"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05"/></body>
  <body name="head" pos="0 0 0.3"><joint name="neck_z" axis="0 0 1" pos="0 0 -0.02"/>
    <joint name="neck_y" axis="0 1 0" pos="0 0 0.03"/><geom type="ellipsoid" size="0.1 0.08 0.12" pos="0.01 0 0.1"/></body>
  <body name="piston" pos="0.2 0 0"><joint name="out" type="slide" axis="1 0 1"/><joint name="about" axis="1 0 1"/>
    <geom type="cylinder" size="0.03 0.1" pos="0.1 0.02 0"/></body>
</body></worldbody></mujoco>
"""


#: Hinges whose axes are apart or oblique, two or three on one body; a pin in a slot.
OBLIQUE = """
<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint name="root"/><geom type="box" size="0.1 0.2 0.3"/>
  <body name="foot" pos="0 0.1 -0.3">
    <joint name="ankle_y" axis="0 1 0" pos="0 0 0.09" stiffness="4"/><joint name="ankle_x" axis="1 0 0.6" pos="0 0.01 0.03" armature="0.01"/>
    <geom type="capsule" fromto="-0.05 0 0 0.15 0 -0.02" size="0.03"/></body>
  <body name="blade" pos="0.05 0 0.3">
    <joint name="turn" axis="0 0 1" pos="-0.04 -0.02 0" armature="0.01"/><joint name="lift" axis="1 0 0" pos="0 -0.05 -0.06"/>
    <joint name="swing" axis="0.3 1 0.1" pos="0.01 0 0.02" stiffness="3" springref="10"/><geom type="box" size="0.05 0.02 0.08" pos="0 0.03 -0.05"/></body>
  <body name="wing" pos="-0.05 0.1 0.2">
    <joint name="flap" axis="1 1 0"/><joint name="twist" axis="0 1 0"/><geom type="ellipsoid" size="0.02 0.1 0.05" pos="0 0.1 0.01"/></body>
  <body name="pin" pos="0 -0.2 0"><joint name="slot" type="slide" axis="0 0 1" stiffness="30"/><joint name="roll" axis="0 1 0" pos="0.02 0 0"/>
    <geom type="capsule" fromto="0 0 0 0.1 0 0.1" size="0.02"/></body>
</body></worldbody></mujoco>
"""

#: Bodies on two slides each, in the world and on a body that moves; the last two directions are oblique.
SLIDES = """
<mujoco><worldbody>
  <body name="table"><joint name="table_y" type="slide" axis="0 1 0" stiffness="50"/><joint name="table_x" type="slide" axis="1 0 0" armature="0.1"/>
    <geom type="box" size="0.2 0.2 0.02"/>
    <body name="arm" pos="0 0 0.1"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <body name="tool" pos="0.3 0 0"><joint name="out" type="slide" axis="1 0 0" stiffness="8"/>
        <joint name="up" type="slide" axis="0.5 0.2 1" stiffness="6"/><geom type="box" size="0.03 0.02 0.04"/></body></body></body>
</worldbody></mujoco>
"""


def switched_off(model: Any) -> Any:
    """The model without constraints and actuators."""
    for flag in ("CONTACT", "LIMIT", "ACTUATION", "FRICTIONLOSS", "EQUALITY", "EULERDAMP"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    return model


def load(name: str) -> tuple[Any, Any]:
    model = switched_off(mujoco.MjModel.from_xml_path(str(ROBOTS / name)))
    model.opt.gravity[:] = 0.0, 0.0, -9.80665
    return model, mujoco.MjData(model)


def at_rest(model: Any, data: Any, velocity: Any) -> Any:
    """Motion of no duration with given velocities."""
    data.qvel[:] = velocity
    return engine.world(model, data, duration=0.0).run()


def set_state(data: Any, joints: list[dict[str, Any]]) -> None:
    data.qpos[:] = np.concatenate([joint["position"] for joint in joints])
    data.qvel[:] = np.concatenate([joint["velocity"] for joint in joints])


@pytest.mark.parametrize("name", FILES)
def test_poses_jacobians_and_energies_are_those_that_mujoco_gave(name: str) -> None:
    answers = json.loads((ROBOTS / "answers.json").read_text())[name]
    model, data = load(name)
    for state in answers["states"]:
        set_state(data, state["joints"])
        velocity = data.qvel.copy()
        motion = at_rest(model, data, velocity)
        record = motion.record
        known = {body["name"]: body for body in state["bodies"]}
        # A root link that stands still is a fixed body, which the answers leave out.
        moving = [body for body in motion.bodies if body in known]
        assert len(moving) == len(known)
        for body in moving:
            b = motion.bodies.index(body)
            assert np.abs(motion.position[0, b] - known[body]["center"]).max() <= 1e-10
            assert np.abs(motion.velocity[0, b] - known[body]["velocity"]).max() <= 1e-10
            assert np.abs(motion.angular_velocity[0, b] - known[body]["angular_velocity"]).max() <= 1e-10
        total = state["potential_j"] + state["kinetic_j"]
        assert abs(record["energy"]["initial_j"] - total) <= 1e-10
        # Unit velocities give the columns of the Jacobians, and these with the bodies' inertias the mass matrix.
        units = [at_rest(model, data, unit) for unit in np.eye(model.nv)]
        data.qvel[:] = velocity
        config = engine.world(model, data, allow=ALLOW).config
        mass = np.diag(np.asarray(model.dof_armature, dtype=float))
        jacobians = {}
        for body in config["bodies"]:
            if "fixed" in body:
                continue
            b = motion.bodies.index(body["name"])
            linear = np.array([unit.velocity[0, b] for unit in units])
            angular = np.array([unit.angular_velocity[0, b] for unit in units])
            axes = rotation(motion.quaternion[0, b])
            inertia = axes @ np.array(body["inertia"]) @ axes.T
            mass += body["mass"] * linear @ linear.T + angular @ inertia @ angular.T
            jacobians[body["name"]] = (linear, angular, motion.position[0, b])
        scale = np.abs(state["mass_matrix"]).max()
        assert np.abs(mass - state["mass_matrix"]).max() <= 1e-12 * max(scale, 1.0)
        for site in state["sites"]:
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, site["name"])
            linear, angular, center = jacobians[model.body(int(model.site_bodyid[number])).name]
            rows = (linear + np.cross(angular, np.array(site["position"]) - center)).T
            assert np.abs(rows - site["jacobian"]).max() <= 1e-12


def rotation(quaternion: Any) -> np.ndarray:
    rows = np.zeros(9)
    mujoco.mju_quat2Mat(rows, np.asarray(quaternion))
    return rows.reshape(3, 3)


@pytest.mark.parametrize(
    ("xml", "kinds"),
    [
        (WALKER, ["planar", "revolute"]),
        (TORSO, ["gimbal", "universal", "cylindrical"]),
        (OBLIQUE, ["biaxial", "triaxial", "biaxial", "pin-slot"]),
        (SLIDES, ["cross-slide", "revolute", "cross-slide"]),
    ],
)
def test_stacks_of_joints_become_one_joint(xml: str, kinds: list[str]) -> None:
    model = switched_off(mujoco.MjModel.from_xml_string(xml))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(5)
    mujoco.mj_integratePos(model, data.qpos, 0.5 * rng.normal(size=model.nv), 1.0)
    velocity = rng.normal(size=model.nv)
    data.qvel[:] = velocity
    world = engine.world(model, data, allow=ALLOW)
    assert [joint["type"] for joint in world.config["joints"]] == kinds
    assert not any(what == "split" for what, _, _ in world.ignored)
    moving, still = at_rest(model, data, velocity), at_rest(model, data, np.zeros(model.nv))
    mass = engine._mass_matrix(model, forwarded(model, data))
    kinetic = moving.record["energy"]["initial_j"] - still.record["energy"]["initial_j"]
    assert abs(kinetic - 0.5 * velocity @ mass @ velocity) <= 1e-12 * kinetic
    mujoco.mj_energyPos(model, data)
    assert abs(still.record["energy"]["initial_j"] - data.energy[0]) <= 1e-12 * abs(data.energy[0])


@pytest.mark.parametrize("package", ["gymnasium", "dm_control"])
def test_energies_of_models_that_people_have_are_those_of_mujoco(package: str) -> None:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    folder = Path(found.origin).parent
    names = {
        "gymnasium": "humanoid ant hopper walker2d half_cheetah swimmer pusher reacher",
        "dm_control": "cheetah walker hopper humanoid humanoid_CMU dog rodent ball_in_cup point_mass jumping_ball_with_head",
    }[package]
    files = [path for name in names.split() for path in sorted(folder.rglob(f"{name}.xml"))]
    assert files
    for path in files:
        model = switched_off(mujoco.MjModel.from_xml_path(str(path)))
        data = mujoco.MjData(model)
        rng = np.random.default_rng(1)
        mujoco.mj_integratePos(model, data.qpos, 0.4 * rng.normal(size=model.nv), 1.0)
        velocity = rng.normal(size=model.nv)
        world = engine.world(model, data, allow=ALLOW)
        assert not any(what == "split" for what, _, _ in world.ignored), path
        moving, still = at_rest(model, data, velocity), at_rest(model, data, np.zeros(model.nv))
        mujoco.mj_forward(model, data)
        mujoco.mj_energyPos(model, data)
        potential, kinetic = still.record["energy"]["initial_j"], moving.record["energy"]["initial_j"]
        expected = 0.5 * velocity @ engine._mass_matrix(model, data) @ velocity
        assert abs(kinetic - potential - expected) <= 1e-11 * (expected + abs(potential)), path
        # Bodies that never move have no potential energy in a world.
        still_bodies = np.flatnonzero(np.asarray(model.body_weldid) == 0)
        fixed = -sum(model.body_mass[b] * model.opt.gravity @ data.xipos[b] for b in still_bodies)
        assert abs(potential + fixed - data.energy[0]) <= 1e-11 * (1.0 + abs(potential)), path


def forwarded(model: Any, data: Any) -> Any:
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("source", ["dog.xml", WALKER, TORSO, OBLIQUE, SLIDES])
def test_flights_are_those_of_mujoco(source: str) -> None:
    if source.endswith(".xml"):
        model, data = load(source)
    else:
        model = switched_off(mujoco.MjModel.from_xml_string(source))
        data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    mujoco.mj_integratePos(model, data.qpos, 0.2 * rng.normal(size=model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    start = mujoco.MjData(model)
    start.qpos[:], start.qvel[:] = data.qpos, data.qvel
    duration = 0.5
    found = []
    for step in (1e-3, 5e-4):
        keys = {"duration": duration, "time_step": step, "flight": "lgvi", "output": {"sample_step": duration}}
        motion = engine.world(model, start, allow=ALLOW, **keys).run()
        assert motion.status == "completed"
        found.append({name: q[-1] for name, q in motion.joint_position.items()})
    model.opt.timestep, model.opt.integrator = 1e-5, mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(round(duration / 1e-5)):
        mujoco.mj_step(model, data)
    for name, coarse in found[0].items():
        at = int(model.joint(name).qposadr[0])
        extrapolated = (4.0 * found[1][name] - coarse) / 3.0
        assert abs(extrapolated - (data.qpos[at] - model.qpos0[at])) <= 1e-8, name


def test_what_is_left_out_has_a_name() -> None:
    model = mujoco.MjModel.from_xml_path(str(ROBOTS / "hand.xml"))
    data = mujoco.MjData(model)
    world = engine.world(model, data, allow=ALLOW)
    named = {(what, name) for what, name, _ in world.ignored}
    assert {("tendon", "coupling"), ("equality", "middle-gear"), ("condim", "palm")} <= named
    by_name = {joint["name"]: joint for joint in world.config["joints"]}
    assert by_name["thumb-abduct+thumb-flex"]["type"] == "universal"
    assert by_name["charm"]["limits"] == {"upper": 1.4}
    assert by_name["ring-pip"]["stiffness"] == 0.05
    assert by_name["ring-pip"]["rest"] == pytest.approx(0.3)
    # `motor` of gear 20 without control, and `position` with kp and kv.
    assert by_name["lift"]["actuators"] == [{"type": "constant", "value": 0.0}]
    drive = by_name["index-mcp"]["actuators"][0]
    assert (drive["type"], drive["proportional"], drive["derivative"]) == ("pd", 0.4, 0.01)


def test_what_would_be_lost_is_refused_unless_it_is_allowed() -> None:
    model = mujoco.MjModel.from_xml_path(str(ROBOTS / "hand.xml"))
    data = mujoco.MjData(model)
    with pytest.raises(carom.CaromError, match="would be lost: equality `middle-gear`: .*allow = "):
        engine.world(model, data)
    with pytest.raises(carom.CaromError, match="unknown `tendons`; known: mesh, tendon, equality"):
        engine.world(model, data, allow=["tendons"])
    with pytest.warns(UserWarning, match="left out: .*1 x equality.*1 x tendon") as told:
        engine.world(model, data, allow=ALLOW)
    assert len(told) == 1


def test_a_tendon_that_only_measures_is_told() -> None:
    xml = """
    <mujoco><worldbody><body name="a"><joint name="hip" axis="0 1 0"/><geom type="sphere" size="0.1" pos="0 0 -1"/></body></worldbody>
      <tendon><fixed name="angle"{0}><joint joint="hip" coef="2"/></fixed></tendon></mujoco>
    """
    for more, acts in (("", False), (' stiffness="3"', True), (' limited="true" range="0 1"', True)):
        model = mujoco.MjModel.from_xml_string(xml.format(more))
        data = mujoco.MjData(model)
        if acts:
            with pytest.raises(carom.CaromError, match="tendon `angle`"):
                engine.world(model, data)
        else:
            assert ("tendon", "angle", "not supported") in engine.world(model, data).ignored


def test_joints_start_at_their_limits_where_they_are_clipped() -> None:
    xml = """
    <mujoco><compiler autolimits="true"/><worldbody><body name="a"><joint name="knee" axis="0 1 0" range="-160 -2"/>
      <geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    with pytest.warns(UserWarning, match="start replaced: `knee`"):
        world = engine.world(model, data, start="clip", duration=0.01)
    assert world.clipped == [{"joint": "knee", "from": 0.0, "to": pytest.approx(np.deg2rad(-2.0))}]
    assert world.run().joint_position["knee"][0] == pytest.approx(np.deg2rad(-2.0))
    with pytest.raises(carom.CaromError, match='start: "clap"|must be "strict"'):
        engine.world(model, data, start="clap")


def test_bodies_that_are_posed_from_outside_never_move() -> None:
    xml = """
    <mujoco><worldbody>
      <body name="hand" mocap="true" pos="0 0 -0.5"><geom type="sphere" size="0.1"/>
        <body name="finger" pos="0.2 0 0"><geom type="box" size="0.05 0.05 0.05"/></body></body>
      <body name="ball" pos="0 0 0.3"><joint name="slide" type="slide" axis="0 0 1"/><geom type="sphere" size="0.1"/></body>
    </worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    world = engine.world(model, mujoco.MjData(model), duration=1.0)
    fixed = {body["name"] for body in world.config["bodies"] if body.get("fixed")}
    assert fixed == {"hand", "finger"}
    assert ("mocap", "hand") in {(what, name) for what, name, _ in world.ignored}
    # It falls on the hand, 0.6 m below its center.
    motion = world.run()
    assert abs(motion.impacts[0]["time"] - np.sqrt(2.0 * 0.6 / 9.81)) <= 1e-9


def test_joints_that_are_none_together_get_a_link_in_between() -> None:
    xml = """
    <mujoco><worldbody><body name="slab"><joint name="a" axis="1 0 0"/><joint name="b" axis="1 0 0" pos="0 0 0.1"/>
      <geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    world = engine.world(model, mujoco.MjData(model))
    assert [body["name"] for body in world.config["bodies"]] == ["slab.link1", "slab"]
    assert world.config["bodies"][0]["mass"] == pytest.approx(1e-3 * model.body_mass[1])
    assert ("split", "slab.link1") in {(what, name) for what, name, _ in world.ignored}


def test_a_state_outside_the_ranges_of_joints_is_refused_with_the_state_to_set() -> None:
    xml = """
    <mujoco><compiler autolimits="true"/><worldbody><body name="a"><joint name="hip" axis="0 1 0" range="-40 40"/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <body name="b" pos="0 0 -0.7"><joint name="knee" axis="0 1 0" range="-160 -2"/><geom type="box" size="0.1 0.1 0.3"/>
        <body name="c" pos="0 0 -0.7"><joint name="ankle" axis="0 1 0" range="30 70"/><geom type="box" size="0.1 0.1 0.2"/></body>
      </body></body></worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    world = engine.world(model, data, duration=0.01)
    with pytest.raises(carom.CaromError) as fault:
        world.run()
    message = str(fault.value)
    assert "joint `knee`: position 0 must be at most the upper limit -0.0349" in message
    assert 'start="clip"' in message
    assert message.endswith("; set data.qpos of `knee`, `ankle` within jnt_range before the import")
    assert "\n" not in message
    data.qpos[:] = 0.0, -1.0, 0.8
    assert engine.world(model, data, duration=0.01).run().status == "completed"


def test_a_joint_of_several_coordinates_may_have_a_limit_for_one() -> None:
    xml = """
    <mujoco><option gravity="0 -9.81 0"/><worldbody><body name="slab">
      <joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0" limited="true" range="-10 20"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2"/></body></worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[:] = 3.0, 2.0
    motion = engine.world(switched_off_contacts(model), data, duration=1.0).run()
    assert motion.status == "completed"
    # The free coordinate turns on, the other one stays in MuJoCo's range.
    low, high = motion.joint_position["b"].min(), motion.joint_position["b"].max()
    assert np.radians(-10.0) - 1e-9 <= low and high <= np.radians(20.0) + 1e-9
    assert np.abs(motion.joint_position["a"]).max() > 1.0
    limits = [contact for impact in motion.impacts for contact in impact["contacts"]]
    names = [limit["joint"] for limit in limits]
    assert names and set(names) == {"a+b"}
    assert {limit["coordinate"] for limit in limits} == {1}


def switched_off_contacts(model: Any) -> Any:
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return model


def test_contacts_follow_the_filters_of_the_model() -> None:
    xml = """
    <mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
      <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.8"/>
        <body name="b" pos="0.5 0 0"><joint axis="0 1 0"/><geom size="0.1" friction="0.3"/></body></body>
      <body name="c" pos="0 2 1"><freejoint/><geom size="0.1" friction="0.3" contype="2" conaffinity="2"/></body>
    </worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(xml)
    config = engine.world(model, mujoco.MjData(model), restitution=0.4).config
    assert config["contact"]["restitution"] == 0.4
    assert config["planes"] == [{"name": "floor", "normal": [0.0, 0.0, 1.0], "offset": 0.0}]
    surfaces = {frozenset(pair["between"]): pair for pair in config["pairs"]}
    # Adjacent bodies do not touch by default; `c` passes no filter.
    assert frozenset("ab") not in surfaces
    for other in ("a", "b", "floor"):
        assert surfaces[frozenset(("c", other))]["collide"] is False
    friction = {
        other: surfaces.get(frozenset((other, "floor")), {}).get("friction", config["contact"]["friction"])
        for other in "ab"
    }
    assert friction == {"a": 0.8, "b": 0.5}


def test_what_is_no_model_is_refused() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(carom.CaromError, match="no bodies that move"):
        engine.world(model, mujoco.MjData(model))
    with pytest.raises(carom.CaromError, match="MjData"):
        engine.world(model, None)
