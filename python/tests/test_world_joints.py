"""Worlds with joints: arrays, control, robots from URDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest

#: A rod on a hinge half a meter from its center, at rest at some angle.
ROD: dict[str, Any] = {
    "duration": 0.5,
    "time_step": 0.001,
    "bodies": [{"name": "rod", "mass": 2.0, "inertia": np.diag([0.1, 0.2, 0.15])}],
    "joints": [
        {
            "name": "hinge",
            "type": "revolute",
            "child": "rod",
            "axis": [0.0, 1.0, 0.0],
            "child_frame": {"position": [0.0, 0.0, 0.5]},
            "position": 0.4,
        }
    ],
}

#: Moment of inertia about the hinge (kg m^2), and weight times arm (N m).
INERTIA, MOMENT = 0.2 + 2.0 * 0.25, 2.0 * 9.80665 * 0.5

URDF = """<robot name="r"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def test_joints_have_arrays_by_their_names() -> None:
    motion = carom.World(ROD).run()
    angle = motion.joint_position["hinge"]
    assert angle.shape == (len(motion),) and angle[0] == 0.4
    # At rest at the start: the acceleration that gravity gives.
    early = motion.time < 0.02
    expected = 0.4 - 0.5 * MOMENT / INERTIA * np.sin(0.4) * motion.time**2
    assert np.allclose(angle[early], expected[early], rtol=0.0, atol=1e-6)
    assert motion.joint_load["hinge"].shape == (len(motion) - 1, 6)
    assert motion.joint_force["hinge"].shape == (len(motion),)
    assert np.all(np.diff(motion.joint_velocity["hinge"])[:5] < 0.0)


def test_a_control_that_balances_gravity_holds_the_rod() -> None:
    seen: list[tuple[float, float, float]] = []

    def control(t: float, q: Any, v: Any) -> Any:
        seen.append((t, q[0], v[0]))
        return MOMENT * np.sin(q)

    motion = carom.World(ROD).run(control=control)
    assert np.abs(motion.joint_position["hinge"] - 0.4).max() <= 1e-12
    times = [t for t, _, _ in seen]
    assert np.allclose(times[:4], [0.0, 0.001, 0.002, 0.003], rtol=0.0, atol=1e-12)
    assert motion.record["energy"]["actuator_work_j"] == pytest.approx(0.0, abs=1e-12)


def test_a_control_is_held_for_every_so_many_lines_and_its_work_is_counted() -> None:
    times: list[float] = []

    def control(t: float, q: Any, v: Any) -> list[float]:
        times.append(t)
        return [3.0 if t < 0.1 else 0.0]

    motion = carom.World(ROD).run(control=control, every=10)
    assert np.allclose(np.diff(times), 0.01, rtol=0.0, atol=1e-12)
    energy = motion.record["energy"]
    balance = energy["final_j"] - energy["initial_j"] - energy["actuator_work_j"]
    # Of the order of the step: 1e-6 of the energies.
    assert abs(balance) <= 1e-5
    at = int(np.argmin(np.abs(motion.time - 0.1)))
    work = 3.0 * (motion.joint_position["hinge"][at] - 0.4)
    # The work of the kicks is that of the motion but for the square of the step.
    assert abs(energy["actuator_work_j"] - work) <= 1e-7


@pytest.mark.parametrize(
    ("forces", "words"),
    [([1.0, 2.0], "not one force for each of 1"), ([np.nan], "not finite")],
)
def test_a_control_must_give_a_force_for_each_coordinate(forces: list[float], words: str) -> None:
    with pytest.raises(carom.CaromError, match=words):
        carom.World(ROD).run(control=lambda t, q, v: forces)


def test_an_exception_of_a_control_comes_back() -> None:
    def control(t: float, q: Any, v: Any) -> Any:
        raise ZeroDivisionError("in the control")

    with pytest.raises(ZeroDivisionError, match="in the control"):
        carom.World(ROD).run(control=control)


def test_a_world_without_joints_has_nothing_to_control() -> None:
    ball = {"name": "ball", "mass": 1.0, "shape": {"type": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 1.0]}
    with pytest.raises(carom.CaromError, match="joints"):
        carom.World({"duration": 0.1, "bodies": [ball]}).run(control=lambda t, q, v: [])


def test_a_robot_from_its_urdf_moves_as_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    world = carom.World.from_urdf(path, urdf={"joints": {"hinge": 0.4}}, duration=0.5)
    motion, by_hand = world.run(), carom.World(ROD).run()
    assert np.abs(motion.joint_position["hinge"] - by_hand.joint_position["hinge"]).max() <= 1e-12
    assert motion.record["merged"] == []


def test_a_urdf_tells_once_what_was_left_out_or_replaced(tmp_path: Path) -> None:
    limit = '<limit lower="0.1" upper="1" velocity="3"/>'
    text = URDF.replace("continuous", "revolute").replace("</joint>", limit + "</joint>")
    mesh = '<collision><geometry><mesh filename="gone.stl"/></geometry></collision>'
    text = text.replace("</inertial></link>", f"</inertial>{mesh}</link>")
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(carom.CaromError, match="outside the limits: `hinge` at 0"):
        carom.World.from_urdf(path, allow=["mesh"], duration=0.01).run()
    with pytest.raises(carom.CaromError, match="would be lost: mesh `rod`: gone.stl"):
        carom.World.from_urdf(path, start="clip", duration=0.01).run()
    world = carom.World.from_urdf(path, start="clip", allow=["mesh"], duration=0.01)
    with pytest.warns(UserWarning, match="left out: 1 x limit velocity, 1 x mesh; 1 x start replaced: `hinge`") as told:
        motion = world.run()
        world.run()
    assert len(told) == 1
    assert motion.record["clipped"] == [{"joint": "hinge", "from": 0.0, "to": 0.1}]
