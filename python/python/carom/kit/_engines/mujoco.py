"""MuJoCo: scenes as models of free bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import mujoco as mj
import numpy as np

from .._answer import Unsupported
from .._model import KitError, Scene, rotation

#: Options of the model that are no attribute of ``<option>``.
CONTACT = ("solref", "solimp", "condim", "margin", "priority")


class Mujoco:
    """MuJoCo with its own defaults, unless settings say otherwise.

    Parameters
    ----------
    timestep : float, optional
        Step in seconds; the scene's advice by default. The last step before an output time is cut to reach it.
    **settings
        ``solref``, ``solimp``, ``condim``, ``margin``: of every geom. All other keys are attributes of the
        model's ``<option>``, for example ``cone="elliptic"``, ``integrator="RK4"``, ``iterations=100``.

    MuJoCo has no coefficient of restitution: its contacts rebound by their stiffness and damping. Whether a
    scene's restitution is met depends on ``solref`` alone, and the kit reports what comes out.
    """

    name = "MuJoCo"
    version = mj.__version__
    precision = "double"

    def __init__(self, timestep: float | None = None, **settings: Any) -> None:
        self._timestep = timestep
        self._contact = {key: settings[key] for key in settings if key in CONTACT}
        self._option = {key: settings[key] for key in settings if key not in CONTACT}
        self.settings: dict[str, Any] = {"timestep": timestep or "advised", **settings}
        self.unsupported: set[str] = set()
        try:
            mj.MjModel.from_xml_string(self._xml([], 1e-3))
        except (ValueError, TypeError) as error:
            raise KitError(f"mujoco: {str(error).strip().splitlines()[0]}") from None

    def _xml(self, content: list[str], step: float) -> str:
        option = " ".join(f'{key}="{_word(value)}"' for key, value in self._option.items())
        contact = " ".join(f'{key}="{_word(value)}"' for key, value in self._contact.items())
        return (
            f'<mujoco><option timestep="{step!r}" {option}/><default><geom {contact}/></default>'
            f'<worldbody>{"".join(content)}</worldbody></mujoco>'
        )

    def run(self, scene: Scene) -> Mapping[str, Any]:
        """States of the scene."""
        step = self._timestep or scene["step"]
        friction = f'friction="{scene["friction"]!r} 0 0"'
        if scene["friction"] == 0.0 and "condim" not in self._contact:
            # A contact without friction rows: MuJoCo's smallest coefficient with rows is not zero.
            friction += ' condim="1"'
        content = [_plane(plane, friction) for plane in scene["planes"]]
        content += [_body(body, friction) for body in scene["bodies"]]
        model = mj.MjModel.from_xml_string(self._xml(content, step))
        model.opt.gravity[:] = scene["gravity"]
        data = mj.MjData(model)
        for i, body in enumerate(scene["bodies"]):
            data.qpos[7 * i : 7 * i + 3] = body["position"]
            data.qpos[7 * i + 3 : 7 * i + 7] = body["quaternion"]
            data.qvel[6 * i : 6 * i + 3] = body["velocity"]
            # MuJoCo's angular velocities of free joints are in body axes.
            turn = rotation(np.asarray(body["quaternion"]))
            data.qvel[6 * i + 3 : 6 * i + 6] = turn.T @ np.asarray(body["angular_velocity"])
        if not scene["bodies"]:
            raise Unsupported("no bodies")
        rows = []
        for time in scene["output_times"]:
            while time - data.time > 1e-12:
                model.opt.timestep = min(step, time - data.time)
                mj.mj_step(model, data)
            rows.append((data.qpos.reshape(-1, 7).copy(), data.qvel.reshape(-1, 6).copy()))
        return {"bodies": [_states(rows, i) for i in range(len(scene["bodies"]))]}


def _word(value: Any) -> str:
    """Value of an attribute: numbers apart by spaces."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return str(value)


def _plane(plane: Mapping[str, Any], friction: str) -> str:
    normal = plane["normal"]
    place = [-plane["offset"] * x for x in normal]
    axis = " ".join(map(repr, normal))
    return f'<geom type="plane" size="100 100 1" pos="{_word(place)}" zaxis="{axis}" {friction}/>'


def _body(body: Mapping[str, Any], friction: str) -> str:
    kind, shape = next(iter(body["shape"].items()))
    size = shape["radius"] if kind == "sphere" else _word(shape["half_extents"])
    inertia = _word(body["inertia"])
    return (
        f'<body><freejoint/><inertial pos="0 0 0" mass="{body["mass"]!r}" diaginertia="{inertia}"/>'
        f'<geom type="{kind}" size="{size}" {friction}/></body>'
    )


def _states(rows: list[tuple[Any, Any]], i: int) -> dict[str, Any]:
    place = [q[i] for q, _ in rows]
    turns = [rotation(q[3:]) for q in place]
    return {
        "position": [q[:3] for q in place],
        "quaternion": [q[3:] / math.sqrt(float(q[3:] @ q[3:])) for q in place],
        "velocity": [v[i, :3] for _, v in rows],
        "angular_velocity": [turn @ v[i, 3:] for turn, (_, v) in zip(turns, rows, strict=True)],
    }
