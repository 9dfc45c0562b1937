"""Drake's MultibodyPlant."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import Box, HalfSpace, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from .._model import KitError, Scene


class Drake:
    """Drake with its own defaults, unless settings say otherwise.

    Parameters
    ----------
    timestep : float, optional
        Step of the discrete plant in seconds; the scene's advice by default. 0: a continuous plant.
    **settings
        Fields of ``MultibodyPlantConfig``, for example ``discrete_contact_approximation="tamsi"``.

    Drake's contacts have stiffness and dissipation and no coefficient of restitution; the kit reports what
    comes out. Output times are reached by the simulator, a discrete plant holds its state between steps.
    """

    name = "Drake"
    precision = "double"

    def __init__(self, timestep: float | None = None, **settings: Any) -> None:
        self.version = version("drake")
        try:
            MultibodyPlantConfig(time_step=timestep or 1e-3, **settings)
        except (AttributeError, TypeError) as error:
            raise KitError(f"drake: {str(error).splitlines()[0]}") from None
        self._timestep, self._config = timestep, settings
        self.settings: dict[str, Any] = {
            "timestep": "advised" if timestep is None else timestep,
            **settings,
        }
        self.unsupported: set[str] = set()

    def run(self, scene: Scene) -> Mapping[str, Any]:
        """States of the scene."""
        builder = DiagramBuilder()
        step = scene["step"] if self._timestep is None else self._timestep
        plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=step, **self._config), builder)
        plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])
        friction = CoulombFriction(scene["friction"], scene["friction"])
        for i, plane in enumerate(scene["planes"]):
            normal: Any = np.asarray(plane["normal"])
            pose = HalfSpace.MakePose(normal, -plane["offset"] * normal)
            plant.RegisterCollisionGeometry(plant.world_body(), pose, HalfSpace(), f"plane{i}", friction)
        bodies = []
        for i, given in enumerate(scene["bodies"]):
            unit = np.asarray(given["inertia"]) / given["mass"]
            center: Any = np.zeros(3)
            inertia = SpatialInertia(given["mass"], center, UnitInertia(*unit))
            body = plant.AddRigidBody(f"body{i}", inertia)
            kind, shape = next(iter(given["shape"].items()))
            made = Sphere(shape["radius"]) if kind == "sphere" else Box(*(2.0 * np.asarray(shape["half_extents"])))
            plant.RegisterCollisionGeometry(body, RigidTransform(), made, f"shape{i}", friction)
            bodies.append(body)
        plant.Finalize()
        diagram = builder.Build()
        simulator = Simulator(diagram)
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, given in zip(bodies, scene["bodies"], strict=True):
            quaternion: Any = np.asarray(given["quaternion"])
            turn = RotationMatrix(Quaternion(quaternion))
            plant.SetFreeBodyPose(context, body, RigidTransform(turn, given["position"]))
            velocity = SpatialVelocity(given["angular_velocity"], given["velocity"])
            try:
                plant.SetFreeBodySpatialVelocity(context, body, velocity)
            except TypeError:  # before Drake 1.45
                plant.SetFreeBodySpatialVelocity(body, velocity, context)
        rows = []
        for time in scene["output_times"]:
            simulator.AdvanceTo(time)
            rows.append([_state(plant, context, body) for body in bodies])
        return {
            "bodies": [{key: [row[i][key] for row in rows] for key in rows[0][i]} for i in range(len(bodies))]
        }


def _state(plant: Any, context: Any, body: Any) -> dict[str, Any]:
    pose = plant.EvalBodyPoseInWorld(context, body)
    velocity = plant.EvalBodySpatialVelocityInWorld(context, body)
    return {
        "position": pose.translation(),
        "quaternion": pose.rotation().ToQuaternion().wxyz(),
        "velocity": velocity.translational(),
        "angular_velocity": velocity.rotational(),
    }
