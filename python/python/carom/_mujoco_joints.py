"""Joints of a MuJoCo model as ``[[joints]]`` of a world.

MuJoCo gives a body a list of joints, of which the first is nearest to the parent. A list that is one joint of carom's
becomes one; others get light links in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import mujoco as mj
import numpy as np

from ._arrays import Floats

#: Axes are orthogonal or parallel up to this sine, and lines meet up to this many meters per meter.
ALIGNED = 1e-9

#: Sine between axes up to which they count as parallel where the joint needs axes that are not.
OBLIQUE = 1e-3

#: Mass and inertia of links between joints of one body, against those of the body.
SPLIT = 1e-3

#: Bound of a coordinate without a limit beside one that has some.
NO_LIMIT = math.inf

HINGE, SLIDE = int(mj.mjtJoint.mjJNT_HINGE), int(mj.mjtJoint.mjJNT_SLIDE)
BALL, FREE = int(mj.mjtJoint.mjJNT_BALL), int(mj.mjtJoint.mjJNT_FREE)


@dataclass
class Pose:
    """A frame in space: origin (m) and axes as columns."""

    position: Floats
    axes: Floats

    def frame(self, point: Floats, axes: Floats) -> dict[str, Any]:
        """A frame in space as one in this body."""
        rows = self.axes.T @ axes
        return {"position": (self.axes.T @ (point - self.position)).tolist(), "rotation": rows.tolist()}


@dataclass
class Joint:
    """A joint of a world: its type, MuJoCo's joints in the order of its coordinates, and its frames in space."""

    kind: str
    joints: list[int]
    point_1: Floats
    axes_1: Floats
    point_2: Floats
    axes_2: Floats
    keys: dict[str, Any] = field(default_factory=dict)


def turn(axis: Floats, angle: float) -> Floats:
    """Rotation about a unit axis."""
    quaternion, rows = np.zeros(4), np.zeros(9)
    mj.mju_axisAngle2Quat(quaternion, axis, angle)
    mj.mju_quat2Mat(rows, quaternion)
    return rows.reshape(3, 3)


def quaternion_rows(quaternion: Floats) -> Floats:
    """Rotation of a quaternion w, x, y, z."""
    rows = np.zeros(9)
    mj.mju_quat2Mat(rows, quaternion / np.linalg.norm(quaternion))
    return rows.reshape(3, 3)


