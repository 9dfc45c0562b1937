"""Drake and Pinocchio, beside MuJoCo and beside each other."""

from __future__ import annotations

import importlib.metadata
import pathlib
import xml.etree.ElementTree as tree
from typing import Any

import carom
import numpy as np
import pytest
from carom._quadruped import LEGS, STANCE, quadruped_xml

LAWS = ("plastic", "propagative", "moreau-newton", "anitescu-potra")
JOINTS = [f"{leg}_{joint}" for leg in LEGS for joint in ("roll", "pitch", "knee")]


def drake_plant(text: str, kind: str) -> Any:
    pytest.importorskip("pydrake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, kind)
    plant.Finalize()
    return plant


def floating_order(plant: Any, joints: list[str]) -> list[int]:
    """Drake's index of the base's linear velocity, its angular velocity, then the joints."""
    start = plant.get_body(next(iter(plant.GetFloatingBaseBodies()))).floating_velocities_start_in_v()
    order = [start + 3, start + 4, start + 5, start, start + 1, start + 2]
    return order + [plant.GetJointByName(name).velocity_start() for name in joints]


def mujoco_and_drake(armature: float) -> tuple[Any, Any, list[int]]:
    """The quadruped in both, in one state."""
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("pydrake")
    import carom.drake
    import carom.mujoco

    model, data = carom.mujoco.quadruped(armature=armature, damping=0.0)
    rng = np.random.default_rng(3)
    data.qvel[:] = 0.3 * rng.normal(size=18)
    data.qvel[2] = -1.0
    mujoco.mj_forward(model, data)
    plant = drake_plant(quadruped_xml(armature=armature, damping=0.0), "xml")
    context = plant.CreateDefaultContext()
    order = floating_order(plant, JOINTS)
    from pydrake.math import RigidTransform

    trunk = plant.GetBodyByName("trunk")
    plant.SetFreeBodyPose(context, trunk, RigidTransform(np.array(data.qpos[:3])))
    for name, angle in zip(JOINTS, np.tile(STANCE, 4)):
        plant.GetJointByName(name).set_angle(context, angle)
    velocity = np.zeros(18)
    velocity[order] = data.qvel
    plant.SetVelocities(context, velocity)
    points = []
    for k in range(data.ncon):
        body = model.body(model.geom_bodyid[data.contact.geom[k, 1]]).name
        frame = plant.GetFrameByName(body)
        pose = frame.CalcPoseInWorld(context)
        points.append((frame, pose.inverse().multiply(np.array(data.contact.pos[k]))))
    first = carom.mujoco.impact(model, data)
    second = carom.drake.impact(plant, context, points, friction=0.7)
    return first, second, order


def test_mujoco_and_drake_agree_on_a_quadruped() -> None:
    (a, v), (b, w), order = mujoco_and_drake(0.0)
    difference = carom.compare_models((a, v), (b, w), permutation=order)
    assert difference.mass_matrix_difference <= 1e-14
    # Their tangents differ by a rotation in the plane; the normals do not.
    normals = np.abs(a.contacts.normals - b.contacts.normals[:, order]).max()
    assert normals <= 1e-14 and difference.velocity_difference == 0.0
    for law in LAWS:
        one, other = a.resolve(v, law), b.resolve(w, law)
        assert one.energy_plus_j == pytest.approx(other.energy_plus_j, rel=1e-10)
        np.testing.assert_allclose(
            a.contacts.normals @ one.velocity_plus,
            b.contacts.normals @ other.velocity_plus,
            atol=1e-10,
        )
        np.testing.assert_allclose(one.velocity_plus, other.velocity_plus[order], atol=1e-10)


def test_drake_drops_armature_and_the_comparison_says_where() -> None:
    (a, v), (b, w), order = mujoco_and_drake(0.01)
    difference = carom.compare_models((a, v), (b, w), permutation=order)
    assert difference.mass_matrix_difference == pytest.approx(0.01, abs=1e-12)
    i, j = difference.mass_matrix_index
    assert i == j >= 6
    assert [entry[2] > 0.009 for entry in difference.table] == [False] * 6 + [True] * 12
    energies = [impact.resolve(x, "plastic").energy_plus_j for impact, x in ((a, v), (b, w))]
    assert abs(energies[0] / energies[1] - 1.0) > 0.01


def test_pinocchio_drops_masses_of_shapes_that_touch_nothing(tmp_path: pathlib.Path) -> None:
    pin = pytest.importorskip("pinocchio")
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "quadruped.xml"
    path.write_text(quadruped_xml())
    mass = float(mujoco.MjModel.from_xml_path(str(path)).body_mass.sum())
    assert mass == pytest.approx(14.04)
    assert pin.computeTotalMass(pin.buildModelFromMJCF(str(path))) < 0.9 * mass


def test_drake_changes_an_inertia_that_no_body_has() -> None:
    pin = pytest.importorskip("pinocchio")
    moments = " ".join(f'{key}="1e-3"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    inertial = f'<inertial><mass value="1"/><inertia {moments}/></inertial>'
    text = f'<robot name="rod"><link name="rod">{inertial}</link></robot>'
    plant = drake_plant(text, "urdf")
    ours = plant.CalcMassMatrix(plant.CreateDefaultContext())[:3, :3]
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    theirs = pin.crba(model, model.createData(), pin.neutral(model))[3:, 3:]
    np.testing.assert_allclose(np.triu(theirs), np.triu(np.full((3, 3), 1e-3)), atol=1e-15)
    assert np.abs(np.triu(ours - theirs)).max() > 1e-4


ARM = """<robot name="arm">{links}{joints}</robot>"""


def own_urdf(seed: int, joints: int) -> str:
    """A floating tree of links of our own with random axes, placements and full inertias."""
    rng = np.random.default_rng(seed)
    links, edges = [], []
    for k in range(joints + 1):
        root = rng.normal(size=(3, 3))
        inertia = 0.01 * (root @ root.T + 3 * np.eye(3))
        inertia += 0.5 * np.trace(inertia) * np.eye(3)
        center = " ".join(map(repr, rng.normal(size=3).tolist()))
        terms = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        moments = " ".join(f'{key}="{float(inertia[place])!r}"' for key, place in terms.items())
        links.append(
            f'<link name="l{k}"><inertial><origin xyz="{center}" rpy="0.1 -0.2 0.3"/>'
            f'<mass value="{rng.uniform(0.5, 3)!r}"/><inertia {moments}/></inertial></link>'
        )
        if k:
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            place = [" ".join(map(repr, rng.normal(size=3).tolist())) for _ in range(2)]
            kind = "prismatic" if k % 4 == 0 else "revolute"
            edges.append(
                f'<joint name="j{k}" type="{kind}"><parent link="l{rng.integers(k)}"/><child link="l{k}"/>'
                f'<origin xyz="{place[0]}" rpy="{place[1]}"/>'
                f'<axis xyz="{" ".join(map(repr, axis.tolist()))}"/>'
                '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
            )
    return ARM.format(links="".join(links), joints="".join(edges))


def published() -> dict[str, pathlib.Path]:
    """URDF files of the wheel example-robot-data, where it is installed."""
    wanted = {"go1": "go1.urdf", "solo12": "solo12.urdf", "talos": "talos_full_v2.urdf", "g1": "g1_29dof_rev_1_0.urdf"}
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    places = {pathlib.Path(str(f)).name: pathlib.Path(str(f.locate())) for f in files if str(f).endswith(".urdf")}
    return {name: places.get(file, pathlib.Path(file)) for name, file in wanted.items()}


def without_shapes(path: pathlib.Path) -> str:
    """A robot without its meshes, and with the moments of go1's base that a body can have."""
    robot = tree.parse(path).getroot()
    for inertia in robot.iter("inertia"):
        if len(set(inertia.attrib.values())) == 1:
            inertia.attrib.update(ixy="0", ixz="0", iyz="0")
    for link in robot.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    return tree.tostring(robot, encoding="unicode")


OWN = {"own arm": (1, 6), "own tree": (2, 12), "own crowd": (3, 25), "own giant": (4, 40)}


@pytest.mark.parametrize("name", [*OWN, *published()])
def test_pinocchio_and_drake_agree(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    pytest.importorskip("pydrake")
    import carom.drake
    import carom.pinocchio

    if name in OWN:
        text = own_urdf(*OWN[name])
    else:
        path = published()[name]
        if not path.exists():
            pytest.skip("the wheel example-robot-data is not installed")
        text = without_shapes(path)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    data = model.createData()
    plant = drake_plant(text, "urdf")
    context = plant.CreateDefaultContext()
    joints = [str(joint) for joint in model.names][2:]
    order = [0] * model.nv
    base = floating_order(plant, [])
    order[:6] = base
    rng = np.random.default_rng(5)
    q = pin.neutral(model)
    q[:3] = rng.normal(size=3)
    configuration = plant.GetPositions(context)
    for joint in joints:
        index = model.getJointId(joint)
        own = plant.GetJointByName(joint)
        assert own.num_velocities() == 1 == model.joints[index].nv
        order[model.joints[index].idx_v] = own.velocity_start()
        angle = rng.uniform(-0.4, 0.4)
        if model.joints[index].nq == 2:
            q[model.joints[index].idx_q : model.joints[index].idx_q + 2] = np.cos(angle), np.sin(angle)
        else:
            q[model.joints[index].idx_q] = angle
        configuration[own.position_start()] = angle
    root = plant.get_body(next(iter(plant.GetFloatingBaseBodies())))
    start = root.floating_positions_start()
    configuration[start : start + 7] = [1, 0, 0, 0, *q[:3]]
    plant.SetPositions(context, configuration)
    frames = [str(frame.name) for frame in model.frames if plant.HasBodyNamed(str(frame.name))][-3:]
    offset = np.array([0.1, -0.2, 0.3])
    options = {"friction": 0.5, "normal": (0.2, -0.3, 0.9)}
    a = carom.pinocchio.impact(model, data, q, [(frame, offset) for frame in frames], **options)
    points = [(plant.GetFrameByName(frame), offset) for frame in frames]
    b = carom.drake.impact(plant, context, points, **options)
    difference = carom.compare_models(a, b, permutation=order)
    size = np.abs(a[0].mass_matrix).max()
    assert difference.mass_matrix_difference <= 1e-10 * max(1.0, size)
    assert difference.jacobian_difference <= 1e-10
    v = rng.normal(size=model.nv)
    w = np.zeros(model.nv)
    w[order] = v
    one, other = a[0].resolve(v, "plastic"), b[0].resolve(w, "plastic")
    np.testing.assert_allclose(one.velocity_plus, other.velocity_plus[order], atol=1e-8)


def test_frames_that_do_not_exist_are_named() -> None:
    pin = pytest.importorskip("pinocchio")
    import carom.pinocchio

    model = pin.buildModelFromXML(own_urdf(1, 3), pin.JointModelFreeFlyer())
    with pytest.raises(carom.CaromError, match="no frame 'nowhere'"):
        carom.pinocchio.impact(
            model, model.createData(), pin.neutral(model), [("nowhere", (0, 0, 0))], friction=0.5
        )
