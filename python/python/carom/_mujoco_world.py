"""A MuJoCo model and state as a world of bodies and joints."""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np

from . import _native
from ._arrays import Floats
from ._errors import CaromError
from ._mujoco_joints import (
    FREE,
    HINGE,
    SLIDE,
    SPLIT,
    Joint,
    Pose,
    Stack,
    is_off,
    joint_keys,
    name_of,
    quaternion_rows,
)
from ._mujoco_shapes import Shapes

#: Amount by which a start may lie outside a range (rad or m), as for every world.
LIMIT_SLACK = 1e-9

#: A thing that was left out: what it is, its name, and why.
Ignored = list[tuple[str, str, str]]

#: Acting parts of tendons, with the flags that switch them off; other tendons only measure.
ACTING = {
    "tendon_limited": ("LIMIT", "CONSTRAINT"),
    "tendon_frictionloss": ("FRICTIONLOSS", "CONSTRAINT"),
    "tendon_stiffness": (),
    "tendon_damping": (),
    "tendon_armature": (),
}


class Importer:
    """Reads a model and collects the keys of a world."""

    def __init__(self, model: Any, data: Any, start: str = "strict") -> None:
        self.model = model
        # A state of its own: positions of frames must belong to `qpos`.
        self.data = mj.MjData(model)
        self.data.qpos[:], self.data.qvel[:] = data.qpos, data.qvel
        self.data.mocap_pos[:], self.data.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        self.data.ctrl[:] = data.ctrl
        if hasattr(data, "eq_active"):
            self.data.eq_active[:] = data.eq_active
        mj.mj_normalizeQuat(model, self.data.qpos)
        #: Joints that start at a limit instead of outside.
        self.clipped: list[dict[str, Any]] = []
        self.ignored: Ignored = []
        #: Parts of the list above without which the model moves otherwise.
        self.lost: Ignored = []
        if start == "clip":
            self._clip()
        mj.mj_forward(model, self.data)
        #: Body that each is welded to; 0 for those that never move, to which those that are posed from outside belong.
        self.weld = np.array(model.body_weldid)
        self.weld[np.asarray(model.body_mocapid)[self.weld] >= 0] = 0
        self.bodies: list[dict[str, Any]] = []
        self.joints: list[dict[str, Any]] = []
        #: Body of the world, by MuJoCo's bodies; those that never move have none.
        self.poses: dict[int, Pose] = {}
        self.names: dict[int, str] = {}
        self.taken = {"ground"}
        #: Coordinate of the world, by MuJoCo's joints: the joint's keys and the place in its lists.
        self.coordinates: dict[int, tuple[dict[str, Any], int]] = {}

    def read(self, restitution: float, keys: dict[str, Any]) -> dict[str, Any]:
        model = self.model
        for body in range(1, int(model.nbody)):
            if int(self.weld[body]) == body:
                self._body(body)
        shapes = Shapes(self)
        planes = shapes.add()
        self._actuators()
        self._equalities()
        self._left_out()
        contact, pairs = shapes.contacts()
        gravity = [0.0] * 3 if is_off(model, "GRAVITY") else model.opt.gravity.tolist()
        config: dict[str, Any] = {
            "time_step": float(model.opt.timestep),
            "gravity": gravity,
            "contact": {"friction": contact, "restitution": float(restitution)},
            "bodies": self.bodies,
        }
        for key, value in (("joints", self.joints), ("planes", planes), ("pairs", pairs)):
            if value:
                config[key] = value
        if not self.bodies:
            raise CaromError("invalid-input", "model: it has no bodies that move")
        return config | keys

    def unique(self, name: str) -> str:
        """A name that no other body or plane has, nor space."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def members(self, body: int) -> list[int]:
        return [int(b) for b in np.flatnonzero(self.weld == body)]

    def settle(self, allow: list[str]) -> list[str]:
        """Refuses the parts that would be lost unless ``allow`` names them, and returns notes about those that were replaced."""
        parts = [(*part, part in self.lost) for part in self.ignored]
        replaced = _native.sort_left_out(parts, allow)
        notes = [f"{what} `{name}`: {why}" for (what, name, why, _), is_replaced in zip(parts, replaced) if is_replaced]
        self.ignored = [part for part, is_replaced in zip(self.ignored, replaced) if not is_replaced]
        return notes

    def lose(self, what: str, name: str, why: str) -> None:
        """Notes a part without which the model moves otherwise."""
        self.ignored.append((what, name, why))
        self.lost.append((what, name, why))

    def outside(self) -> list[str]:
        """Names of the hinges and slides, in backquotes, whose coordinates are outside their ranges."""
        return [f"`{name}`" for name, _, _, _ in self._outside()]

    def _outside(self) -> list[tuple[str, int, float, float]]:
        """Hinges and slides outside their ranges: name, address, coordinate, and the nearest limit."""
        model, found = self.model, []
        if is_off(model, "LIMIT") or is_off(model, "CONSTRAINT"):
            return []
        for j in range(int(model.njnt)):
            if not model.jnt_limited[j] or int(model.jnt_type[j]) not in (HINGE, SLIDE):
                continue
            at = int(model.jnt_qposadr[j])
            q = float(self.data.qpos[at])
            lower, upper = (float(bound) for bound in model.jnt_range[j])
            if q < lower - LIMIT_SLACK or q > upper + LIMIT_SLACK:
                name = name_of(model, mj.mjtObj.mjOBJ_JOINT, j, "joint")
                found.append((name, at, q, min(max(q, lower), upper)))
        return found

    def _clip(self) -> None:
        """Moves the hinges and slides outside their ranges to their nearest limits."""
        for name, at, q, limit in self._outside():
            self.data.qpos[at] = limit
            self.clipped.append({"joint": name, "from": q, "to": limit})
            self.ignored.append(("start", name, f"{q:g} is outside its range: it starts at {limit:g}"))

    def _inertia(self, body: int) -> tuple[float, Pose, Floats]:
        """Mass, center and axes, and inertia of a body with all that is welded to it."""
        model, data = self.model, self.data
        members = [b for b in self.members(body) if model.body_mass[b] > 0.0]
        if not members:
            name = name_of(model, mj.mjtObj.mjOBJ_BODY, body, "body")
            raise CaromError("invalid-input", f"model: the body `{name}` moves and has no mass")
        main = body if body in members else members[0]
        axes = data.ximat[main].reshape(3, 3).copy()
        if len(members) == 1:
            inertia = np.diag(model.body_inertia[main])
            return float(model.body_mass[main]), Pose(data.xipos[main].copy(), axes), inertia
        mass = float(sum(model.body_mass[b] for b in members))
        center = sum(model.body_mass[b] * data.xipos[b] for b in members) / mass
        total = np.zeros((3, 3))
        for b in members:
            own = data.ximat[b].reshape(3, 3)
            off = data.xipos[b] - center
            total += own @ np.diag(model.body_inertia[b]) @ own.T
            total += model.body_mass[b] * (off @ off * np.eye(3) - np.outer(off, off))
        inertia = axes.T @ total @ axes
        return mass, Pose(center, axes), (inertia + inertia.T) / 2.0

    def _body(self, body: int) -> None:
        """A body with the joints that carry it."""
        model = self.model
        if int(self.weld[body]) == 0:
            return
        name = self.unique(name_of(model, mj.mjtObj.mjOBJ_BODY, body, "body"))
        mass, pose, inertia = self._inertia(body)
        entry: dict[str, Any] = {"name": name, "mass": mass, "inertia": inertia.tolist()}
        parent = int(self.weld[model.body_parentid[body]])
        first = int(model.body_jntadr[body])
        if int(model.jnt_type[first]) == FREE:
            entry |= self._free(body, first, pose)
        else:
            self._chain(body, name, parent, pose, mass, inertia)
        self.bodies.append(entry)
        self.poses[body], self.names[body] = pose, name

    def _free(self, body: int, joint: int, pose: Pose) -> dict[str, Any]:
        model, data = self.model, self.data
        dof = int(model.jnt_dofadr[joint])
        name = name_of(model, mj.mjtObj.mjOBJ_JOINT, joint, "joint")
        for what, values in (
            ("armature", model.dof_armature),
            ("damping", model.dof_damping),
            ("frictionloss", model.dof_frictionloss),
        ):
            if np.any(values[dof : dof + 6]):
                self.ignored.append((what, name, "a body that floats has none of it"))
        if int(model.body_jntnum[body]) > 1:
            self.ignored.append(("joint", name, "joints beside a free one"))
        spin = data.xmat[body].reshape(3, 3) @ data.qvel[dof + 3 : dof + 6]
        velocity = data.qvel[dof : dof + 3] + np.cross(spin, pose.position - data.xpos[body])
        return {
            "position": pose.position.tolist(),
            "rotation": pose.axes.tolist(),
            "velocity": velocity.tolist(),
            "angular_velocity": spin.tolist(),
        }

    def _chain(
        self, body: int, name: str, parent: int, pose: Pose, mass: float, inertia: Floats
    ) -> None:
        """Joints between a body and its parent, with light links where they are several."""
        model = self.model
        stack = Stack(model, self.data, body)
        parts = stack.parts()
        parent_name, parent_pose = "ground", Pose(np.zeros(3), np.eye(3))
        if parent != 0:
            parent_name, parent_pose = self.names[parent], self.poses[parent]
        frame = self.data.xmat[body].reshape(3, 3)
        arm = frame.T @ (pose.position - self.data.xpos[body])
        turned = frame.T @ pose.axes
        for k, (joint, end) in enumerate(parts):
            child_name, child_pose = name, pose
            if k + 1 < len(parts):
                at = stack.poses[end]
                child_name = self.unique(f"{name}.link{k + 1}")
                child_pose = Pose(at.position + at.axes @ arm, at.axes @ turned)
                link = {"name": child_name, "mass": SPLIT * mass, "inertia": (SPLIT * inertia).tolist()}
                self.bodies.append(link)
                why = f"joints that are none of carom's together: a link of {SPLIT:g} of the mass in between"
                self.ignored.append(("split", child_name, why))
            self._joint(joint, (parent_name, parent_pose), (child_name, child_pose))
            parent_name, parent_pose = child_name, child_pose

    def _joint(self, joint: Joint, parent: tuple[str, Pose], child: tuple[str, Pose]) -> None:
        keys = joint_keys(self.model, self.data, joint, self.ignored)
        keys["parent"], keys["child"] = parent[0], child[0]
        keys["parent_frame"] = parent[1].frame(joint.point_1, joint.axes_1)
        keys["child_frame"] = child[1].frame(joint.point_2, joint.axes_2)
        self.joints.append(keys)
        for place, j in enumerate(joint.joints):
            self.coordinates[j] = (keys, place)

    def _actuators(self) -> None:
        model = self.model
        if is_off(model, "ACTUATION"):
            return
        for a in range(int(model.nu)):
            name = name_of(model, mj.mjtObj.mjOBJ_ACTUATOR, a, "actuator")
            found = self._drive(a)
            if isinstance(found, str):
                self.ignored.append(("actuator", name, found))
                continue
            drive, j = found
            if getattr(model, "jnt_actfrclimited", np.zeros(model.njnt))[j]:
                self.ignored.append(("actuatorfrcrange", name, "an actuator has a range of its own only"))
            keys, place = self.coordinates[j]
            n = len(keys.get("names", [""]))
            drives = keys.setdefault("actuators", [{} for _ in range(n)])
            old = drives[place]
            if not old:
                drives[place] = drive
            elif old["type"] == drive["type"] == "constant" and not ("limit" in old or "limit" in drive):
                old["value"] += drive["value"]
            else:
                self.ignored.append(("actuator", name, "a coordinate has one actuator"))

    def _drive(self, a: int) -> tuple[dict[str, Any], int] | str:
        """An actuator with its joint, or why there is none."""
        model = self.model
        if int(model.actuator_trntype[a]) not in (
            int(mj.mjtTrn.mjTRN_JOINT),
            int(mj.mjtTrn.mjTRN_JOINTINPARENT),
        ):
            return "only joints are driven"
        j = int(model.actuator_trnid[a][0])
        if j not in self.coordinates or self.coordinates[j][0]["type"] == "spherical":
            return "only hinges and slides are driven"
        if int(model.actuator_dyntype[a]) != int(mj.mjtDyn.mjDYN_NONE):
            return "actuators have no state of their own"
        gear = float(model.actuator_gear[a][0])
        bias_type = int(model.actuator_biastype[a])
        if gear == 0.0 or int(model.actuator_gaintype[a]) != int(mj.mjtGain.mjGAIN_FIXED):
            return "its gain is not fixed"
        if bias_type not in (int(mj.mjtBias.mjBIAS_NONE), int(mj.mjtBias.mjBIAS_AFFINE)):
            return "its bias is not affine"
        for what in ("actuator_armature", "actuator_damping", "actuator_dampingpoly", "actuator_delay"):
            values = getattr(model, what, None)
            if values is not None and np.any(values[a]):
                return f"it has {what.removeprefix('actuator_')}"
        control = float(self.data.ctrl[a])
        if model.actuator_ctrllimited[a] and not is_off(model, "CLAMPCTRL"):
            control = float(np.clip(control, *model.actuator_ctrlrange[a]))
        affine = bias_type == int(mj.mjtBias.mjBIAS_AFFINE)
        b0, b1, b2 = model.actuator_biasprm[a][:3] if affine else np.zeros(3)
        push = float(model.actuator_gainprm[a][0]) * control + float(b0)
        drive: dict[str, Any] = {}
        if model.actuator_forcelimited[a]:
            lower, upper = model.actuator_forcerange[a]
            if lower != -upper:
                return f"its force range {lower:g} to {upper:g} is not symmetric"
            drive["limit"] = abs(gear) * float(upper)
        if b1 == 0.0 and b2 == 0.0:
            return {"type": "constant", "value": gear * push} | drive, j
        if b1 > 0.0 or b2 > 0.0 or b1 == 0.0:
            return "its bias pushes away from a target, or has none"
        at = int(model.jnt_qposadr[j])
        # Force gear (push + b1 gear q + b2 gear rate) with MuJoCo's q.
        target = push / (-b1 * gear) - float(model.qpos0[at])
        gains = {"proportional": float(-b1 * gear**2), "derivative": float(-b2 * gear**2)}
        return {"type": "pd", "times": [0.0], "values": [float(target)]} | gains | drive, j

    def _equalities(self) -> None:
        model, data = self.model, self.data
        if is_off(model, "EQUALITY") or is_off(model, "CONSTRAINT"):
            return
        active = getattr(data, "eq_active", model.eq_active0)
        for e in range(int(model.neq)):
            if not active[e]:
                continue
            name = name_of(model, mj.mjtObj.mjOBJ_EQUALITY, e, "equality")
            kind = mj.mjtEq(int(model.eq_type[e]))
            connects = kind in (mj.mjtEq.mjEQ_CONNECT, mj.mjtEq.mjEQ_WELD)
            if not connects or int(model.eq_objtype[e]) != int(mj.mjtObj.mjOBJ_BODY):
                self.lose("equality", name, f"{kind.name[5:].lower()}: not supported")
                continue
            self._loop(e, name, kind == mj.mjtEq.mjEQ_WELD)

    def _loop(self, e: int, name: str, is_weld: bool) -> None:
        """A joint that closes a loop."""
        model, data = self.model, self.data
        bodies = [int(model.eq_obj1id[e]), int(model.eq_obj2id[e])]
        welds = [int(self.weld[b]) for b in bodies]
        if welds[0] == welds[1]:
            self.ignored.append(("equality", name, "both ends are one body"))
            return
        parameters = model.eq_data[e]
        axes = [data.xmat[b].reshape(3, 3) for b in bodies]
        # Anchor in each body; `weld` has that of the second body first, then the turn of the second in the first.
        anchors = [parameters[0:3], parameters[3:6]]
        turns = [np.eye(3), np.eye(3)]
        if is_weld:
            anchors = [parameters[3:6], parameters[0:3]]
            turns[0] = quaternion_rows(parameters[6:10])
        points = [data.xpos[b] + axes[i] @ anchors[i] for i, b in enumerate(bodies)]
        ends = []
        for weld in welds:
            known = weld in self.poses
            ends.append((self.names[weld], self.poses[weld]) if known else ("ground", Pose(np.zeros(3), np.eye(3))))
        first, second = (1, 0) if ends[1][0] == "ground" else (0, 1)
        self.joints.append(
            {
                "name": name,
                "type": "fixed" if is_weld else "spherical",
                "parent": ends[first][0],
                "child": ends[second][0],
                "parent_frame": ends[first][1].frame(points[first], axes[first] @ turns[first]),
                "child_frame": ends[second][1].frame(points[second], axes[second] @ turns[second]),
            }
        )

    def _acts(self, tendon: int) -> bool:
        """True if a tendon has a limit, stiffness, damping, friction or inertia, or an actuator pulls it."""
        model = self.model
        for what, flags in ACTING.items():
            values = getattr(model, what, None)
            if values is not None and np.any(values[tendon]) and not any(is_off(model, flag) for flag in flags):
                return True
        return not is_off(model, "ACTUATION") and any(
            int(model.actuator_trntype[a]) == int(mj.mjtTrn.mjTRN_TENDON)
            and int(model.actuator_trnid[a][0]) == tendon
            and (np.any(model.actuator_gainprm[a]) or np.any(model.actuator_biasprm[a]))
            for a in range(int(model.nu))
        )

    def _left_out(self) -> None:
        """Names what a world has none of."""
        model, ignored = self.model, self.ignored
        for t in range(int(model.ntendon)):
            name = name_of(model, mj.mjtObj.mjOBJ_TENDON, t, "tendon")
            if self._acts(t):
                self.lose("tendon", name, "not supported, and it acts")
            else:
                ignored.append(("tendon", name, "not supported"))
        for b in range(1, int(model.nbody)):
            name = name_of(model, mj.mjtObj.mjOBJ_BODY, b, "body")
            if model.body_gravcomp[b]:
                ignored.append(("gravcomp", name, "gravity acts on every body alike"))
            if model.body_mocapid[b] >= 0:
                ignored.append(("mocap", name, "it stays where it is"))
        for what in ("density", "viscosity"):
            if getattr(model.opt, what):
                ignored.append(("fluid", what, "bodies move in empty space"))
        for what, count in (("flex", "nflex"), ("plugin", "nplugin"), ("skin", "nskin")):
            if getattr(model, count, 0):
                ignored.append((what, what, "not supported"))