class Stack:
    """The joints of one body, and where the body would be after each of them."""

    def __init__(self, model: Any, data: Any, body: int) -> None:
        self.model = model
        first = int(model.body_jntadr[body])
        self.joints = list(range(first, first + int(model.body_jntnum[body])))
        parent = int(model.body_parentid[body])
        axes = data.xmat[parent].reshape(3, 3)
        position = data.xpos[parent] + axes @ model.body_pos[body]
        axes = axes @ quaternion_rows(model.body_quat[body])
        #: Poses of the body's frame before the first joint and after each.
        self.poses = [Pose(position, axes)]
        for j in self.joints:
            position, axes = self._after(data, j, position, axes)
            self.poses.append(Pose(position, axes))

    def _after(self, data: Any, j: int, position: Floats, axes: Floats) -> tuple[Floats, Floats]:
        model, kind = self.model, int(self.model.jnt_type[j])
        at = int(model.jnt_qposadr[j])
        if kind == FREE:
            return data.qpos[at : at + 3].copy(), quaternion_rows(data.qpos[at + 3 : at + 7])
        arm = model.jnt_pos[j]
        anchor = position + axes @ arm
        if kind == SLIDE:
            return position + axes @ model.jnt_axis[j] * coordinate(model, data, j), axes
        if kind == BALL:
            turned = quaternion_rows(data.qpos[at : at + 4])
        else:
            turned = turn(model.jnt_axis[j], coordinate(model, data, j))
        axes = axes @ turned
        return anchor - axes @ arm, axes

    def parts(self) -> list[tuple[Joint, int]]:
        """The joints of carom's that the list is made of, each with the number of MuJoCo's joints up to its end."""
        found, at = [], 0
        while at < len(self.joints):
            for length in (3, 2, 1):
                joint = self._match(at, length)
                if joint is not None:
                    at += length
                    found.append((joint, at))
                    break
        return found

    def _match(self, at: int, length: int) -> Joint | None:
        own = self.joints[at : at + length]
        if len(own) < length:
            return None
        before, after = self.poses[at], self.poses[at + length]
        kinds = [int(self.model.jnt_type[j]) for j in own]
        if length == 1:
            return self._single(own[0], kinds[0], before, after)
        axes = [self.model.jnt_axis[j].copy() for j in own]
        at_right_angles = all(abs(a @ b) <= ALIGNED for a, b in zip(axes, axes[1:], strict=False))
        if all(kind == HINGE for kind in kinds) and at_right_angles:
            anchor = self._meeting(own)
            if anchor is None:
                return self._series(own, axes, before, after)
            if length == 2:
                keys = {"axis": axes[0].tolist(), "axis2": axes[1].tolist()}
                return _placed("universal", own, anchor, before, after, np.eye(3), keys)
            keys = {"axes": [axis.tolist() for axis in axes]}
            return _placed("gimbal", own, anchor, before, after, np.eye(3), keys)
        if all(kind == HINGE for kind in kinds):
            return self._series(own, axes, before, after)
        if kinds == [SLIDE, SLIDE]:
            if _parallel(axes):
                return None
            keys = {"axis": axes[0].tolist(), "axis2": axes[1].tolist()}
            return _placed("cross-slide", own, np.zeros(3), before, after, np.eye(3), keys)
        if kinds == [SLIDE, HINGE] and at_right_angles:
            arm = self.model.jnt_pos[own[1]]
            keys = {"axis": axes[0].tolist(), "axis2": axes[1].tolist()}
            return _placed("pin-slot", own, arm, before, after, np.eye(3), keys)
        if sorted(kinds) == sorted([SLIDE, HINGE]) and np.linalg.norm(axes[0] - axes[1]) <= ALIGNED:
            hinge, slide = own[kinds.index(HINGE)], own[kinds.index(SLIDE)]
            arm = self.model.jnt_pos[hinge]
            keys = {"axis": axes[0].tolist()}
            return _placed("cylindrical", [slide, hinge], arm, before, after, np.eye(3), keys)
        if kinds == [SLIDE, SLIDE, HINGE]:
            return self._planar(own, axes, before, after)
        return None

    def _series(self, own: list[int], axes: list[Floats], before: Pose, after: Pose) -> Joint | None:
        """Hinges whose axes need not meet, in the order from the parent."""
        if _parallel(axes):
            return None
        points = [self.model.jnt_pos[j] for j in own]
        keys: dict[str, Any] = {"anchors": [(point - points[-1]).tolist() for point in points]}
        if len(own) == 2:
            keys |= {"axis": axes[0].tolist(), "axis2": axes[1].tolist()}
            return _placed("biaxial", own, points[-1], before, after, np.eye(3), keys)
        keys["axes"] = [axis.tolist() for axis in axes]
        return _placed("triaxial", own, points[-1], before, after, np.eye(3), keys)

    def _planar(self, own: list[int], axes: list[Floats], before: Pose, after: Pose) -> Joint | None:
        first, second, hinge = own
        x, y, z = axes
        if abs(x @ y) > ALIGNED:
            return None
        if np.linalg.norm(np.cross(y, x) - z) <= ALIGNED:
            first, second, x, y = second, first, y, x
        if np.linalg.norm(np.cross(x, y) - z) > ALIGNED:
            return None
        frame = np.column_stack([x, np.cross(z, x), z])
        arm = self.model.jnt_pos[hinge]
        return _placed("planar", [first, second, hinge], arm, before, after, frame, {})

    def _meeting(self, own: list[int]) -> Floats | None:
        """Point in which the axes of hinges meet, in the body at 0."""
        points = [self.model.jnt_pos[j] for j in own]
        axes = [self.model.jnt_axis[j] for j in own]
        apart = points[1] - points[0]
        # The axes are orthogonal: the nearest points are the projections.
        anchor: Floats = points[0] + axes[0] * (apart @ axes[0])
        size = max(float(np.linalg.norm(p)) for p in points) + float(np.linalg.norm(apart))
        for point, axis in zip(points, axes, strict=True):
            off = anchor - point
            if np.linalg.norm(off - axis * (off @ axis)) > ALIGNED * max(size, 1e-3):
                return None
        return anchor

    def _single(self, j: int, kind: int, before: Pose, after: Pose) -> Joint:
        axis = self.model.jnt_axis[j]
        if kind == SLIDE:
            keys = {"axis": axis.tolist()}
            return _placed("prismatic", [j], np.zeros(3), before, after, np.eye(3), keys)
        arm = self.model.jnt_pos[j]
        if kind == BALL:
            return _placed("spherical", [j], arm, before, after, np.eye(3), {})
        return _placed("revolute", [j], arm, before, after, np.eye(3), {"axis": axis.tolist()})


def _parallel(axes: list[Floats]) -> bool:
    """True if an axis is parallel, or nearly so, to the next."""
    return any(np.linalg.norm(np.cross(a, b)) <= OBLIQUE for a, b in zip(axes, axes[1:], strict=False))


def _placed(
    kind: str, joints: list[int], arm: Floats, before: Pose, after: Pose, turned: Floats, keys: dict[str, Any]
) -> Joint:
    """A joint at a point of the body, whose frames are the body's before and after, turned."""
    return Joint(
        kind,
        joints,
        before.position + before.axes @ arm,
        before.axes @ turned,
        after.position + after.axes @ arm,
        after.axes @ turned,
        keys,
    )


def coordinate(model: Any, data: Any, j: int) -> float:
    """Coordinate of a hinge or slide, 0 where the model has it."""
    at = int(model.jnt_qposadr[j])
    return float(data.qpos[at] - model.qpos0[at])


