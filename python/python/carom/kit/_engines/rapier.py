"""Rapier through the package rapier3d, single precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import rapier3d as rp

from .._model import KitError, Scene


class Rapier:
    """Rapier with its own defaults, unless settings say otherwise.

    Parameters
    ----------
    timestep : float, optional
        Step in seconds; the scene's advice by default.
    **settings
        Attributes of Rapier's ``IntegrationParameters``, for example ``num_solver_iterations=50``.
    """

    name = "Rapier"
    precision = "single"

    def __init__(self, timestep: float | None = None, **settings: Any) -> None:
        self.version = version("rapier3d")
        parameters = rp.PhysicsWorld().integration_parameters
        for key in settings:
            if not hasattr(parameters, key):
                raise KitError(f"rapier: IntegrationParameters has no {key!r}")
        self._timestep, self._parameters = timestep, settings
        self.settings: dict[str, Any] = {"timestep": timestep or "advised", **settings}
        self.unsupported: set[str] = set()

    def run(self, scene: Scene) -> Mapping[str, Any]:
        """States of the scene."""
        world = rp.PhysicsWorld(gravity=tuple(scene["gravity"]))
        for key, value in self._parameters.items():
            setattr(world.integration_parameters, key, value)

        def surfaced(collider: Any) -> Any:
            return collider.friction(scene["friction"]).restitution(scene["restitution"])

        for plane in scene["planes"]:
            normal = np.asarray(plane["normal"])
            ground = rp.Collider.halfspace(tuple(normal))
            world.add_collider(surfaced(ground).translation(tuple(-plane["offset"] * normal)))
        handles = []
        for body in scene["bodies"]:
            kind, shape = next(iter(body["shape"].items()))
            sphere = kind == "sphere"
            collider = rp.Collider.ball(shape["radius"]) if sphere else rp.Collider.cuboid(*shape["half_extents"])
            inertia = rp.MassProperties(
                (0.0, 0.0, 0.0), body["mass"], tuple(body["inertia"]), rp.Rotation3.identity()
            )
            made = (
                rp.RigidBody.dynamic()
                .translation(tuple(body["position"]))
                .rotation(_scaled_axis(body["quaternion"]))
                .linvel(tuple(body["velocity"]))
                .angvel(tuple(body["angular_velocity"]))
            )
            handles.append(world.add_body(made, colliders=[surfaced(collider).mass_properties(inertia)]))
        step = self._timestep or scene["step"]
        rows, now = [], 0.0
        for time in scene["output_times"]:
            while time - now > 1e-12:
                part = min(step, time - now)
                world.integration_parameters.dt = part
                world.step()
                now += part
            rows.append([_state(world.rigid_bodies[handle]) for handle in handles])
        return {
            "bodies": [{key: [row[i][key] for row in rows] for key in rows[0][i]} for i in range(len(handles))]
        }


def _scaled_axis(quaternion: list[float]) -> Any:
    """Rotation vector of a quaternion ``w x y z``."""
    w, vector = quaternion[0], np.asarray(quaternion[1:])
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        return (0.0, 0.0, 0.0)
    return tuple(2.0 * math.atan2(size, w) / size * vector)


def _state(body: Any) -> dict[str, list[float]]:
    turn = body.rotation
    # Single precision leaves the quaternion's length off by its rounding.
    quaternion = np.array([turn.w, turn.i, turn.j, turn.k])
    return {
        "position": _vector(body.translation),
        "quaternion": list(quaternion / np.linalg.norm(quaternion)),
        "velocity": _vector(body.linvel),
        "angular_velocity": _vector(body.angvel),
    }


def _vector(vector: Any) -> list[float]:
    return [float(vector.x), float(vector.y), float(vector.z)]
