"""Bullet through PyBullet."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pybullet as bullet

from .._model import KitError, Scene

#: Words of the solver's choice.
SOLVERS = {"sequential-impulses": "CONSTRAINT_SOLVER_LCP_SI", "dantzig": "CONSTRAINT_SOLVER_LCP_DANTZIG"}


class PyBullet:
    """Bullet with its own defaults, unless settings say otherwise.

    Parameters
    ----------
    timestep : float, optional
        Step in seconds; the scene's advice by default.
    solver : {"sequential-impulses", "dantzig"}, optional
        Contact solver.
    **settings
        Keywords of ``setPhysicsEngineParameter``, for example ``numSolverIterations=200``,
        ``restitutionVelocityThreshold=0.0``, ``contactBreakingThreshold=1e-4``.

    Bullet multiplies the coefficients of both bodies; every body gets the square root of the scene's.
    """

    name = "Bullet"
    precision = "double"

    def __init__(self, timestep: float | None = None, solver: str | None = None, **settings: Any) -> None:
        self.version = version("pybullet")
        if solver is not None and solver not in SOLVERS:
            raise KitError(f"pybullet: solver {solver!r} is none of {', '.join(SOLVERS)}")
        self._timestep, self._solver, self._parameters = timestep, solver, settings
        self.settings: dict[str, Any] = {
            "timestep": timestep or "advised",
            "solver": solver or "default",
            **settings,
        }
        self.unsupported: set[str] = set()
        self._client = bullet.connect(bullet.DIRECT)
        try:
            bullet.setPhysicsEngineParameter(physicsClientId=self._client, **settings)
        except TypeError as error:
            raise KitError(f"pybullet: {error}") from None

    def close(self) -> None:
        """Disconnects from Bullet."""
        bullet.disconnect(self._client)

    def run(self, scene: Scene) -> Mapping[str, Any]:
        """States of the scene."""
        at = {"physicsClientId": self._client}
        bullet.resetSimulation(**at)
        parameters = dict(self._parameters)
        if self._solver is not None:
            parameters["constraintSolverType"] = getattr(bullet, SOLVERS[self._solver])
        bullet.setPhysicsEngineParameter(**parameters, **at)
        bullet.setGravity(*scene["gravity"], **at)
        surface = {
            "restitution": scene["restitution"] ** 0.5,
            "lateralFriction": scene["friction"] ** 0.5,
            "spinningFriction": 0.0,
            "rollingFriction": 0.0,
        }
        for plane in scene["planes"]:
            normal = np.asarray(plane["normal"])
            shape = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=plane["normal"], **at)
            ground = bullet.createMultiBody(
                0.0, shape, basePosition=list(-plane["offset"] * normal), **at
            )
            bullet.changeDynamics(ground, -1, **surface, **at)
        bodies = [self._body(body, surface) for body in scene["bodies"]]
        step = self._timestep or scene["step"]
        rows, now = [], 0.0
        for time in scene["output_times"]:
            while time - now > 1e-12:
                part = min(step, time - now)
                bullet.setTimeStep(part, **at)
                bullet.stepSimulation(**at)
                now += part
            rows.append([self._state(body) for body in bodies])
        keys = ("position", "quaternion", "velocity", "angular_velocity")
        return {
            "bodies": [
                {key: [row[i][k] for row in rows] for k, key in enumerate(keys)} for i in range(len(bodies))
            ]
        }

    def _body(self, body: Mapping[str, Any], surface: Mapping[str, float]) -> int:
        at = {"physicsClientId": self._client}
        kind, shape = next(iter(body["shape"].items()))
        if kind == "sphere":
            made = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=shape["radius"], **at)
        else:
            made = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=shape["half_extents"], **at)
        w, x, y, z = body["quaternion"]
        number: int = bullet.createMultiBody(
            body["mass"],
            made,
            basePosition=body["position"],
            baseOrientation=[x, y, z, w],
            **at,
        )
        bullet.changeDynamics(
            number,
            -1,
            localInertiaDiagonal=body["inertia"],
            # The scenes know no drag.
            linearDamping=0.0,
            angularDamping=0.0,
            **surface,
            **at,
        )
        bullet.resetBaseVelocity(number, body["velocity"], body["angular_velocity"], **at)
        return number

    def _state(self, number: int) -> tuple[Any, Any, Any, Any]:
        at = {"physicsClientId": self._client}
        position, (x, y, z, w) = bullet.getBasePositionAndOrientation(number, **at)
        velocity, spin = bullet.getBaseVelocity(number, **at)
        return position, (w, x, y, z), velocity, spin