def name_of(model: Any, kind: Any, index: int, word: str) -> str:
    """Name of an object of the model, or a word and its number."""
    return mj.mj_id2name(model, kind, index) or f"{word}{index}"


def is_off(model: Any, flag: str) -> bool:
    """True if the model has switched something off."""
    bit = getattr(mj.mjtDisableBit, f"mjDSBL_{flag}", None)
    return bit is not None and bool(int(model.opt.disableflags) & int(bit))


def joint_keys(model: Any, data: Any, joint: Joint, ignored: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Coordinates, limits, springs, dampers, friction and rotors of a joint."""
    names = [name_of(model, mj.mjtObj.mjOBJ_JOINT, j, "joint") for j in joint.joints]
    keys: dict[str, Any] = {"name": "+".join(names), "type": joint.kind, **joint.keys}
    for j, name in zip(joint.joints, names, strict=True):
        _left_out(model, j, name, ignored)
    if joint.kind == "spherical":
        return keys | _ball_keys(model, data, joint.joints[0], names[0], ignored)
    if len(names) > 1:
        keys["names"] = names
    dofs = [int(model.jnt_dofadr[j]) for j in joint.joints]
    addresses = [int(model.jnt_qposadr[j]) for j in joint.joints]
    columns = {
        "position": [coordinate(model, data, j) for j in joint.joints],
        "velocity": [float(data.qvel[dof]) for dof in dofs],
        "armature": [float(model.dof_armature[dof]) for dof in dofs],
    }
    if not is_off(model, "DAMPER"):
        columns["damping"] = [float(model.dof_damping[dof]) for dof in dofs]
    if not is_off(model, "FRICTIONLOSS"):
        columns["friction"] = [float(model.dof_frictionloss[dof]) for dof in dofs]
    stiffness = [float(model.jnt_stiffness[j]) for j in joint.joints]
    if any(stiffness) and not is_off(model, "SPRING"):
        columns["stiffness"] = stiffness
        columns["rest"] = [float(model.qpos_spring[at] - model.qpos0[at]) for at in addresses]
    for key, values in columns.items():
        if any(values) or key == "position":
            keys[key] = values[0] if len(values) == 1 else values
    limited = [bool(model.jnt_limited[j]) for j in joint.joints]
    if any(limited) and not is_off(model, "LIMIT"):
        bounds = {"lower": (0, -NO_LIMIT), "upper": (1, NO_LIMIT)}
        limits: dict[str, Any] = {}
        for key, (side, none) in bounds.items():
            values = [
                float(model.jnt_range[j][side] - model.qpos0[at]) if has else none
                for j, at, has in zip(joint.joints, addresses, limited, strict=True)
            ]
            limits[key] = values[0] if len(values) == 1 else values
        keys["limits"] = limits
    return keys


def _ball_keys(
    model: Any, data: Any, j: int, name: str, ignored: list[tuple[str, str, str]]
) -> dict[str, Any]:
    at, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
    quaternion = data.qpos[at : at + 4] / np.linalg.norm(data.qpos[at : at + 4])
    # MuJoCo's velocity of a ball is in the child's axes, carom's in the parent's.
    rates = quaternion_rows(quaternion) @ data.qvel[dof : dof + 3]
    keys: dict[str, Any] = {"position": quaternion.tolist()}
    if np.any(rates):
        keys["velocity"] = rates.tolist()
    if model.dof_damping[dof] > 0.0 and not is_off(model, "DAMPER"):
        keys["damping"] = float(model.dof_damping[dof])
    if model.jnt_limited[j] and not is_off(model, "LIMIT"):
        # An angle of rotation never exceeds half a turn.
        if model.jnt_range[j][1] < math.pi:
            keys["limits"] = {"upper": float(model.jnt_range[j][1])}
    values = {
        "armature": model.dof_armature[dof],
        "frictionloss": model.dof_frictionloss[dof],
        "stiffness": model.jnt_stiffness[j],
    }
    for what, value in values.items():
        if value > 0.0:
            ignored.append((what, name, "a spherical joint takes damping only"))
    return keys


def _left_out(model: Any, j: int, name: str, ignored: list[tuple[str, str, str]]) -> None:
    """Names the properties of a joint that a world has none of."""
    dof = int(model.jnt_dofadr[j])
    for what, values in (
        ("stiffnesspoly", getattr(model, "jnt_stiffnesspoly", None)),
        ("springyield", getattr(model, "jnt_springyield", None)),
        ("actuatorgravcomp", getattr(model, "jnt_actgravcomp", None)),
        ("margin", model.jnt_margin),
    ):
        if values is not None and np.any(values[j]):
            ignored.append((what, name, "joints have none of it"))
    poly = getattr(model, "dof_dampingpoly", None)
    if poly is not None and np.any(poly[dof]):
        ignored.append(("dampingpoly", name, "damping is proportional to the rate"))
