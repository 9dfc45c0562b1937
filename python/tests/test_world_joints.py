"""Worlds with joints: arrays, robots from URDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carom
import numpy as np

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


def test_a_robot_from_its_urdf_moves_as_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    world = carom.World.from_urdf(path, urdf={"joints": {"hinge": 0.4}}, duration=0.5)
    motion, by_hand = world.run(), carom.World(ROD).run()
    assert np.abs(motion.joint_position["hinge"] - by_hand.joint_position["hinge"]).max() <= 1e-12
    assert motion.record["merged"] == []
