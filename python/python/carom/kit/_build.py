"""Builders of scenes: bodies, lines of the protocol, and the checks that many scenes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _measures as measures
from ._closed_forms import Ball, box_inertia, sphere_inertia
from ._model import ENERGY_BOUND, Check, Floats, Scene

#: Distance of touching surfaces at the start (m): closed for a person, open for a collision detector.
GAP = 1e-6

#: Radius (m) and mass (kg) of balls where nothing else is said.
RADIUS, MASS = 0.1, 1.0

#: Standard acceleration of free fall in the scenes (m/s²).
GRAVITY = 9.81

#: Advised step (s).
STEP = 1e-3

FLOOR = {"normal": [0.0, 0.0, 1.0], "offset": 0.0}

Vector = Sequence[float]


def ball(
    position: Vector,
    velocity: Vector = (0.0, 0.0, 0.0),
    spin: Vector = (0.0, 0.0, 0.0),
    mass: float = MASS,
    radius: float = RADIUS,
) -> dict[str, Any]:
    """A uniform sphere."""
    inertia = [sphere_inertia(mass, radius)] * 3
    return body({"sphere": {"radius": radius}}, mass, inertia, position, velocity, spin)


def box(
    half: tuple[float, float, float],
    mass: float,
    position: Vector,
    velocity: Vector = (0.0, 0.0, 0.0),
    spin: Vector = (0.0, 0.0, 0.0),
    quaternion: Vector = (1.0, 0.0, 0.0, 0.0),
) -> dict[str, Any]:
    """A uniform box with these half extents."""
    made = body(
        {"box": {"half_extents": list(half)}},
        mass,
        box_inertia(mass, half),
        position,
        velocity,
        spin,
    )
    return {**made, "quaternion": [float(q) for q in quaternion]}


def body(
    shape: dict[str, Any],
    mass: float,
    inertia: Sequence[float],
    position: Vector,
    velocity: Vector,
    spin: Vector,
) -> dict[str, Any]:
    """A body of the protocol in the orientation of the world."""
    return {
        "shape": shape,
        "mass": mass,
        "inertia": [float(x) for x in inertia],
        "position": [float(x) for x in position],
        "quaternion": [1.0, 0.0, 0.0, 0.0],
        "velocity": [float(x) for x in velocity],
        "angular_velocity": [float(x) for x in spin],
    }


def as_ball(given: dict[str, Any]) -> Ball:
    """Start of a sphere of a scene, for the closed forms."""
    return Ball(
        given["mass"],
        given["shape"]["sphere"]["radius"],
        np.array(given["velocity"]),
        np.array(given["angular_velocity"]),
    )


class Draft:
    """A scene in the making: its line and the checks so far."""

    def __init__(
        self,
        name: str,
        group: str,
        title: str,
        bodies: list[dict[str, Any]],
        *,
        planes: Sequence[dict[str, Any]] = (),
        gravity: Vector = (0.0, 0.0, 0.0),
        restitution: float = 0.0,
        friction: float = 0.0,
        times: Sequence[float] = (0.25,),
    ) -> None:
        self.name, self.group, self.title = name, group, title
        self.line: dict[str, Any] = {
            "kit": 1,
            "scene": name,
            "gravity": [float(g) for g in gravity],
            "bodies": bodies,
            "planes": list(planes),
            "restitution": restitution,
            "friction": friction,
            "output_times": list(times),
            "step": STEP,
        }
        self.checks: list[Check] = []
        self.positions: dict[int, Floats] = {}

    def check(
        self,
        name: str,
        measure: measures.Measure,
        expected: float,
        *,
        why: str,
        kind: str = "law",
        scale: float = 1.0,
        unit: str = "m/s",
        step: float | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> Draft:
        """Adds a check; `scale` is the size that the relative tolerance of the kind refers to."""
        if step is not None and kind == "law":
            kind = "step"
        self.checks.append(
            Check(self.name, name, kind, float(expected), float(scale), why, measure, unit, step, bounds)
        )
        return self

    def vector_check(
        self, name: str, body: int, exact: Floats, *, why: str, scale: float = 1.0
    ) -> Draft:
        """Adds a check of a whole velocity: its distance from the exact one."""
        return self.check(name, measures.velocity_error(body, exact), 0.0, why=why, scale=scale)

    def motion_check(self, name: str, body: int, end: Ball, *, why: str, scale: float = 1.0) -> Draft:
        """Adds a check of a ball's whole motion: the distance of velocity and spin from the exact ones."""
        measure = measures.motion_error(body, end.velocity, end.angular_velocity, end.radius)
        return self.check(name, measure, 0.0, why=why, scale=scale)

    def moves(self, velocities: Sequence[Floats]) -> Draft:
        """States the exact ends of the first bodies: uniform motion with the velocities after the impact."""
        time = self.line["output_times"][-1]
        for i, velocity in enumerate(velocities):
            self.positions[i] = np.asarray(self.line["bodies"][i]["position"]) + time * np.asarray(velocity)
        return self

    def ends(self, body: int, position: Vector) -> Draft:
        """States the exact end of a body."""
        self.positions[body] = np.asarray(position, dtype=np.float64)
        return self

    def done(self) -> Scene:
        """The scene, with the checks that every scene of its kind has."""
        if not any(self.line["gravity"]):
            if not self.line["planes"]:
                self.check(
                    "momentum",
                    measures.momentum_error,
                    0.0,
                    kind="invariant",
                    unit="1",
                    why="no force from outside: the total momentum stays; over the sum of the momenta's sizes",
                )
            self.check(
                "energy-bound",
                measures.energy_ratio,
                1.0,
                kind="invariant",
                unit="1",
                step=0.0,
                bounds=(0.0, ENERGY_BOUND),
                why="nothing feeds energy in: at most a thousandth more than before",
            )
        return Scene(self.line, self.group, self.title, tuple(self.checks), self.positions)
