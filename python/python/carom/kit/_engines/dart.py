"""DART through dartpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dartpy as dart
import numpy as np

from .._model import KitError, Scene, rotation

#: Classes of dartpy by the words of the setting.
DETECTORS = {"fcl": "FCLCollisionDetector", "bullet": "BulletCollisionDetector", "ode": "OdeCollisionDetector", "dart": "DARTCollisionDetector"}


class Dart:
    """DART with its own defaults, unless settings say otherwise.

    Parameters
    ----------
    timestep : float, optional
        Step in seconds; the scene's advice by default.
    detector : {"fcl", "bullet", "ode", "dart"}, optional
        Collision detector.

    DART multiplies the restitutions of both bodies and takes the smaller friction; planes get restitution 1.
    """

    name = "DART"
    precision = "double"

    def __init__(self, timestep: float | None = None, detector: str | None = None) -> None:
        if detector is not None and detector not in DETECTORS:
            raise KitError(f"dart: detector {detector!r} is none of {', '.join(DETECTORS)}")
        self.version = str(dart.__version__)
        self._timestep, self._detector = timestep, detector
        self.settings: dict[str, Any] = {
            "timestep": timestep or "advised",
            "detector": detector or "default",
        }
        self.unsupported: set[str] = set()

    def run(self, scene: Scene) -> Mapping[str, Any]:
        """States of the scene."""
        world = dart.simulation.World()
        world.setGravity(scene["gravity"])
        if self._detector is not None:
            detector = getattr(dart.collision, DETECTORS[self._detector])()
            world.getConstraintSolver().setCollisionDetector(detector)
        for i, plane in enumerate(scene["planes"]):
            self._plane(world, f"plane{i}", plane, scene)
        bodies = [self._body(world, f"body{i}", body, scene) for i, body in enumerate(scene["bodies"])]
        step = self._timestep or scene["step"]
        rows, now = [], 0.0
        for time in scene["output_times"]:
            while time - now > 1e-12:
                part = min(step, time - now)
                world.setTimeStep(part)
                world.step()
                now += part
            rows.append([_state(body) for body in bodies])
        return {
            "bodies": [{key: [row[i][key] for row in rows] for key in rows[0][i]} for i in range(len(bodies))]
        }

    def _plane(self, world: Any, name: str, plane: Mapping[str, Any], scene: Scene) -> None:
        skeleton = dart.dynamics.Skeleton(name)
        _, body = skeleton.createWeldJointAndBodyNodePair()
        shape = dart.dynamics.PlaneShape(plane["normal"], -plane["offset"])
        _surface(body, shape, scene["friction"], 1.0)
        world.addSkeleton(skeleton)

    def _body(self, world: Any, name: str, given: Mapping[str, Any], scene: Scene) -> Any:
        skeleton = dart.dynamics.Skeleton(name)
        joint, body = skeleton.createFreeJointAndBodyNodePair()
        kind, shape = next(iter(given["shape"].items()))
        if kind == "sphere":
            made = dart.dynamics.SphereShape(shape["radius"])
        else:
            made = dart.dynamics.BoxShape([2.0 * half for half in shape["half_extents"]])
        # Restitutions are multiplied: between two bodies each gets the root.
        own = scene["restitution"] if scene["planes"] else scene["restitution"] ** 0.5
        _surface(body, made, scene["friction"], own)
        body.setInertia(dart.dynamics.Inertia(given["mass"], [0.0, 0.0, 0.0], np.diag(given["inertia"])))
        turn = rotation(np.asarray(given["quaternion"]))
        pose = dart.math.Isometry3()
        pose.set_translation(given["position"])
        pose.set_rotation(turn)
        joint.setPositions(dart.dynamics.FreeJoint.convertToPositions(pose))
        # Velocities of a free joint are in body axes, turning first.
        own_axes = [turn.T @ np.asarray(given[key]) for key in ("angular_velocity", "velocity")]
        joint.setVelocities(np.concatenate(own_axes))
        world.addSkeleton(skeleton)
        return body


def _surface(body: Any, shape: Any, friction: float, restitution: float) -> None:
    node = body.createShapeNode(shape)
    node.createCollisionAspect()
    node.createDynamicsAspect()
    node.getDynamicsAspect().setFrictionCoeff(friction)
    node.getDynamicsAspect().setRestitutionCoeff(restitution)


def _state(body: Any) -> dict[str, Any]:
    pose = body.getWorldTransform()
    turn = dart.math.Quaternion(pose.rotation())
    return {
        "position": np.array(pose.translation()),
        "quaternion": [turn.w(), turn.x(), turn.y(), turn.z()],
        "velocity": np.array(body.getLinearVelocity()),
        "angular_velocity": np.array(body.getAngularVelocity()),
    }
